package account

import (
	"strings"

	simaws "github.com/muster-project/muster/sim/aws"
)

// manifest is that of a pool of one machine, in the shape of the published manifests.
const manifest = `apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata: {name: NAME, namespace: default}
spec:
  clusterName: capa
  replicas: 1
  template:
    spec:
      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfig, name: NAME}}
      clusterName: capa
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AWSMachinePool, name: NAME}
      version: v1.25.0
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AWSMachinePool
metadata: {name: NAME, namespace: default}
spec:
  minSize: 1
  maxSize: 3
  availabilityZones: [ZONE]
  awsLaunchTemplate: {instanceType: TYPE, sshKeyName: KEY}
  subnets: [{id: SUBNET}]
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfig
metadata: {name: NAME, namespace: default}
spec:
  joinConfiguration:
    nodeRegistration: {name: '{{ ds.meta_data.local_hostname }}', kubeletExtraArgs: {cloud-provider: aws}}
`

// PoolOf returns the manifest of an AWSMachinePool of one machine in the cluster capa, under a name, with replacements (old, new) made in
// it.
func PoolOf(name string, replacements ...string) string {
	text := strings.NewReplacer("NAME", name, "ZONE", simaws.Zone, "TYPE", simaws.InstanceType, "KEY", simaws.KeyName, "SUBNET",
		simaws.SubnetID).Replace(manifest)
	return strings.NewReplacer(replacements...).Replace(text)
}

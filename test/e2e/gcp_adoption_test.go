package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/oauth2"
	"google.golang.org/api/compute/v1"
	"google.golang.org/api/option"

	"github.com/muster-project/muster/test/e2e/world"
)

// The names that cluster-api-provider-gcp gives the group of a pool and its template, and their location.
const (
	theirGCPPool     = "theirs"
	theirGCPGroup    = gceCluster + "-" + theirGCPPool
	theirGCPTemplate = theirGCPPool + "-0123456789abcdef"
	theirGCPZone     = "us-central1-b"
)

// theirGCPManifest is the pool of their group; it has the bootstrap data of the pool that there is.
const theirGCPManifest = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: NAME}
spec:
  clusterName: CLUSTER
  replicas: 2
  failureDomains: [ZONE]
  template:
    spec:
      bootstrap: {dataSecretName: SECRET}
      clusterName: CLUSTER
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: GCPMachinePool, name: NAME}
      version: v1.34.1
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPMachinePool
metadata: {name: NAME}
spec: {instanceType: n2-standard-2}
`

// makeTheirGCPGroup makes a group and its template as cluster-api-provider-gcp does, with the bootstrap data of a secret.
func makeTheirGCPGroup(w *world.World, secret string) {
	w.T.Helper()
	data, err := base64.StdEncoding.DecodeString(w.Read("{.data.value}", "secret/"+secret))
	if err != nil {
		w.T.Fatal(err)
	}
	client := oauth2.NewClient(w.T.Context(), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "any"}))
	service, err := compute.NewService(w.T.Context(), option.WithHTTPClient(client), option.WithEndpoint(w.Endpoint+"/compute/v1/"))
	if err != nil {
		w.T.Fatal(err)
	}
	project := w.Printed(`GOOGLE_CLOUD_PROJECT=(\S+)`)
	w.Eventually("the template of the existing provider", func() error {
		_, err := service.InstanceTemplates.Insert(project, &compute.InstanceTemplate{Name: theirGCPTemplate,
			Properties: theirGCPProperties(project, string(data))}).Do()
		return err
	})
	w.Eventually("the group of the existing provider", func() error {
		_, err := service.InstanceGroupManagers.Insert(project, theirGCPZone, &compute.InstanceGroupManager{
			Name: theirGCPGroup, BaseInstanceName: theirGCPPool, TargetSize: gcpReplicas,
			InstanceTemplate: "projects/" + project + "/global/instanceTemplates/" + theirGCPTemplate,
		}).Do()
		return err
	})
}

// theirGCPProperties returns the properties of its machines.
func theirGCPProperties(project, data string) *compute.InstanceProperties {
	return &compute.InstanceProperties{
		MachineType: "n2-standard-2", CanIpForward: true,
		Disks: []*compute.AttachedDisk{{Boot: true, AutoDelete: true, InitializeParams: &compute.AttachedDiskInitializeParams{
			DiskType: "pd-standard", SourceImage: "projects/" + project + "/global/images/family/capi-ubuntu-1804-k8s-v1-34",
		}}},
		Labels: map[string]string{"capg-cluster-" + gceCluster: "owned", "capg-role": "node",
			"capg-config-hash": "0123456789abcdef"},
		Metadata:          &compute.Metadata{Items: []*compute.MetadataItems{{Key: "user-data", Value: &data}}},
		NetworkInterfaces: []*compute.NetworkInterface{{Network: "projects/" + project + "/global/networks/default"}},
		ServiceAccounts:   []*compute.ServiceAccount{{Email: "default", Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"}}},
		Tags:              &compute.Tags{Items: []string{gceCluster + "-node", gceCluster}},
	}
}

// adoptsGCPGroup follows docs/migrating.md for a GCPMachinePool.
func adoptsGCPGroup(l *gcpLife) {
	const nodes = `{range .items[*]}{.spec.providerID}{"\n"}{end}`
	secret := l.Read("{.spec.template.spec.bootstrap.dataSecretName}", "machinepool/"+gcePool)
	makeTheirGCPGroup(l.World, secret)
	var before string
	l.Eventually("the nodes of the group", func() error {
		if before = l.ReadFrom(gceCluster, nodes, "nodes"); strings.Count(before, "/"+theirGCPZone+"/"+theirGCPPool+"-") != gcpReplicas {
			return fmt.Errorf("they are %s", before)
		}
		return nil
	})
	l.Begin()
	l.Apply(strings.NewReplacer("NAME", theirGCPPool, "CLUSTER", gceCluster, "ZONE", theirGCPZone, "SECRET", secret).Replace(theirGCPManifest))
	l.Eventually("the conflict to name the annotation", func() error {
		const path = `{.status.conditions[?(@.type=="GroupReady")].reason}: {.status.conditions[?(@.type=="GroupReady")].message}`
		if got := l.Read(path, "gcpmachinepool/"+theirGCPPool); !strings.HasPrefix(got, "OwnershipConflict: ") ||
			!strings.Contains(got, "muster.dev/adopt: "+theirGCPGroup) {
			return fmt.Errorf("it says %s", got)
		}
		return nil
	})
	l.Adopt(theirGCPPool, theirGCPGroup)
	l.atRest(theirGCPPool, gcpReplicas)
	if after := l.ReadFrom(gceCluster, nodes, "nodes"); after != before {
		l.T.Errorf("want the machines as they were:\n%s\ngot\n%s", before, after)
	}
	l.went(0, 0)
}

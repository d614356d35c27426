package crd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

// viewOfAWSClusterCases are the cases of TestViewOfAWSCluster.
var viewOfAWSClusterCases = []struct {
	name, reason, object string
	want                 awsv1.ClusterView
	err                  string
}{
	{
		name: "bare", reason: "an object whose fields are not set yet is no error",
		object: `{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AWSCluster, metadata: {name: capa, namespace: default}}`,
		want:   awsv1.ClusterView{Name: "capa"},
	},
	{
		name: "AWSCluster", reason: "the paths are those of the existing provider, whose further fields do not matter",
		object: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSCluster
metadata: {name: capa, namespace: default}
spec:
  region: eu-west-1
  partition: aws
  sshKeyName: default
  additionalTags: {team: a}
  imageLookupFormat: capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*
  imageLookupOrg: "258751437250"
  imageLookupBaseOS: ubuntu-24.04
  bastion: {enabled: true}
  controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}
  network:
    vpc: {id: vpc-1, cidrBlock: 10.0.0.0/16}
    subnets:
    - {id: subnet-1, availabilityZone: eu-west-1a, isPublic: true}
    - {id: capa-subnet-private-b, resourceID: subnet-2, availabilityZone: eu-west-1b, isPublic: false, tags: {a: b}}
    - {id: capa-subnet-private-c, availabilityZone: eu-west-1c}
    - {id: subnet-4, availabilityZone: eu-west-1-lhr-1a, zoneType: local-zone, parentZoneName: eu-west-1a}
    - {id: subnet-5, availabilityZone: eu-west-1a, tags: {sigs.k8s.io/cluster-api-provider-aws/association: secondary}}
status:
  ready: true
  networkStatus:
    securityGroups:
      node: {id: sg-node, name: n}
      lb: {id: sg-lb, name: l}
      controlplane: {id: sg-cp, name: c}
`,
		want: awsv1.ClusterView{
			Name: "capa", Region: "eu-west-1", Partition: "aws", VPCID: "vpc-1",
			Subnets: []awsv1.SubnetView{
				{ID: "subnet-1", AvailabilityZone: "eu-west-1a", IsPublic: true},
				{ID: "subnet-2", AvailabilityZone: "eu-west-1b"},
				{AvailabilityZone: "eu-west-1c"},
				{ID: "subnet-4", AvailabilityZone: "eu-west-1-lhr-1a", ZoneType: "local-zone"},
				{ID: "subnet-5", AvailabilityZone: "eu-west-1a", CNI: true},
			},
			NodeSecurityGroups: []string{"sg-node", "sg-lb"},
			AdditionalTags:     awsv1.Tags{"team": "a"},
			SSHKeyName:         new("default"),
			ImageLookupFormat:  "capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*",
			ImageLookupOrg:     "258751437250",
			ImageLookupBaseOS:  "ubuntu-24.04",
		},
	},
	{
		name: "no key", reason: "the empty string says none, absence says nothing",
		object: `{kind: AWSCluster, metadata: {name: capa}, spec: {sshKeyName: ""}}`,
		want:   awsv1.ClusterView{Name: "capa", SSHKeyName: new("")},
	},
	{
		name: "control plane of EKS", reason: "where node groups are, and whether nodes can join; the version that runs counts",
		object: `{kind: AWSManagedControlPlane, metadata: {name: eks}, spec: {region: eu-west-1, eksClusterName: default_eks, version: v1.32, s3Bucket: {}}, status: {ready: true, version: "1.31"}}`,
		want: awsv1.ClusterView{Name: "eks", Region: "eu-west-1", EKS: true, EKSClusterName: "default_eks", ControlPlaneVersion: "v1.31",
			ControlPlaneReady: true},
	},
	{
		name: "new control plane of EKS", reason: "what it shall run is all that is known yet",
		object: `{kind: AWSManagedControlPlane, metadata: {name: eks}, spec: {version: "1.32"}}`,
		want:   awsv1.ClusterView{Name: "eks", EKS: true, ControlPlaneVersion: "v1.32"},
	},
	{
		name: "bucket", reason: "data for machines that user data has no room for",
		object: `{kind: AWSCluster, metadata: {name: capa}, spec: {s3Bucket: {name: b, presignedURLDuration: 1h30m, bestEffortDeleteObjects: true, nodesIAMInstanceProfiles: [n]}}}`,
		want: awsv1.ClusterView{Name: "capa",
			Bucket: &awsv1.BucketView{Name: "b", PresignedURLDuration: 90 * time.Minute, BestEffortDelete: true}},
	},
	{
		name: "words of EKS elsewhere", reason: "a cluster on machines has no cluster in EKS, whatever its fields are called",
		object: `{kind: AWSCluster, metadata: {name: capa}, spec: {eksClusterName: x, version: "1.3"}, status: {ready: true}}`,
		want:   awsv1.ClusterView{Name: "capa"},
	},
	{
		name: "groups of the specification", reason: "groups that the user brings count before the status has them",
		object: `{kind: AWSCluster, metadata: {name: capa}, spec: {network: {securityGroupOverrides: {node: sg-1}}}}`,
		want:   awsv1.ClusterView{Name: "capa", NodeSecurityGroups: []string{"sg-1"}},
	},
	{
		name: "AWSManagedControlPlane", reason: "with Amazon's control plane nodes get another second group",
		object: `
kind: AWSManagedControlPlane
metadata: {name: eks}
spec: {region: us-east-1}
status: {networkStatus: {securityGroups: {node: {id: sg-1}, lb: {id: sg-2}, node-eks-additional: {id: sg-3}}}}
`,
		want: awsv1.ClusterView{Name: "eks", Region: "us-east-1", NodeSecurityGroups: []string{"sg-1", "sg-3"}, EKS: true},
	},
	{
		name: "another type", reason: "guessing would launch machines in the wrong place",
		object: `{kind: AWSCluster, metadata: {name: capa, namespace: default}, spec: {network: {subnets: {id: subnet-1}}}}`,
		err:    "read AWSCluster default/capa",
	},
}

func TestViewOfAWSCluster(t *testing.T) {
	t.Parallel()
	cases := viewOfAWSClusterCases
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(c.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			got, err := awsv1.ClusterViewOf(object)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%s: got %v, want %s", c.reason, err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestSuspendedProcessesOfAWSPools(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	cases := []struct {
		name, reason string
		set          *awsv1.SuspendProcessesTypes
		want         []string
	}{
		{name: "nothing", reason: "nothing said, nothing suspended"},
		{name: "one", reason: "only what is set to true",
			set:  &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{Launch: &yes, Terminate: &no}},
			want: []string{"Launch"}},
		{name: "all", reason: "every process that the cloud knows, in the cloud's spelling", set: &awsv1.SuspendProcessesTypes{All: true},
			want: []string{
				"AZRebalance", "AddToLoadBalancer", "AlarmNotification", "HealthCheck", "InstanceRefresh", "Launch", "ReplaceUnhealthy",
				"ScheduledActions", "Terminate"}},
		{name: "all but two", reason: "false takes one out of all",
			set: &awsv1.SuspendProcessesTypes{All: true, Processes: &awsv1.Processes{Launch: &no, HealthCheck: &no, Terminate: &yes}},
			want: []string{
				"AZRebalance", "AddToLoadBalancer", "AlarmNotification", "InstanceRefresh", "ReplaceUnhealthy", "ScheduledActions", "Terminate"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.set.Suspended()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

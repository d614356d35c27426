package seed

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var account = Account{Region: "eu-west-1", Zone: "eu-west-1a", VPCID: "vpc-1", SubnetID: "subnet-1", KeyName: "key", InstanceType: "t3.large"}

var both = Account{Region: "eu-west-1", Zone: "eu-west-1a", VPCID: "vpc-1", SubnetID: "subnet-1", KeyName: "key", InstanceType: "t3.large",
	Azure: Subscription{ID: "sub", TenantID: "tenant", ClientID: "client", ClientSecret: "c-secret", Location: "westus2", VMSize: "Standard_D2s_v3"}}

func TestBuiltinIsThePublishedManifestInItsCluster(t *testing.T) {
	objects, err := Builtin(account, BuiltinPools(AWS))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.GetAPIVersion()+" "+o.GetKind()+" "+o.Namespaced()+"/"+o.GetName())
	}
	want := []string{
		"cluster.x-k8s.io/v1beta2 Cluster default/capa",
		"infrastructure.cluster.x-k8s.io/v1beta2 AWSCluster default/capa",
		"controlplane.cluster.x-k8s.io/v1beta1 LocalControlPlane default/capa",
		"cluster.x-k8s.io/v1beta2 Cluster default/eks",
		"infrastructure.cluster.x-k8s.io/v1beta2 AWSManagedCluster default/eks",
		"controlplane.cluster.x-k8s.io/v1beta2 AWSManagedControlPlane default/eks-control-plane",
		"cluster.x-k8s.io/v1beta1 MachinePool default/capa-mp-0",
		"infrastructure.cluster.x-k8s.io/v1beta1 AWSMachinePool default/capa-mp-0",
		"bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfig default/capa-mp-0",
		"cluster.x-k8s.io/v1beta2 MachinePool default/eks-mmp-0",
		"infrastructure.cluster.x-k8s.io/v1beta2 AWSManagedMachinePool default/eks-mmp-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("objects (-want +got):\n%s", diff)
	}
	spec := objects[7].Object["spec"]
	wantSpec := map[string]any{
		"minSize": int64(1), "maxSize": int64(10), "availabilityZones": []any{"eu-west-1a"},
		"awsLaunchTemplate": map[string]any{"instanceType": "t3.large", "sshKeyName": "key"},
		"subnets":           []any{map[string]any{"id": "subnet-1"}},
	}
	if diff := cmp.Diff(any(wantSpec), spec); diff != "" {
		t.Fatalf("the pool has what the account holds (-want +got):\n%s", diff)
	}
}

// TestBuiltinPoolsOfAzure: the published pool is in its cluster as it was published, and beside it one in the other mode.
func TestBuiltinPoolsOfAzure(t *testing.T) {
	objects, err := Builtin(both, BuiltinPools(Azure))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	versions := map[string]string{}
	for _, o := range objects {
		got = append(got, o.GetAPIVersion()+" "+o.GetKind()+" "+o.Namespaced()+"/"+o.GetName())
		versions[o.GetKind()+"/"+o.GetName()], _, _ = unstructured.NestedString(o.Object, "spec", "version")
	}
	want := []string{
		"cluster.x-k8s.io/v1beta2 Cluster default/capz",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureCluster default/capz",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureClusterIdentity default/capz-identity",
		"v1 Secret default/capz-identity-secret",
		"controlplane.cluster.x-k8s.io/v1beta1 LocalControlPlane default/capz",
		"cluster.x-k8s.io/v1beta2 Cluster default/capz-flex",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureCluster default/capz-flex",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureClusterIdentity default/capz-flex-identity",
		"v1 Secret default/capz-flex-identity-secret",
		"controlplane.cluster.x-k8s.io/v1beta1 LocalControlPlane default/capz-flex",
		"cluster.x-k8s.io/v1beta1 MachinePool default/capz-mp-0",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureMachinePool default/capz-mp-0",
		"bootstrap.cluster.x-k8s.io/v1beta1 KubeadmConfig default/capz-mp-0",
		"cluster.x-k8s.io/v1beta2 MachinePool default/capz-flex-0",
		"infrastructure.cluster.x-k8s.io/v1beta1 AzureMachinePool default/capz-flex-0",
		"bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfig default/capz-flex-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("objects (-want +got):\n%s", diff)
	}
	if got := versions["LocalControlPlane/capz"] + " " + versions["LocalControlPlane/capz-flex"]; got != "v1.22.0 v1.36.3" {
		t.Errorf("control planes: want them as old as their pools, v1.22.0 v1.36.3, got %s", got)
	}
	template, _, _ := unstructured.NestedMap(objects[11].Object, "spec", "template")
	if diff := cmp.Diff(map[string]any{
		"osDisk":       map[string]any{"diskSizeGB": int64(30), "managedDisk": map[string]any{"storageAccountType": "Premium_LRS"}, "osType": "Linux"},
		"sshPublicKey": base64.StdEncoding.EncodeToString([]byte(sshKey)), "vmSize": "Standard_D2s_v3",
	}, template); diff != "" {
		t.Errorf("the published template (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"clientSecret": "c-secret"}, objects[3].Object["stringData"]); diff != "" {
		t.Errorf("the identity's secret (-want +got):\n%s", diff)
	}
}

func TestBuiltinPoolsCanBeLeftOut(t *testing.T) {
	objects, err := Builtin(account, []string{"capa-mp-0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if strings.Contains(o.GetName(), "eks") {
			t.Errorf("want nothing of the pool that was left out, got %s", o.Where())
		}
	}
}

func TestAddClusters(t *testing.T) {
	const pool = `apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata: {name: %n, namespace: team}
spec:
  clusterName: %c
  template:
    spec: {version: %v, infrastructureRef: {kind: %k, name: x}}
`
	make := func(name, cluster, version, kind string) string {
		return strings.NewReplacer("%n", name, "%c", cluster, "%v", version, "%k", kind).Replace(pool)
	}
	for _, tc := range []struct {
		reason string
		text   string
		azure  bool
		world  []string
		want   []string
		err    string
	}{
		{reason: "a pool without its cluster gets one", text: make("p", "c", "v1.22.0", "AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSCluster team/c", "LocalControlPlane team/c v1.25.0", "MachinePool team/p"}},
		{reason: "as old as the pool, where a newer control plane could not serve it", text: make("p", "c", "v1.16.8", "AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSCluster team/c", "LocalControlPlane team/c v1.16.8", "MachinePool team/p"}},
		{reason: "the control plane is as new as the newest pool", text: make("p", "c", "1.30.2", "AWSMachinePool") + "---\n" + make("q", "c", "v1.29.0", "AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSCluster team/c", "LocalControlPlane team/c v1.30.2", "MachinePool team/p", "MachinePool team/q"}},
		{reason: "a version that is none is for the API server to refuse", text: make("p", "c", "newest", "AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSCluster team/c", "LocalControlPlane team/c v1.25.0", "MachinePool team/p"}},
		{reason: "a cluster in the manifests is not made again", text: "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c, namespace: team}\n---\n" + make("p", "c", "v1.30.0", "AWSMachinePool"),
			want: []string{"Cluster team/c", "MachinePool team/p"}},
		{reason: "nor one that the world has", text: make("p", "c", "v1.30.0", "AWSMachinePool"), world: []string{"team/c"}, want: []string{"MachinePool team/p"}},
		{reason: "two clusters are two", text: make("p", "c", "v1.30.0", "AWSMachinePool") + "---\n" + make("q", "d", "v1.30.0", "AWSMachinePool"), world: []string{"team/c"},
			want: []string{"Cluster team/d", "AWSCluster team/d", "LocalControlPlane team/d v1.30.0", "MachinePool team/p", "MachinePool team/q"}},
		{reason: "a pool that EKS manages gets a cluster of EKS's", text: make("p", "c", "v1.34.2", "AWSManagedMachinePool"),
			want: []string{"Cluster team/c", "AWSManagedCluster team/c", "AWSManagedControlPlane team/c-control-plane v1.34.2", "MachinePool team/p"}},
		{reason: "which is no older than EKS runs", text: make("p", "c", "v1.20.0", "AWSManagedMachinePool") + "---\n" + make("q", "c", "v1.20.0", "AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSManagedCluster team/c", "AWSManagedControlPlane team/c-control-plane v1.33.0", "MachinePool team/p", "MachinePool team/q"}},
		{reason: "things that name no cluster need none", text: "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", want: []string{"Secret /s"}},
		{reason: "a pool on Azure gets one there, as old as it", text: make("p", "c", "v1.22.0", "AzureMachinePool"), azure: true,
			want: []string{"Cluster team/c", "AzureCluster team/c", "AzureClusterIdentity team/c-identity", "Secret team/c-identity-secret", "LocalControlPlane team/c v1.22.0", "MachinePool team/p"}},
		{reason: "for a kind that nobody knows nothing can be made", text: make("p", "c", "v1.30.0", "AzureManagedMachinePool"), azure: true,
			err: `m.yaml: document 1 (MachinePool p): no manifest brings the cluster "c", and for a AzureManagedMachinePool none can be made`},
		{reason: "for a cloud that is not simulated nothing can be made", text: make("p", "c", "v1.30.0", "AzureMachinePool"),
			err: `m.yaml: document 1 (MachinePool p): no manifest brings the cluster "c", and for a AzureMachinePool none can be made`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			objects, err := Parse([]Source{{Name: "m.yaml", Text: tc.text}}, FromMap(nil))
			if err != nil {
				t.Fatal(err)
			}
			there := account
			if tc.azure {
				there = both
			}
			all, err := AddClusters(there, objects, func(ns, name string) (bool, error) {
				for _, w := range tc.world {
					if w == ns+"/"+name {
						return true, nil
					}
				}
				return false, nil
			})
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Fatalf("error: want %q, got %v", tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range all {
				v, _, _ := unstructured.NestedString(o.Object, "spec", "version")
				got = append(got, strings.TrimSpace(o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()+" "+v))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Fatalf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClustersAreListedOnce(t *testing.T) {
	text := "kind: MachinePool\nspec: {clusterName: a}\n---\nkind: Cluster\n---\nkind: MachinePool\nspec: {clusterName: a}\n---\nkind: ClusterClass\n"
	head := 0
	text = regexp.MustCompile(`(?m)^kind`).ReplaceAllStringFunc(text, func(string) string {
		head++
		return fmt.Sprintf("apiVersion: cluster.x-k8s.io/v1beta1\nmetadata: {name: object-%d, namespace: team}\nkind", head)
	})
	objects, err := Parse([]Source{{Name: "m.yaml", Text: text + "---\napiVersion: other.example.com/v1\nkind: Cluster\nmetadata: {name: other}\n"}}, FromMap(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]string{{"team", "a"}, {"team", "object-2"}}
	if diff := cmp.Diff(want, Clusters(objects)); diff != "" {
		t.Errorf("clusters that are named or brought (-want +got):\n%s", diff)
	}
}

func TestTopologyPools(t *testing.T) {
	for text, want := range map[string]int{
		"apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec: {topology: {workers: {machinePools: [{name: a}, {name: b}], machineDeployments: [{name: c}]}}}": 2,
		"apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\nspec: {topology: {class: c}}":                                                                         0,
		"apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: c}\nspec: {topology: {workers: {machinePools: [{name: a}]}}}":                                        0,
		"apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachinePool\nmetadata: {name: c}":                                                                                                   0,
	} {
		objects, err := Parse([]Source{{Name: "m.yaml", Text: text}}, FromMap(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := TopologyPools(objects[0]); got != want {
			t.Errorf("want %d pools, got %d in\n%s", want, got, text)
		}
	}
}

func TestAddClustersTellsWhatItCouldNotFindOut(t *testing.T) {
	objects, err := Parse([]Source{{Name: "m.yaml", Text: "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachinePool\nmetadata: {name: p}\nspec: {clusterName: c}\n"}}, FromMap(nil))
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	if _, err := AddClusters(account, objects, func(string, string) (bool, error) { return false, down }); !errors.Is(err, down) {
		t.Fatalf("want the reason, got %v", err)
	}
}

func TestRecordIsFoundAgain(t *testing.T) {
	dir := t.TempDir()
	objects, err := Builtin(account, BuiltinPools(AWS))
	if err != nil {
		t.Fatal(err)
	}
	first, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Add(objects[3]); err != nil {
		t.Fatal(err)
	}
	if first.Foreign() {
		t.Error("a world with nothing but built-in objects is nobody's own")
	}
	second, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	sameInNewVersion := Object{Unstructured: objects[3].DeepCopy()}
	sameInNewVersion.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	sameInNewVersion.SetNamespace("default")
	if !second.Has(sameInNewVersion) || second.Has(objects[4]) {
		t.Errorf("want the pool and nothing else, got %v", second.Objects)
	}
	if err := second.Add(Object{Unstructured: objects[4].DeepCopy(), File: "mine.yaml"}); err != nil || !second.Foreign() {
		t.Errorf("a world that was seeded from a file is somebody's own: got %v, %v", second.Objects, err)
	}
	if err := os.WriteFile(first.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRecord(dir); err == nil || !strings.Contains(err.Error(), first.path) {
		t.Errorf("a broken record: want an error that names the file, got %v", err)
	}
}

package seed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	awsstandin "github.com/muster-project/muster/local/clouds/aws/standin"
	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/seed"
)

var known = []seed.Cloud{awsstandin.Seed(), azurestandin.Seed()}

var account, both = seed.Accounts{Known: known, Simulated: []string{"aws"}},
	seed.Accounts{Known: known, Simulated: []string{"aws", "azure"}}

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
		{reason: "the control plane is as new as the newest pool", text: make("p", "c", "1.30.2", "AWSMachinePool") + "---\n" + make("q", "c",
			"v1.29.0", "AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSCluster team/c", "LocalControlPlane team/c v1.30.2", "MachinePool team/p", "MachinePool team/q"}},
		{reason: "a version that is none is for the API server to refuse", text: make("p", "c", "newest", "AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSCluster team/c", "LocalControlPlane team/c v1.25.0", "MachinePool team/p"}},
		{reason: "an object that names no infrastructure gets the cluster that is for such", text: make("p", "c", "v1.30.0", ""), azure: true,
			want: []string{"Cluster team/c", "AWSCluster team/c", "LocalControlPlane team/c v1.30.0", "MachinePool team/p"}},
		{reason: "a cluster in the manifests is not made again",
			text: "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c, namespace: team}\n---\n" + make("p", "c", "v1.30.0",
				"AWSMachinePool"),
			want: []string{"Cluster team/c", "MachinePool team/p"}},
		{reason: "nor one that the world has", text: make("p", "c", "v1.30.0", "AWSMachinePool"), world: []string{"team/c"},
			want: []string{"MachinePool team/p"}},
		{reason: "two clusters are two", text: make("p", "c", "v1.30.0", "AWSMachinePool") + "---\n" + make("q", "d", "v1.30.0",
			"AWSMachinePool"), world: []string{"team/c"},
			want: []string{"Cluster team/d", "AWSCluster team/d", "LocalControlPlane team/d v1.30.0", "MachinePool team/p", "MachinePool team/q"}},
		{reason: "a pool that EKS manages gets a cluster of EKS's", text: make("p", "c", "v1.34.2", "AWSManagedMachinePool"),
			want: []string{"Cluster team/c", "AWSManagedCluster team/c", "AWSManagedControlPlane team/c-control-plane v1.34.2",
				"MachinePool team/p"}},
		{reason: "which is no older than EKS runs", text: make("p", "c", "v1.20.0", "AWSManagedMachinePool") + "---\n" + make("q", "c", "v1.20.0",
			"AWSMachinePool"),
			want: []string{"Cluster team/c", "AWSManagedCluster team/c", "AWSManagedControlPlane team/c-control-plane v1.33.0", "MachinePool team/p",
				"MachinePool team/q"}},
		{reason: "things that name no cluster need none", text: "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
			want: []string{"Secret /s"}},
		{reason: "a pool on Azure gets one there, as old as it", text: make("p", "c", "v1.22.0", "AzureMachinePool"), azure: true,
			want: []string{"Cluster team/c", "AzureCluster team/c", "AzureClusterIdentity team/c-identity", "Secret team/c-identity-secret",
				"LocalControlPlane team/c v1.22.0", "MachinePool team/p"}},
		{reason: "for an unknown kind nothing can be made", text: make("p", "c", "v1.30.0", "GCPMachinePool"), azure: true,
			err: `m.yaml: document 1 (MachinePool p): no manifest brings the cluster "c", and for a GCPMachinePool none can be made`},
		{reason: "for a cloud that is not simulated nothing can be made", text: make("p", "c", "v1.30.0", "AzureMachinePool"),
			err: `m.yaml: document 1 (MachinePool p): no manifest brings the cluster "c", and for a AzureMachinePool none can be made`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			objects, err := seed.Parse([]seed.Source{{Name: "m.yaml", Text: tc.text}}, seed.FromMap(nil))
			if err != nil {
				t.Fatal(err)
			}
			there := account
			if tc.azure {
				there = both
			}
			all, err := seed.AddClusters(there, objects, func(ns, name string) (bool, error) {
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
	text := "kind: MachinePool\nspec: {clusterName: a}\n---\nkind: Cluster\n---\nkind: MachinePool\nspec: {clusterName: a}\n---\nkind: " +
		"ClusterClass\n"
	head := 0
	text = regexp.MustCompile(`(?m)^kind`).ReplaceAllStringFunc(text, func(string) string {
		head++
		return fmt.Sprintf("apiVersion: cluster.x-k8s.io/v1beta1\nmetadata: {name: object-%d, namespace: team}\nkind", head)
	})
	objects, err := seed.Parse([]seed.Source{{Name: "m.yaml",
		Text: text + "---\napiVersion: other.example.com/v1\nkind: Cluster\nmetadata: {name: other}\n"}}, seed.FromMap(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]string{{"team", "a"}, {"team", "object-2"}}
	if diff := cmp.Diff(want, seed.Clusters(objects)); diff != "" {
		t.Errorf("clusters that are named or brought (-want +got):\n%s", diff)
	}
}

func TestTopologyPools(t *testing.T) {
	for text, want := range map[string]int{
		"apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: c}\nspec: {topology: {workers: {machinePools: [{name: a}, " +
			"{name: b}], machineDeployments: [{name: c}]}}}": 2,
		"apiVersion: cluster.x-k8s.io/v1beta1" +
			"\nkind: Cluster\nmetadata: {name: c}\nspec: {topology: {class: c}}": 0,
		"apiVersion: cluster.x-k8s.io/v1beta2" +
			"\nkind: ClusterClass\nmetadata: {name: c}\nspec: {topology: {workers: {machinePools: [{name: a}]}}}": 0,
		"apiVersion: cluster.x-k8s.io/v1beta2" +
			"\nkind: MachinePool\nmetadata: {name: c}": 0,
	} {
		objects, err := seed.Parse([]seed.Source{{Name: "m.yaml", Text: text}}, seed.FromMap(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := seed.TopologyPools(objects[0]); got != want {
			t.Errorf("want %d pools, got %d in\n%s", want, got, text)
		}
	}
}

func TestAddClustersTellsWhatItCouldNotFindOut(t *testing.T) {
	objects, err := seed.Parse([]seed.Source{{Name: "m.yaml",
		Text: "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachinePool\nmetadata: {name: p}\nspec: {clusterName: c}\n"}}, seed.FromMap(nil))
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	if _, err := seed.AddClusters(account, objects, func(string, string) (bool, error) { return false, down }); !errors.Is(err, down) {
		t.Fatalf("want the reason, got %v", err)
	}
}

func TestRecordIsFoundAgain(t *testing.T) {
	dir := t.TempDir()
	objects, err := seed.Builtin(account, []string{"capa-mp-0", "eks-mmp-0"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := seed.OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Add(objects[3]); err != nil {
		t.Fatal(err)
	}
	second, err := seed.OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	sameInNewVersion := seed.Object{Unstructured: objects[3].DeepCopy()}
	sameInNewVersion.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	sameInNewVersion.SetNamespace("default")
	if !second.Has(sameInNewVersion) || second.Has(objects[4]) {
		t.Errorf("want the pool and nothing else, got %v", second.Objects)
	}
	if err := second.Add(seed.Object{Unstructured: objects[4].DeepCopy(), File: "mine.yaml"}); err != nil || !second.Foreign() {
		t.Errorf("a world that was seeded from a file is the user's own: got %v, %v", second.Objects, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "seeded.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := seed.OpenRecord(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "seeded.json")) {
		t.Errorf("a broken record: want an error that names the file, got %v", err)
	}
}

// TestBuiltinPoolsMakeNoWorldForeign: a world that holds nothing but built-in objects gets those of other clouds too.
func TestBuiltinPoolsMakeNoWorldForeign(t *testing.T) {
	record, err := seed.OpenRecord(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range both.BuiltinPools() {
		names = append(names, p.Name)
	}
	objects, err := seed.Builtin(both, names)
	if err != nil || len(names) != 7 {
		t.Fatalf("want the objects of seven pools, got %v, %v", names, err)
	}
	for _, o := range objects {
		if err := record.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	if record.Foreign() {
		t.Errorf("want no object of the user's, got %v", record.Objects)
	}
}

// TestVariables holds that variables of clouds that are not simulated are known but empty.
func TestVariables(t *testing.T) {
	vars := account.Variables()
	if location, ok := vars["AZURE_LOCATION"]; vars["AWS_REGION"] != "eu-west-1" || !ok || location != "" {
		t.Errorf("want a region and an empty location, got %v", vars)
	}
}

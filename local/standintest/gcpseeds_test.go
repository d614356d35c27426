package standintest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/local/seed"
)

// TestBuiltinPoolsOfGoogleCloud: two groups share a cluster of local API servers, and a node pool has a cluster of GKE, each as old as its
// pools.
func TestBuiltinPoolsOfGoogleCloud(t *testing.T) {
	objects, err := seed.Builtin(seed.Accounts{Known: []seed.Cloud{standin.Seed()}, Simulated: []string{"gcp"}},
		[]string{"capg-mp-0", "capg-mp-1", "capg-gke-mp-0"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	versions := map[string]string{}
	for _, o := range objects {
		got = append(got, o.GetKind()+" "+o.Namespaced()+"/"+o.GetName())
		versions[o.GetKind()+"/"+o.GetName()], _, _ = unstructured.NestedString(o.Object, "spec", "version")
	}
	want := []string{
		"Cluster default/capg", "GCPCluster default/capg", "LocalControlPlane default/capg",
		"Cluster default/capg-gke", "GCPManagedCluster default/capg-gke", "GCPManagedControlPlane default/capg-gke",
		"MachinePool default/capg-mp-0", "GCPMachinePool default/capg-mp-0", "KubeadmConfig default/capg-mp-0",
		"MachinePool default/capg-mp-1", "GCPMachinePool default/capg-mp-1", "KubeadmConfig default/capg-mp-1",
		"MachinePool default/capg-gke-mp-0", "GCPManagedMachinePool default/capg-gke-mp-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("objects (-want +got):\n%s", diff)
	}
	if got := versions["LocalControlPlane/capg"] + " " + versions["GCPManagedControlPlane/capg-gke"]; got != "v1.34.1 v1.34.2" {
		t.Errorf("control planes: want them as old as their pools, v1.34.1 v1.34.2, got %s", got)
	}
}

package standintest_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/local/clouds/oci/standin"
	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/sim/oci"
)

// okeKinds are the kinds of OKE.
var okeKinds = service{plane: standin.OCIManagedControlPlane, infra: standin.OCIManagedCluster,
	endpoint: []string{"spec", "controlPlaneEndpoint"}, folder: "oke"}

// TestOKE walks a control plane through its life: its cluster is created without pools, its object holds the OCID, its version goes up, and
// it leaves nothing.
func TestOKE(t *testing.T) {
	if testing.Short() {
		t.Skip("an API server")
	}
	t.Parallel()
	createNamespace(t, "oke")
	cluster, plane := okeKinds.create(t, client.ObjectKey{Namespace: "oke", Name: "c"}, map[string]any{"version": "v1.34.1"},
		map[string]any{"compartmentId": oci.Compartment})
	okeKinds.untilReady(t, plane, map[string]any{"version": "v1.34.1"})
	if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
		t.Error(err)
	}
	o := okeKinds.infrastructure(t, cluster, plane)
	view, err := ociv1.ClusterViewOf(o)
	if err != nil || !view.Ready || view.Region != oci.Region || len(view.AvailabilityDomains) != 3 || view.NodeSubnet() == nil ||
		view.Subnet("pod") == nil || len(view.NodeSecurityGroups()) != 1 || view.ResourceIdentifier == "" {
		t.Errorf("want a network for nodes and pods, got %+v, %v", view, err)
	}
	if err := management.Get(t.Context(), client.ObjectKeyFromObject(plane), plane); err != nil {
		t.Fatal(err)
	}
	managed, err := ociv1.ManagedClusterViewOf(plane, "c")
	if err != nil || !strings.HasPrefix(managed.ID, "ocid1.cluster.oc1.") || !managed.Ready || managed.Enhanced {
		t.Errorf("want a basic cluster with its OCID, got %+v, %v", managed, err)
	}
	setVersion(t, plane, "v1.35.2")
	okeKinds.untilReady(t, plane, map[string]any{"version": "v1.35.2"})
	if n := ociCloud.Calls().Summary(0).Total; n != 0 {
		t.Errorf("want no request in the log of the cloud's clients, got %d", n)
	}
	remove(t, plane)
	okeKinds.removed(t, cluster, plane)
	if gone, err := ociCloud.DropCluster("oke-c"); err != nil || !gone {
		t.Errorf("OKE: want the cluster deleted, got %t, %v", gone, err)
	}
}

// TestOCICluster holds that the network of a cluster of instances is filled in: what users name stays, and gets the OCIDs that are missing.
func TestOCICluster(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "OCICluster", "spec": map[string]any{
		"compartmentId": "ocid1.compartment.oc1..mine", "networkSpec": map[string]any{"vcn": map[string]any{"subnets": []any{
			map[string]any{"name": "nodes", "role": "worker"}, map[string]any{"name": "kept", "role": "control-plane", "id": "ocid1.subnet.oc1..x"},
		}}}}}}
	o.SetUID(types.UID("u"))
	for range 2 {
		if err := (standin.Network{}).FillSpec(o, clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 6443}); err != nil {
			t.Fatal(err)
		}
	}
	if err := (standin.Network{}).FillStatus(o); err != nil {
		t.Fatal(err)
	}
	view, err := ociv1.ClusterViewOf(o)
	if err != nil || view.CompartmentID != "ocid1.compartment.oc1..mine" || view.ResourceIdentifier != "u" || len(view.Subnets) != 3 ||
		view.NodeSubnet().Name != "nodes" || !strings.HasPrefix(view.NodeSubnet().ID, "ocid1.subnet.oc1.iad.") ||
		view.Subnet("kept").ID != "ocid1.subnet.oc1..x" || len(view.SecurityGroups) != 2 || !view.Ready {
		t.Errorf("got %+v, %v", view, err)
	}
	if host, _, _ := unstructured.NestedString(o.Object, "spec", "controlPlaneEndpoint", "host"); host != "127.0.0.1" {
		t.Errorf("want the endpoint, got %q", host)
	}
}

// TestBuiltinPoolsOfOCI holds that pools of OKE share a cluster that is as old as they are, and that an instance pool has its own.
func TestBuiltinPoolsOfOCI(t *testing.T) {
	objects, err := seed.Builtin(seed.Accounts{Known: []seed.Cloud{standin.Seed()}, Simulated: []string{"oci"}},
		[]string{"capoci-mp-0", "capoci-oke-mp-0", "capoci-oke-mp-1"})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, o := range objects {
		count[o.GetKind()]++
		if version, _, _ := unstructured.NestedString(o.Object, "spec", "version"); o.GetKind() == "OCIManagedControlPlane" &&
			version != "v1.34.1" {
			t.Errorf("want a control plane as old as its pool, got %s", version)
		}
	}
	for kind, want := range map[string]int{"Cluster": 2, "OCICluster": 1, "OCIManagedCluster": 1, "OCIManagedControlPlane": 1,
		"MachinePool": 3, "OCIMachinePool": 1, "OCIManagedMachinePool": 1, "OCIVirtualMachinePool": 1, "KubeadmConfig": 1,
		"LocalControlPlane": 1} {
		if count[kind] != want {
			t.Errorf("%s: want %d, got %d of %v", kind, want, count[kind], count)
		}
	}
}

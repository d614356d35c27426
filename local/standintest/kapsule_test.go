package standintest_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/scaleway/standin"
	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/local/standintest"
	"github.com/muster-project/muster/sim/scaleway"
)

// kapsuleKinds are the kinds of Kapsule.
var kapsuleKinds = service{plane: standin.ScalewayManagedControlPlane, infra: standin.ScalewayManagedCluster,
	endpoint: []string{"spec", "controlPlaneEndpoint"}, folder: "kapsule"}

// TestKapsule walks a control plane through its life: its cluster is created without pools, its version goes up, a version that Kapsule
// does not have is reported in Kapsule's words, and it leaves nothing.
func TestKapsule(t *testing.T) {
	if testing.Short() {
		t.Skip("an API server")
	}
	t.Parallel()
	createNamespace(t, "kapsule")
	cluster, plane := kapsuleKinds.create(t, client.ObjectKey{Namespace: "kapsule", Name: "c"}, map[string]any{"version": "v1.34.2"},
		map[string]any{"region": scaleway.Region, "projectID": scaleway.ProjectID, "scalewaySecretName": "keys"})
	kapsuleKinds.untilReady(t, plane, map[string]any{"version": "v1.34.2"})
	if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
		t.Error(err)
	}
	o := kapsuleKinds.infrastructure(t, cluster, plane)
	if is, _, _ := unstructured.NestedBool(o.Object, "status", "initialization", "provisioned"); !is {
		t.Errorf("want the infrastructure provisioned, got %v", o.Object["status"])
	}
	if name, _, _ := unstructured.NestedString(plane.Object, "spec", "clusterName"); name != "" && name != "kapsule-c" {
		t.Errorf("want the provider's name kapsule-c, got %q", name)
	}
	setVersion(t, plane, "v1.35.2")
	kapsuleKinds.untilReady(t, plane, map[string]any{"version": "v1.35.2"})
	setVersion(t, plane, "v1.39.0")
	standintest.Eventually(t, "the refusal of a version that Kapsule does not have", func(ctx context.Context) error {
		return stand.HasConditions(ctx, plane, conditions, "False", "Kapsule refused: ")
	})
	if n := scwCloud.Calls().Summary(0).Total; n != 0 {
		t.Errorf("want no request in the log of the cloud's clients, got %d", n)
	}
	remove(t, plane)
	kapsuleKinds.removed(t, cluster, plane)
	if gone, err := scwCloud.DropCluster(scaleway.Region, "kapsule-c"); err != nil || !gone {
		t.Errorf("Kapsule: want the cluster deleted, got %t, %v", gone, err)
	}
}

// TestBuiltinPoolOfScaleway: a pool has a cluster of Kapsule that is as old as it, and the Secret with its API key.
func TestBuiltinPoolOfScaleway(t *testing.T) {
	objects, err := seed.Builtin(seed.Accounts{Known: []seed.Cloud{standin.Seed()}, Simulated: []string{"scaleway"}}, []string{"caps-mp-0"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.GetKind()+" "+o.GetName())
		if version, _, _ := unstructured.NestedString(o.Object, "spec", "version"); o.GetKind() == "ScalewayManagedControlPlane" &&
			version != "v1.34.2" {
			t.Errorf("want a control plane as old as its pool, got %s", version)
		}
	}
	want := "Cluster caps, Secret caps-scaleway, ScalewayManagedCluster caps, ScalewayManagedControlPlane caps, MachinePool caps-mp-0, " +
		"ScalewayManagedMachinePool caps-mp-0"
	if strings.Join(got, ", ") != want {
		t.Errorf("want %s, got %s", want, strings.Join(got, ", "))
	}
}

package standintest_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/local/standintest"
	"github.com/muster-project/muster/sim/gcp/container"
)

// gkeKinds are the kinds of GKE.
var gkeKinds = service{plane: standin.GCPManagedControlPlane, infra: standin.GCPManagedCluster, endpoint: []string{"spec", "endpoint"},
	folder: "gke"}

// TestGKE walks a control plane through its life: its cluster is created in the network of its GCPManagedCluster, its version goes up,
// a version that GKE does not have is reported in GKE's words, and it leaves nothing.
func TestGKE(t *testing.T) {
	if testing.Short() {
		t.Skip("an API server")
	}
	t.Parallel()
	createNamespace(t, "gke")
	cluster, plane := gkeKinds.create(t, client.ObjectKey{Namespace: "gke", Name: "c"},
		map[string]any{"version": "v1.34.2", "releaseChannel": "rapid"},
		map[string]any{"network": map[string]any{"name": "own"}})
	gkeKinds.untilReady(t, plane, map[string]any{"version": "v1.34.2", "currentVersion": "1.34.2"})
	c, ok := inGKE()
	if !ok || c.Name != "gke-c" || c.Location != "us-central1" || c.Version != "1.34.2-gke.1234500" || len(c.Pools) != 0 || c.Endpoint == "" {
		t.Errorf("want a cluster gke-c without node pools, got %+v", c)
	}
	if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
		t.Error(err)
	}
	o := gkeKinds.infrastructure(t, cluster, plane)
	if zones, _, _ := unstructured.NestedMap(o.Object, "status", "failureDomains"); len(zones) != 1 {
		t.Errorf("want one zone, got %v", zones)
	}

	setVersion(t, plane, "v1.35.1")
	gkeKinds.untilReady(t, plane, map[string]any{"version": "v1.35.1", "currentVersion": "1.35.1"})
	setVersion(t, plane, "v1.39.0")
	standintest.Eventually(t, "GKE's own words about a version that it does not have", func(ctx context.Context) error {
		return stand.HasConditions(ctx, plane, conditions, "False", `No valid versions with the prefix "1.39.0" found.`)
	})
	if n := gcpCloud.Calls().Summary(0).Total; n != 0 {
		t.Errorf("want no request in the log of the cloud's clients, got %d", n)
	}
	remove(t, plane)
	gkeKinds.removed(t, cluster, plane)
	if c, ok := inGKE(); ok {
		t.Errorf("GKE: want the cluster deleted, got %+v", c)
	}
}

// inGKE returns the state of the cluster in GKE.
func inGKE() (container.Inspected, bool) {
	for _, c := range gcpCloud.State().Clusters {
		return c, true
	}
	return container.Inspected{}, false
}

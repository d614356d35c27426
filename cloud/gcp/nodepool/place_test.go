package nodepool_test

import (
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/cloudtest"
)

// TestPlaceThatIsNone: a project, location or cluster that can't exist is named, and a pool that was never created there can be deleted.
func TestPlaceThatIsNone(t *testing.T) {
	inWorld(t, func(w *world) {
		for field, change := range map[string]func(*gcpv1.ManagedClusterView){
			"spec.project":     func(c *gcpv1.ManagedClusterView) { c.View.Project = cloudtest.Unexpanded },
			"spec.location":    func(c *gcpv1.ManagedClusterView) { c.Location = cloudtest.Unexpanded },
			"spec.clusterName": func(c *gcpv1.ManagedClusterView) { c.Name = cloudtest.Unexpanded },
		} {
			target, source := w.target, *w.target.Spec
			change(&source.Cluster)
			target.Spec = &source
			cloudtest.PlaceThatIsNone(w.T, w.driver, target, field, "projects/p/locations/l/clusters/c/nodePools/pool")
		}
	})
}

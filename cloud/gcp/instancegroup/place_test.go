package instancegroup_test

import (
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/cloudtest"
)

// TestPlaceThatIsNone: a project or region that can't exist is named, and a pool that was never created there can be deleted.
func TestPlaceThatIsNone(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		for field, change := range map[string]func(*gcpv1.MachinePoolSource){
			"spec.project": func(s *gcpv1.MachinePoolSource) { s.Cluster.Project = cloudtest.Unexpanded },
			"spec.region":  func(s *gcpv1.MachinePoolSource) { s.Cluster.Region = cloudtest.Unexpanded },
		} {
			target, source := w.target, *w.target.Spec
			change(&source)
			target.Spec = &source
			cloudtest.PlaceThatIsNone(w.T, w.driver, target, field, "projects/p/zones/z/instanceGroupManagers/pool")
		}
	})
}

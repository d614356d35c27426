package nodepool_test

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// TestVersionWithoutBuild holds that a version which GKE has no build of is refused with the field and the version that was tried, for a
// new node pool and for one that exists, whose machines stay as they are.
func TestVersionWithoutBuild(t *testing.T) {
	inWorld(t, func(w *world) {
		refused := func(step pool.Step, desired string) {
			w.Helper()
			w.target.KubernetesVersion = desired
			err := w.driver.Start(w.Context(), w.target, step)
			if cloud.KindOf(err) != cloud.Invalid || !strings.Contains(err.Error(), "MachinePool spec.template.spec.version: ") ||
				!strings.Contains(err.Error(), strings.TrimPrefix(desired, "v")) {
				w.Errorf("%s: want it refused with the field and the version, got %v", desired, err)
			}
		}
		refused(pool.Step{Kind: pool.CreateGroup, Size: 1}, "v1.33.20")
		refused(pool.Step{Kind: pool.CreateGroup, Size: 1}, "v1.34.1-gke.99")
		w.target.KubernetesVersion = version
		w.reach(1)
		before := w.held().Version
		refused(pool.Step{Kind: pool.StartProviderRollout}, "v1.34.7-gke.99")
		settle()
		if o := w.observe(); len(o.Instances) != 1 || w.held().Version != before {
			w.Errorf("want the machine as it was, got %+v of %s", o.Instances, w.held().Version)
		}
	})
}

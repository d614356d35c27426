package explore

import (
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// TestAppliedAgain has a user lose the management cluster and apply the objects of a running pool again from Git. No second group is
// created, and once the user has run the command in a condition, the pool is as before: no machine is removed or replaced.
func TestAppliedAgain(t *testing.T) {
	for _, s := range all.Golden() {
		if s.Name != "create" && !strings.HasSuffix(s.Name, ": create") {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Events = []script.Event{{What: script.Reapplied, At: 30 * time.Minute}, {What: script.TakenBack, At: 40 * time.Minute}}
			got := play(t, s, world.Options{})
			for _, v := range got.Wrong {
				t.Errorf("%s: %s", v.Oracle, v.Text)
			}
			for _, kind := range []pool.StepKind{pool.Drain, pool.Remove, pool.Replace, pool.StartProviderRollout} {
				if _, begun := got.Steps[string(kind)]; begun {
					t.Errorf("want no machine removed or replaced, got step %s", kind)
				}
			}
		})
	}
}

package explore

import (
	"testing"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// A user deletes a scale set while its machines boot. It is created again, and its instances get the provider IDs of the former ones: the
// Machines of those must not drain or delete the new Nodes, whenever the deletion comes.
func TestScaleSetDeletedWhileItsMachinesBoot(t *testing.T) {
	const first, last = time.Second, 25 * time.Second
	step, speeds := 4*time.Second, []float64{3, 10}
	if testing.Short() {
		step, speeds = last-first, speeds[:1]
	}
	for _, s := range all.Golden() {
		if s.Name != "azure Uniform: create" {
			continue
		}
		for at := first; at <= last; at += step {
			t.Run(at.String(), func(t *testing.T) {
				t.Parallel()
				for _, speed := range speeds {
					s := s
					s.Seed, s.Speed, s.Events = uint64(at), speed, []script.Event{{What: script.HandDropGroup, At: at}}
					got := play(t, s, world.Options{})
					for _, v := range got.Wrong {
						t.Errorf("speed %v: %s: %s", speed, v.Oracle, v.Text)
					}
				}
			})
		}
	}
}

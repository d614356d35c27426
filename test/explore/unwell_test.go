package explore

import (
	"testing"
	"time"

	"github.com/muster-project/muster/test/explore/apifault"
	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// TestUnhealthyMachineAfterARefusal has a MachineHealthCheck find a Machine unhealthy, and the API server refuse two writes around its
// deletion. The MachineHealthCheck asks for it all the same: the deletion that follows has a cause.
func TestUnhealthyMachineAfterARefusal(t *testing.T) {
	t.Parallel()
	played := 0
	for _, s := range all.Golden() {
		if s.Name != "azure Uniform: create" {
			continue
		}
		for skip := range 4 {
			s := s
			s.Events = []script.Event{
				{What: script.ServerFault, At: 30 * time.Minute, API: apifault.Fault{Kind: apifault.Conflict, Skip: skip, Times: 2}},
				{What: script.Unwell, At: 30*time.Minute + time.Second},
			}
			for _, v := range play(t, s, world.Options{}).Wrong {
				t.Errorf("after %d writes: %s: %s", skip, v.Oracle, v.Text)
			}
			played++
		}
	}
	if played != 4 {
		t.Errorf("want 4 scenarios played, got %d", played)
	}
}

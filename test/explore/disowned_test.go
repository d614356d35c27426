package explore

import (
	"fmt"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// A user takes the owner tag off a System pool that was created with its cluster, right after its adoption. It is adopted once more if no
// read has shown the adoption yet, and left alone otherwise.
func TestSystemPoolDisownedRightAfterItsAdoption(t *testing.T) {
	const adopted = 61 * time.Second
	for _, s := range all.Golden() {
		if s.Name != "aks: a System pool is adopted" {
			continue
		}
		for reads := range 4 {
			if testing.Short() && reads%2 == 1 {
				continue // one on each side of the read that shows the adoption
			}
			t.Run(fmt.Sprintf("after %d reads", reads), func(t *testing.T) {
				t.Parallel()
				s := s
				s.Events = []script.Event{
					{What: script.CloudFault, At: adopted - time.Second, Fault: sim.Fault{Kind: sim.DropBefore, Action: "ManagedClusters_Get",
						Skip: 2 + reads, Times: 4}},
					{What: script.HandDisown, At: adopted + 50*time.Millisecond},
					{What: script.HandOwn, At: adopted + time.Minute},
				}
				for _, v := range play(t, s, world.Options{}).Wrong {
					t.Errorf("%s: %s", v.Oracle, v.Text)
				}
			})
		}
	}
}

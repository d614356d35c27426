package explore

import (
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The version of an agent pool is raised when its machines are an hour old. AKS reimages them one after the other: none of them counts as a
// new one that does not join in time, and the upgrade is not aborted for it.
func TestOldMachinesAreReimaged(t *testing.T) {
	t.Parallel()
	for _, s := range all.Golden() {
		if s.Name != "aks: version step" {
			continue
		}
		s.Events = []script.Event{{What: script.Upgrade, N: 1, M: 1, At: time.Hour}}
		got := play(t, s, world.Options{})
		for _, v := range got.Wrong {
			t.Errorf("%s: %s", v.Oracle, v.Text)
		}
		if n := strings.Count(got.Trace, "call   containerservice:AgentPools.AbortLatestOperation"); n > 0 {
			t.Errorf("want no upgrade aborted, got %d aborted:\n%s", n, upTo(got.Trace))
		}
		return
	}
	t.Error("there is no such scenario")
}

package azure

import (
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
)

// A list may be older than an accepted removal, but not for ever: a removal that Azure has accepted and ignored is not taken for one that
// happens when it is accepted again, or no back-off would ever begin.
func TestRemovalsThatAreIgnored(t *testing.T) {
	t.Parallel()
	began := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	runs := machine{uid: "a", provisioning: "Succeeded", power: "running"}
	ends := machine{uid: "a", provisioning: stateDeleting, power: "running"}
	m := memory{}
	for _, step := range []struct {
		reason  string
		at      time.Duration
		removes bool
		list    []machine
		want    pool.InstanceState
	}{
		{"the list may be older", 0, true, []machine{runs}, pool.Terminating},
		{"likewise", visibleWithin - 1, false, []machine{runs}, pool.Terminating},
		{"no list is that old", visibleWithin, false, []machine{runs}, pool.Running},
		{"it was ignored before", visibleWithin + 1, true, []machine{runs}, pool.Running},
		{"likewise", 3 * visibleWithin, true, []machine{runs}, pool.Running},
		{"Azure says so", 4 * visibleWithin, false, []machine{ends}, pool.Terminating},
		{"the list may be older again", 4*visibleWithin + 1, true, []machine{runs}, pool.Terminating},
		{"nothing is kept of one that is gone", 6 * visibleWithin, false, nil, ""},
	} {
		if step.removes {
			m.removing(step.list, began.Add(step.at))
		}
		got := pool.InstanceState("")
		for _, seen := range m.seen(append([]machine(nil), step.list...), began.Add(step.at)) {
			got = seen.state()
		}
		if got != step.want {
			t.Errorf("after %s: %s: want %q, got %q", step.at, step.reason, step.want, got)
		}
	}
	if m.removed.Len() > 0 {
		t.Errorf("want nothing to be kept, got %v", m.removed)
	}
}

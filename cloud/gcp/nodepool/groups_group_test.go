package nodepool_test

import (
	"fmt"
	"testing"

	groupspkg "github.com/muster-project/muster/cloud/gcp/nodepool/groups"
)

// groupsOf makes groups of sizes, one in each zone.
func groupsOf(sizes ...int) []groupspkg.Group {
	var out []groupspkg.Group
	for i, n := range sizes {
		out = append(out, groupspkg.Group{Zone: fmt.Sprintf("us-central1-%c", 'a'+i), Name: fmt.Sprintf("g%d", i), Target: n})
	}
	return out
}

// TestRaised holds how a total is divided by zones: exactly, without making one smaller, and by the size of the node pool where that is the
// same in all zones.
func TestRaised(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		now    []int
		total  int
		sizes  string
		alike  bool
	}{
		{"one zone", []int{1}, 4, "map[0:4]", true},
		{"three zones of nothing", []int{0, 0, 0}, 6, "map[0:2 1:2 2:2]", true},
		{"what does not divide is exact all the same", []int{0, 0, 0}, 4, "map[0:2 1:1 2:1]", false},
		{"fewer machines than zones", []int{0, 0, 0}, 2, "map[0:1 1:1]", false},
		{"a machine that was removed comes back to its zone", []int{2, 1, 2}, 6, "map[1:2]", true},
		{"a zone that is larger is not made smaller", []int{2, 2, 5}, 9, "map[]", false},
		{"the smallest zones grow first", []int{1, 4, 2}, 9, "map[0:3]", false},
		{"no change", []int{2, 1, 1}, 4, "map[]", false},
		{"a total that is smaller raises nothing", []int{2, 2, 2}, 4, "map[]", true},
		{"no zones", nil, 4, "map[]", false},
	} {
		sizes, alike := groupspkg.Raised(groupsOf(c.now...), c.total)
		if got := fmt.Sprint(sizes); got != c.sizes || alike != c.alike {
			t.Errorf("%s: want %s, alike: %t, got %s and %t", c.reason, c.sizes, c.alike, got, alike)
		}
	}
}

func TestRaisedReachesEveryTotal(t *testing.T) {
	t.Parallel()
	for total := range 30 {
		groups := groupsOf(0, 3, 1)
		sizes, alike := groupspkg.Raised(groups, total)
		for i, n := range sizes {
			if n <= groups[i].Target {
				t.Errorf("a total of %d: want no group made smaller, got %d machines for %d", total, n, groups[i].Target)
			}
			groups[i].Target = n
		}
		if got := groupspkg.Size(groups); got != max(total, 4) {
			t.Errorf("a total of %d: got %d", total, got)
		}
		if alike && total%len(groups) != 0 {
			t.Errorf("a total of %d can't be alike in %d zones", total, len(groups))
		}
	}
}

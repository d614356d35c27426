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

// TestEach holds how many machines each zone is given when the node pool itself is sized.
func TestEach(t *testing.T) {
	t.Parallel()
	const missing = -1
	for _, c := range []struct {
		reason string
		now    []int
		total  int
		want   int
	}{
		{"no group exists", []int{missing, missing, missing}, 7, 2},
		{"no group exists, and the zones are more than the machines", []int{missing, missing, missing}, 2, 1},
		{"a zone's share makes its group", []int{2, missing, 2}, 6, 2},
		{"the zones that exist have fewer", []int{1, missing, 0}, 6, 2},
		{"a zone would lose machines", []int{3, missing, 2}, 6, 0},
		{"the zones do not divide the total", []int{3, missing, 3}, 8, 0},
		{"fewer machines than zones", []int{1, missing, 0}, 2, 0},
		{"no zones", nil, 4, 0},
	} {
		groups := groupsOf(c.now...)
		for i, n := range c.now {
			if groups[i].Target, groups[i].Template = max(0, n), "t"; n == missing {
				groups[i].Template = ""
			}
		}
		if got := groupspkg.Each(groups, c.total); got != c.want {
			t.Errorf("%s: want %d, got %d", c.reason, c.want, got)
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

package aws_test

import (
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// TestGroupOfProvider holds that an object without spec.providerID gets no group beside the one that the ecosystem's provider made for it.
func TestGroupOfProvider(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cluster  string
		provider bool
		want     bool
	}{
		"of its cluster":           {"c", true, true},
		"of another cluster":       {"other", true, false},
		"the cluster is ambiguous": {"c", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(t *testing.T, w *world) {
				w.theirs(func(m *theirs) { m.cluster = tc.cluster }).group()
				target := aTarget()
				target.Search = cloud.Search{Tagged: true, Provider: tc.provider}
				o := w.observe(target)
				if (o.OwnershipConflict != nil) != tc.want {
					t.Fatalf("want a conflict: %t, got %+v", tc.want, o.OwnershipConflict)
				}
				if tc.want && !strings.Contains(o.OwnershipConflict.Message, pool.AdoptionHint("pool")) {
					t.Errorf("want the way to its adoption, got %q", o.OwnershipConflict.Message)
				}
			})
		})
	}
}

// TestSearchIsShared holds that pools that are created together share a search, and that its steps do.
func TestSearchIsShared(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		w.observe(target)
		target.Search.Tagged = true
		if sent := w.operations(func() { w.observe(target) }); strings.Join(sent, " ") != "DescribeAutoScalingGroups DescribeAutoScalingGroups" {
			t.Errorf("want the group read, and one search, got %v", sent)
		}
		if sent := w.operations(func() { w.observe(target) }); len(sent) > 1 {
			t.Errorf("want no other search a moment later, got %v", sent)
		}
		time.Sleep(time.Second)
		target.Owner.ID, target.Search.Since = "applied-since", time.Now()
		if sent := w.operations(func() { w.observe(target) }); len(sent) < 2 {
			t.Errorf("want another search for an object that is newer than the last, got %v", sent)
		}
	})
}

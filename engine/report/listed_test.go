package report_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/muster-project/muster/pool"
)

// TestListed holds which machines stay in the list of provider IDs: the Node of one that is not listed is deleted once it is not Ready, or
// drained.
func TestListed(t *testing.T) {
	all := []string{"aws:///a/i-1", "aws:///a/i-2", "aws:///a/i-3"}
	second := func(change func(*pool.Instance)) func(*scene) {
		return func(s *scene) { change(&s.o.Instances[1]) }
	}
	failed := second(func(i *pool.Instance) { i.State = pool.Failed })
	away := func(s *scene) { s.o.Instances[1].Node, s.o.NodesUnknown = nil, true }
	for name, tc := range map[string]struct {
		reason string
		change []func(*scene)
		want   []string
	}{
		"failed, Ready":   {"it runs, whatever it is taken for", []func(*scene){failed}, all},
		"failed, no Node": {"it does not run", []func(*scene){failed, second(func(i *pool.Instance) { i.Node = nil })}, []string{all[0], all[2]}},
		"failed, unknown": {"its Node may be Ready", []func(*scene){failed, away}, all},
		"removed, assumed": {"the cloud may have ignored its removal",
			[]func(*scene){first(leaving), func(s *scene) { s.o.Instances[0].RemovalAssumed = true }}, all},
		"held": {"it is drained", []func(*scene){first(leaving), func(s *scene) { s.o.Instances[0].LifecycleHook = &pool.LifecycleHook{} }}, all},
		"beside": {"it serves beside the others",
			[]func(*scene){func(s *scene) { s.o.Beside = []pool.Instance{{ID: "i-4", ProviderID: "aws:///a/i-4"}} }},
			append(slices.Clone(all), "aws:///a/i-4")},
	} {
		if got := aScene(tc.change...).report().ProviderIDs; !slices.Equal(got, tc.want) {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
}

// TestOrderOfLists: what is known of the instances decides in which order an observation has them; a manager that is denied the moment of
// their creation has another one. Both report the same, or each would write back what the other has written.
func TestOrderOfLists(t *testing.T) {
	beside := func(s *scene) { s.o.Beside = []pool.Instance{{ID: "i-0", ProviderID: "aws:///a/i-0"}} }
	one := aScene(beside).report()
	other := aScene(beside, func(s *scene) { slices.Reverse(s.o.Instances) }).report()
	if !slices.Equal(one.ProviderIDs, other.ProviderIDs) || !reflect.DeepEqual(one.Instances, other.Instances) {
		t.Errorf("want the same lists whatever the order of the observation, got %v and %v, %v and %v", one.ProviderIDs, other.ProviderIDs,
			one.Instances, other.Instances)
	}
}

package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
)

// A node that others cordoned and that has nothing to evict goes before others, and is asked about only when one is chosen.
func TestUnusedNodesGoFirst(t *testing.T) {
	cordoned := func(s *scene, key string) {
		n := s.cluster.nodes[key]
		n.Cordoned = true
		s.cluster.nodes[key] = n
	}
	for _, row := range []struct {
		name, why string
		change    func(s *scene)
		want      string
		weighed   int
	}{
		{"at rest", "its pods are of no interest", func(s *scene) { cordoned(s, "aws://i-2"); s.facts.Desired.Replicas = 2 }, "", 0},
		{"none cordoned", "all are in use", func(*scene) {}, "i-1", 0},
		{"cordoned and unused", "it is not missed", func(s *scene) {
			cordoned(s, "aws://i-2")
			s.cluster.evictable = map[string]pool.Evictable{"aws://i-2": pool.EvictNothing}
		}, "i-2", 1},
		{"cordoned and used", "its pods have to move as others would", func(s *scene) { cordoned(s, "aws://i-2") }, "i-1", 1},
		{"not known", "a preference is no reason to wait", func(s *scene) {
			cordoned(s, "aws://i-2")
			s.cluster.evictable, s.cluster.silent = map[string]pool.Evictable{"aws://i-2": pool.EvictNothing}, errors.New("away")
		}, "i-1", 1},
		{"another is drained already", "a choice that was made stands", func(s *scene) {
			cordoned(s, "aws://i-2")
			n := s.cluster.nodes["aws://i-1"]
			n.Cordoned, n.DrainStarted, n.Remaining = true, s.facts.Now.Add(-time.Second), 1
			s.cluster.nodes["aws://i-1"] = n
			s.cluster.evictable = map[string]pool.Evictable{"aws://i-2": pool.EvictNothing}
		}, "i-1", 0},
		{"another is marked", "a mark comes first", func(s *scene) {
			cordoned(s, "aws://i-2")
			s.facts.Marked = map[string]bool{"aws://i-1": true}
			s.cluster.evictable = map[string]pool.Evictable{"aws://i-2": pool.EvictNothing}
		}, "i-1", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := rest(t)
			s.facts.Desired.Replicas = 1
			row.change(s)
			s.pass()
			got := ""
			for _, step := range s.cluster.starts {
				if step.Kind == pool.Drain {
					got = step.Targets[0].ID
				}
			}
			if got != row.want || s.cluster.weighed != row.weighed {
				t.Errorf("%s: want %q drained and nodes asked about %d times, got %q and %d", row.why, row.want, row.weighed, got, s.cluster.weighed)
			}
		})
	}
}

// A node whose drain is blocked is passed over for one that can be drained. The others are asked about once a minute while it
// is drained, and whenever an instance is chosen.
func TestBlockedDrainsArePassedOver(t *testing.T) {
	blocked := func(s *scene) {
		n := s.cluster.nodes["aws://i-1"]
		n.Cordoned, n.DrainStarted, n.Remaining, n.Blocked = true, s.facts.Now.Add(-time.Hour), 1, []string{"default/web-0 (budget)"}
		s.cluster.nodes["aws://i-1"] = n
	}
	abandoned := func(s *scene) {
		n := s.cluster.nodes["aws://i-1"]
		n.DrainAbandoned = s.facts.Now.Add(-time.Minute)
		s.cluster.nodes["aws://i-1"] = n
	}
	open := func(s *scene) { s.cluster.evictable = map[string]pool.Evictable{"aws://i-2": pool.EvictAll} }
	for _, row := range []struct {
		name, why string
		change    []func(s *scene)
		want      string
		weighed   int
	}{
		{"another can go", "its drain is begun in a later pass", []func(*scene){blocked, open}, "Undrain i-1", 2},
		{"no other can go", "it is asked about once a minute, not in each pass", []func(*scene){blocked}, "Drain i-1", 1},
		{"abandoned", "the choice is made with what is known of the others", []func(*scene){abandoned, open}, "Drain i-2", 2},
		{"abandoned, no other can go", "the first is drained once more", []func(*scene){abandoned}, "Drain i-1", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := rest(t)
			s.facts.Desired.Replicas = 1
			for _, change := range row.change {
				change(s)
			}
			s.pass()
			s.facts.Now = s.facts.Now.Add(10 * time.Second)
			s.pass()
			first := s.cluster.starts[0]
			if got := string(first.Kind) + " " + first.Targets[0].ID; got != row.want || s.cluster.weighed != row.weighed {
				t.Errorf("%s: want %s and nodes asked about %d times, got %s and %d", row.why, row.want, row.weighed, got, s.cluster.weighed)
			}
		})
	}
}

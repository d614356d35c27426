package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
)

// rolls has the two machines of a scene replaced one by one, unless pods keep them.
func rolls(t *testing.T, kept ...string) *scene {
	s := rest(t)
	s.driver.observed.Wanted.Content = "v1:b"
	s.driver.observed.Versions = append([]pool.Template{{Ref: "t:2", Content: "v1:b", Data: "d"}}, s.driver.observed.Versions...)
	s.driver.observed.Group.Template = "t:2"
	s.facts.Desired.PodsHold = true
	s.facts.Desired.Strategy = &pool.Strategy{MaxUnavailable: pool.IntOrPercent{Value: 1}}
	s.cluster.keeping = map[string]string{}
	for _, key := range kept {
		s.cluster.keeping[key] = "pod default/db-0 with the annotation x"
	}
	return s
}

// lastDrained returns the instances of the last drain.
func (s *scene) lastDrained() (ids string) {
	for _, step := range s.cluster.starts {
		if ids = ""; step.Kind == pool.Drain {
			for _, target := range step.Targets {
				ids += target.ID
			}
		}
	}
	return ids
}

// TestPodsKeepTheirMachines: a rollout takes no serving machine whose pods were not read in the same pass, or that one of them keeps.
func TestPodsKeepTheirMachines(t *testing.T) {
	for _, c := range []struct {
		why    string
		kept   []string
		change func(*scene)
		want   string
		reads  int
		reason string
	}{
		{"no pod keeps any", nil, func(*scene) {}, "i-1", 1, ""},
		{"pods mean nothing without the switch", []string{"aws://i-1"}, func(s *scene) { s.facts.Desired.PodsHold = false }, "i-1", 0, ""},
		{"the first is kept", []string{"aws://i-1"}, func(*scene) {}, "i-2", 1, ""},
		{"all are kept", []string{"aws://i-1", "aws://i-2"}, func(*scene) {}, "", 1, "Held"},
		{"the cluster does not say", nil, func(s *scene) { s.cluster.silent = errors.New("away") }, "", 1, "PodsUnread"},
		{"a scale-in is not kept", []string{"aws://i-1", "aws://i-2"}, func(s *scene) {
			s.driver.observed.Wanted.Content, s.driver.observed.Group.Template = "v1:a", "t:1"
			s.driver.observed.Versions = s.driver.observed.Versions[1:]
			s.facts.Desired.Replicas = 1
		}, "i-1", 0, ""},
		{"nor one that does not serve", []string{"aws://i-1"}, func(s *scene) {
			n := s.cluster.nodes["aws://i-1"]
			n.Ready, n.ReadySince = false, s.facts.Now.Add(-time.Hour)
			s.cluster.nodes["aws://i-1"] = n
		}, "i-1", 1, "NodesNotReady"},
	} {
		s := rolls(t, c.kept...)
		c.change(s)
		out := s.pass()
		var waiting []string
		for _, cause := range out.Plan.Waiting {
			waiting = append(waiting, cause.Reason)
		}
		if got := s.lastDrained(); got != c.want || len(s.cluster.podReads) != c.reads || strings.Join(waiting, " ") != c.reason {
			t.Errorf("%s: want %q drained, %d reads and %q waited for, got %q, %v and %q", c.why, c.want, c.reads, c.reason, got,
				s.cluster.podReads, waiting)
		}
	}
}

// TestPodHoldsEnd: a machine that a pod keeps goes a minute after the pod at the latest, whose state is read once a minute until then.
func TestPodHoldsEnd(t *testing.T) {
	s := rolls(t, "aws://i-1", "aws://i-2")
	for range 5 {
		if out := s.pass(); out.RequeueAfter > time.Minute || len(out.Plan.Progress.HeldNames) != 2 {
			t.Fatalf("want both named and a look within a minute, got %q and %v", out.Plan.Progress.HeldNames, out.RequeueAfter)
		}
		s.facts.Now = s.facts.Now.Add(20 * time.Second)
	}
	if got := len(s.cluster.podReads); got != 2 || s.lastDrained() != "" {
		t.Errorf("want one read a minute, and no drain, got %d and %q", got, s.lastDrained())
	}
	delete(s.cluster.keeping, "aws://i-2")
	s.driver.refusing[pool.Drain], s.cluster.refuses = errors.New("busy"), errors.New("busy")
	s.after(time.Minute)
	if got := s.lastDrained(); got != "i-2" {
		t.Errorf("want i-2 drained when its pod is gone, got %q", got)
	}
	// The drain did not begin, and the next pod has come since.
	s.cluster.keeping["aws://i-2"], s.cluster.starts, s.cluster.refuses = "pod y", nil, nil
	s.after(10 * time.Second)
	if got := s.lastDrained(); got != "" {
		t.Errorf("want none drained on an answer of an earlier pass, got %q", got)
	}
}

// TestManyPodsKeep: however many are kept, each pass reads a few, and the rollout takes the first that no pod keeps.
func TestManyPodsKeep(t *testing.T) {
	s := rolls(t)
	s.driver.observed.Instances, s.facts.Desired.Replicas, s.driver.observed.Group.Size, s.driver.observed.Group.Max = nil, 150, 150, 200
	s.facts.Desired.Max = 200
	for k := range 150 {
		id := fmt.Sprintf("i-%03d", k)
		s.driver.observed.Instances = append(s.driver.observed.Instances,
			pool.Instance{ID: id, ProviderID: "aws:///z/" + id, State: pool.Running, Template: pool.Template{Ref: "t:1", Content: "v1:a"}})
		s.cluster.nodes["aws://"+id] = pool.Node{Name: "node-" + id, Ready: true}
		if k != 140 {
			s.cluster.keeping["aws://"+id] = "pod x"
		}
	}
	passes := 0
	for s.lastDrained() == "" && passes < 20 {
		s.after(20 * time.Second)
		passes++
	}
	most := 0
	for _, keys := range s.cluster.podReads {
		most = max(most, len(keys))
	}
	if got := s.lastDrained(); got != "i-140" || most > 20 || passes > 8 {
		t.Errorf("want i-140 drained within 8 passes, with 20 nodes read at a time, got %q after %d, %d at a time", got, passes, most)
	}
}

package engine_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// TestAnAnswerIsNotWatched: a denied or invalid step is tried again after its back-off, and one look after each try
// finds whether another step is possible, unless the cloud is at work. What it works on is watched all the same.
func TestAnAnswerIsNotWatched(t *testing.T) {
	for _, c := range []struct {
		name, why string
		kind      cloud.ErrorKind
		shared    bool
		change    func(s *scene)
		most      int
	}{
		{"denied", "one call, then the back-off", cloud.Denied, false, func(*scene) {}, 7},
		{"denied, reads shared", "cheap reads are no reason to look", cloud.Denied, true, func(*scene) {}, 12},
		{"invalid", "it is an answer too", cloud.Invalid, true, func(*scene) {}, 12},
		{"no group", "nothing could be at work, and each pass searches for a group of the pool's", cloud.Denied, true, func(s *scene) {
			s.driver.observed.Group, s.driver.observed.Instances = nil, nil
		}, 20},
		{"an instance is launched", "it is known within a second that it joins", cloud.Denied, true, func(s *scene) {
			s.driver.observed.Instances[1].State = pool.Pending
		}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rest(t)
			s.driver.observed.Cache.Shared = c.shared
			c.change(s)
			s.facts.Desired.Replicas = 3
			for _, kind := range []pool.StepKind{pool.Resize, pool.CreateGroup, pool.PutTemplate, pool.UpdateGroup} {
				s.driver.refusing[kind] = &cloud.Error{Kind: c.kind, Message: "not allowed"}
			}
			s.play(15 * time.Second)
			if n := len(s.driver.starts); n == 0 || n > 5 {
				t.Errorf("%s: want 1 to 5 writes in 15 s, got %d", c.why, n)
			}
			if n := len(s.driver.observes); n > c.most || c.most > 12 && n <= 12 {
				t.Errorf("%s: want at most %d looks in 15 s, got %d", c.why, c.most, n)
			}
		})
	}
}

package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// searched is a cloud in which only a search shows the group that could be the pool's.
type searched struct {
	*driver
	found pool.Observed
}

func (d searched) Observe(ctx context.Context, t cloud.Target[int]) (pool.Observed, error) {
	o, err := d.driver.Observe(ctx, t)
	if t.Search.Tagged {
		o.OwnershipConflict, o.FormerGroup = d.found.OwnershipConflict, d.found.FormerGroup
	}
	return o, err
}

// TestSearch holds that other groups are looked for when the group is to be created, and only then, and that one that is found is reported
// by each pass alike until it is gone.
func TestSearch(t *testing.T) {
	s := rest(t)
	s.play(time.Hour)
	for _, target := range s.driver.observes {
		if target.Search.Tagged {
			t.Fatal("want no search for a group that exists")
		}
	}
	conflict := &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: "there is another"}
	waits := &pool.Cause{Reason: "FormerGroupDeleting", Message: "it is being deleted"}
	for name, tc := range map[string]struct {
		found pool.Observed
		most  int
		holds func(pool.Plan) bool
	}{
		"another group": {pool.Observed{OwnershipConflict: conflict}, 150,
			func(p pool.Plan) bool { return p.Refused != nil && *p.Refused == *conflict && p.Quiescent }},
		"one that is being deleted": {pool.Observed{FormerGroup: waits}, 1000,
			func(p pool.Plan) bool { return len(p.Waiting) == 1 && p.Waiting[0] == *waits && !p.Quiescent }},
	} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.driver.observed.Group, s.driver.observed.Instances, s.driver.observed.Versions = nil, nil, nil
			cloud := &searched{driver: s.driver, found: tc.found}
			s.engine = engine.New(cloud, engine.Options{})
			for end := s.facts.Now.Add(time.Hour); s.facts.Now.Before(end); {
				out := s.pass()
				if !tc.holds(out.Plan) || out.Err != nil || len(out.Refused) > 0 {
					t.Fatalf("want the same from each pass, got %+v", out)
				}
				out = s.after(time.Second) // an event
				if !tc.holds(out.Plan) {
					t.Fatalf("want the same after an event, got %+v", out.Plan)
				}
				s.facts.Now = s.facts.Now.Add(out.RequeueAfter)
			}
			check(t, "steps", "", s.driver.began())
			if n := len(s.driver.observes); n > tc.most {
				t.Errorf("want at most %d reads an hour, got %d", tc.most, n)
			}
			cloud.found = pool.Observed{}
			s.pass()
			check(t, "steps once it is gone", "PutTemplate", s.driver.began())
		})
	}
}

// TestSearchForTheProviders holds when a group of the ecosystem's provider counts: nothing but names connects it with the pool.
func TestSearchForTheProviders(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*engine.Input[int])
		want   bool
	}{
		"a new object":                      {func(*engine.Input[int]) {}, true},
		"one that names a group":            {func(f *engine.Input[int]) { f.Target.GroupID = "arn" }, false},
		"one whose group the user names":    {func(f *engine.Input[int]) { f.Target.Owner.GroupName = "another" }, false},
		"other Clusters have the same name": {func(f *engine.Input[int]) { f.Desired.Adopt.SameNamed = []string{"b/c"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := rest(t)
			s.driver.observed.Group, s.driver.observed.Instances = nil, nil
			tc.change(&s.facts)
			s.facts.Created = s.facts.Now.Add(-time.Second)
			s.pass()
			last := s.driver.observes[len(s.driver.observes)-1]
			check(t, "search", cloud.Search{Tagged: true, Provider: tc.want, Since: s.facts.Created}, last.Search)
		})
	}
}

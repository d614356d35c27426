package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// driver is a scripted cloud that counts its calls.
type driver struct {
	observed pool.Observed
	failing  error
	refusing map[pool.StepKind]error
	observes []cloud.Target[int]
	starts   []pool.Step
	// launchesOnWrite is the trait.
	launchesOnWrite bool
}

func (d *driver) Traits() pool.Traits {
	return pool.Traits{Group: "group", Template: "template", RemoveBatch: 10, CanCancelRollout: true, ReplaceKeepsSize: true,
		LaunchesOnWrite: d.launchesOnWrite}
}

func (d *driver) Observe(_ context.Context, t cloud.Target[int]) (pool.Observed, error) {
	d.observes = append(d.observes, t)
	return d.observed, d.failing
}

func (d *driver) Start(_ context.Context, _ cloud.Target[int], s pool.Step) error {
	d.starts = append(d.starts, s)
	return d.refusing[s.Kind]
}

func (d *driver) began() string {
	var kinds []string
	for _, s := range d.starts {
		kinds = append(kinds, string(s.Kind))
	}
	return strings.Join(kinds, " ")
}

// cluster is a workload cluster.
type cluster struct {
	nodes map[string]pool.Node
	away  error
	// live are the nodes that the API server has beside those; silent is why it does not answer.
	live    map[string]pool.Node
	silent  error
	refuses error
	lookups [][]string
	starts  []pool.Step
	// evictable predicts the drains of nodes, where not all have pods of which some stay. weighed counts how often it was read.
	evictable map[string]pool.Evictable
	weighed   int
	// keeping has the pods that keep the machines of nodes; podReads are the keys of the nodes whose pods were read, of each call.
	keeping  map[string]string
	podReads [][]string
}

func (c *cluster) PodHolds(_ context.Context, keys []string) (map[string]pool.PodHold, error) {
	c.podReads = append(c.podReads, keys)
	known := map[string]pool.PodHold{}
	for _, key := range keys {
		known[key] = pool.PodHold{Known: true, By: c.keeping[key]}
	}
	return known, c.silent
}

func (c *cluster) Find(_ context.Context, keys []string) (map[string]pool.Node, error) {
	c.lookups = append(c.lookups, keys)
	if c.away != nil {
		return nil, c.away
	}
	return c.nodes, nil
}

func (c *cluster) Evictable(_ context.Context, keys []string) (map[string]pool.Evictable, error) {
	c.weighed++
	known := map[string]pool.Evictable{}
	for _, key := range keys {
		known[key] = cmp.Or(c.evictable[key], pool.EvictSome)
	}
	return known, c.silent
}

func (c *cluster) FindUncached(_ context.Context, keys []string) (map[string]pool.Node, error) {
	c.lookups = append(c.lookups, append([]string{"live"}, keys...))
	return c.live, c.silent
}

func (c *cluster) Start(_ context.Context, s pool.Step) error {
	c.starts = append(c.starts, s)
	return c.refuses
}

// lookups is the object of a pool: what was stored on it, and how many steps the driver had started by then.
type lookups struct {
	driver  *driver
	stored  []string
	failing error
}

func (l *lookups) Store(_ context.Context, resolved map[string]string) error {
	l.stored = append(l.stored, fmt.Sprint(resolved, " after ", len(l.driver.starts)))
	return l.failing
}

// scene is one pool with everything around it, and its time.
type scene struct {
	t       *testing.T
	engine  *engine.Engine[int]
	driver  *driver
	cluster *cluster
	lookups *lookups
	facts   engine.Input[int]
}

// rest is a pool of two machines that is as wanted.
func rest(t *testing.T) *scene {
	v := pool.Template{Ref: "t:1", Content: "v1:a", Data: "d"}
	s := &scene{t: t, driver: &driver{refusing: map[pool.StepKind]error{}}, cluster: &cluster{nodes: map[string]pool.Node{}}}
	s.driver.observed = pool.Observed{
		Wanted: pool.Template{Content: v.Content, Data: v.Data}, Versions: []pool.Template{v},
		Group: &pool.Group{ID: "g", Size: 2, Max: 10, Template: v.Ref},
	}
	for _, id := range []string{"i-1", "i-2"} {
		s.driver.observed.Instances = append(s.driver.observed.Instances,
			pool.Instance{ID: id, ProviderID: "aws:///z/" + id, State: pool.Running, Template: v})
		s.cluster.nodes["aws://"+id] = pool.Node{Name: "node-" + id, Ready: true}
	}
	s.lookups = &lookups{driver: s.driver}
	s.engine = engine.New[int](s.driver, engine.Options{})
	s.facts = engine.Input[int]{
		Target: cloud.Target[int]{Owner: cloud.Owner{ID: "owner"}}, Desired: pool.Desired{Replicas: 2, Max: 10, MaxField: "spec.maxSize"},
		Generation: "1", Now: epoch,
	}
	return s
}

func (s *scene) pass() engine.Outcome {
	s.t.Helper()
	out := s.engine.Run(s.t.Context(), s.facts, s.cluster, s.lookups)
	if out.RequeueAfter <= 0 {
		s.t.Fatalf("want to be told when to look again, got %v", out.RequeueAfter)
	}
	return out
}

// after lets time pass, then runs a pass.
func (s *scene) after(d time.Duration) engine.Outcome {
	s.t.Helper()
	s.facts.Now = s.facts.Now.Add(d)
	return s.pass()
}

// play follows the engine's own clock for so long, and gives the time between passes.
func (s *scene) play(long time.Duration) (waits []time.Duration) {
	s.t.Helper()
	for end := s.facts.Now.Add(long); s.facts.Now.Before(end); {
		wait := s.pass().RequeueAfter
		waits = append(waits, wait)
		s.facts.Now = s.facts.Now.Add(wait)
	}
	return waits
}

func check(t *testing.T, what string, want, got any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s: want %v, got %v", what, want, got)
	}
}

// errorsOfEveryKind are one error each: the reaction must not depend on its text.
func errorsOfEveryKind() map[string]error {
	return map[string]error{
		"throttled":    &cloud.Error{Kind: cloud.Throttled, Code: "Throttling", Message: "Rate exceeded"},
		"conflict":     &cloud.Error{Kind: cloud.Conflict, Message: "in use"},
		"capacity":     &cloud.Error{Kind: cloud.Capacity, Where: "zone a", Message: "none left"},
		"denied":       &cloud.Error{Kind: cloud.Denied, Message: "not allowed"},
		"invalid":      &cloud.Error{Kind: cloud.Invalid, Field: "spec.x", Message: "no such thing"},
		"unavailable":  &cloud.Error{Kind: cloud.Unavailable, Message: "try again"},
		"of a network": errors.New("read tcp: connection reset by peer"),
		"deadline":     context.DeadlineExceeded,
	}
}

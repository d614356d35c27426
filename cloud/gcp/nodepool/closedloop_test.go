package nodepool_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// passEvery is the time between two passes, joinsIn that in which a machine's node turns Ready.
	passEvery, joinsIn = 20 * time.Second, time.Minute
	// maxPasses is more than any play takes; so many passes in a row without a step are rest.
	maxPasses, quietPasses = 1500, 15
)

// play is the planner with the driver against simulated GKE, and nodes that are made up.
type play struct {
	*world
	d pool.Desired
	// drained are the machines that Muster has drained, served those whose node was Ready.
	drained, served, there map[string]bool
	// rolling is true while GKE replaces nodes, and drains them itself.
	rolling bool
	// barred, if set, is since when machines are made whose nodes never join.
	barred time.Time
	// steps are those that were begun, in order.
	steps []string
	// lowest and highest are the least machines that served and the most that existed, outside of GKE's own rollouts.
	lowest, highest int
}

func newPlay(w *world, replicas int) *play {
	return &play{world: w, drained: map[string]bool{}, served: map[string]bool{}, there: map[string]bool{}, d: pool.Desired{
		Replicas: replicas, Max: 1000, DeletePolicy: pool.Oldest, Seed: w.target.Owner.ID,
	}}
}

// look observes, and gives machines their nodes.
func (p *play) look() pool.Observed {
	p.Helper()
	o := p.observe()
	here, serving, rolled := map[string]bool{}, 0, p.rolling
	p.rolling = p.rolling && o.Group != nil && o.Group.Busy != nil || o.ProviderRollout.Runs()
	for k := range o.Instances {
		i := &o.Instances[k]
		if here[i.ID] = i.State != pool.Terminating; !p.joins(i) {
			continue
		}
		p.served[i.ID] = true
		if p.drained[i.ID] {
			i.Node.Cordoned, i.Node.DrainStarted = true, i.Node.Joined
			continue
		}
		serving++
	}
	for k := range o.Beside {
		p.joins(&o.Beside[k])
	}
	for id := range p.there {
		if !here[id] && p.served[id] && !p.drained[id] && !rolled && !p.rolling && len(o.Beside) == 0 {
			p.Errorf("machine %s has gone without a drain", id)
		}
	}
	p.there = here
	if !p.rolling {
		p.lowest, p.highest = min(p.lowest, serving), max(p.highest, len(o.Instances))
	}
	return o
}

// joins gives a machine its node, once it has joined, and reports whether it has.
func (p *play) joins(i *pool.Instance) bool {
	joined := i.Created.Add(joinsIn)
	if i.State != pool.Running || time.Now().Before(joined) || !p.barred.IsZero() && i.Created.After(p.barred) {
		return false
	}
	i.Node = &pool.Node{Name: "node-" + i.ID, Joined: joined, Ready: true, ReadySince: joined.Add(time.Second)}
	return true
}

// pass is one pass of the engine.
func (p *play) pass() pool.Plan {
	p.Helper()
	o := p.look()
	plan := pool.Decide(p.d, o, p.driver.Traits(), time.Now())
	if s := plan.Step; s != nil {
		p.do(*s)
	}
	<-time.After(passEvery)
	synctest.Wait()
	return plan
}

func (p *play) do(s pool.Step) {
	p.Helper()
	switch s.Kind {
	case pool.Drain, pool.Undrain:
		for _, t := range s.Targets {
			p.drained[t.ID] = s.Kind == pool.Drain
		}
		return
	}
	err := p.driver.Start(p.Context(), p.target, s)
	if err != nil && cloud.KindOf(err) != cloud.Conflict {
		p.Errorf("start %s: %v", s.Kind, err)
	}
	if err == nil {
		p.steps = append(p.steps, string(s.Kind))
		p.rolling = p.rolling || s.Kind == pool.StartProviderRollout
	}
}

// run makes passes until nothing happens any more, and returns the steps that were begun.
func (p *play) run(passes int) string {
	p.Helper()
	p.steps, p.lowest, p.highest = nil, 1000, 0
	for quiet := 0; passes > 0 && quiet < quietPasses; passes-- {
		plan := p.pass()
		if quiet++; plan.Step != nil || plan.Rollout.State == pool.RolloutInProgress || !plan.Next.IsZero() || p.rolling {
			quiet = 0
		}
	}
	if passes == 0 {
		p.Errorf("want rest, got the steps %v", p.steps)
	}
	return strings.Join(p.steps, " ")
}

// TestClosedLoop holds what becomes of a node pool in three zones under the planner: every number is reached exactly, and stays; machines
// that go are drained before; changes that GKE rolls are one step each; and nothing flaps.
func TestClosedLoop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		p := newPlay(w, 4)
		for _, c := range []struct {
			reason string
			change func()
			steps  string
			zones  string
		}{
			{"a number that does not divide: as many in each zone, then the rest", func() {}, "CreateGroup Resize", "2 1 1"},
			{"more", func() { p.d.Replicas = 6 }, "Resize", "2 2 2"},
			{"fewer: the oldest go, drained", func() { p.d.Replicas = 5 }, "Remove", ""},
			{"a zone less: its machines go first, drained, and others come", func() { p.d.Replicas = 6; w.zoned("-a", "-b") }, "", "3 3"},
			{"another zone", func() { w.zoned("-a", "-c") }, "", ""},
			{"all zones", func() { w.regional() }, "", ""},
			{"a label", func() {
				w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.KubernetesLabels = gcpv1.NodeLabels{"tier": "blue"} })
			}, "UpdateGroup", ""},
			{"a version", func() { w.target.KubernetesVersion = latest }, "StartProviderRollout", ""},
			{"a machine type and labels", func() {
				w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
					s.InstanceType, s.AdditionalLabels = new("n2-standard-4"), gcpv1.Labels{"team": "b"}
				})
			}, "UpdateGroup StartProviderRollout", ""},
			{"none", func() { p.d.Replicas = 0 }, "", "0 0 0"},
			{"the end", func() { p.d.Deleting, w.target.Deleting = true, true }, "DeleteGroup", "gone"},
		} {
			c.change()
			steps := p.run(maxPasses)
			if c.steps != "" && steps != c.steps {
				w.Errorf("%s: want the steps %q, got %q", c.reason, c.steps, steps)
			}
			o := w.observe()
			switch {
			case c.zones == "gone":
				if o.Group != nil {
					w.Errorf("%s: want nothing left, got %+v", c.reason, o.Group)
				}
				continue
			case len(o.Instances) != p.d.Replicas || o.Group.Size != p.d.Replicas || fresh(o) != p.d.Replicas:
				w.Errorf("%s: want %d machines, got %d, %d of them as wanted", c.reason, p.d.Replicas, len(o.Instances), fresh(o))
			case c.zones != "" && w.zones() != c.zones:
				w.Errorf("%s: want %s in the zones, got %s", c.reason, c.zones, w.zones())
			}
		}
	})
}

// zoned puts the node pool into other zones.
func (w *world) zoned(names ...string) {
	w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
		s.NodeLocations = nil
		for _, name := range names {
			s.NodeLocations = append(s.NodeLocations, region+name)
		}
	})
}

// TestChangesOfMind holds that the planner takes back what is not wanted any more while GKE works on it: an upgrade with either strategy, a
// pause, and a scale-in in the middle of an upgrade.
func TestChangesOfMind(t *testing.T) {
	for _, strategy := range []string{"surge", "blue-green"} {
		for _, mind := range []string{"reverted", "paused", "deleted", "smaller"} {
			if testing.Short() && strategy == "blue-green" && mind != "paused" {
				continue // passes once a minute, for hours of soak time
			}
			t.Run(fmt.Sprintf("%s, %s", strategy, mind), func(t *testing.T) {
				inWorld(t, func(w *world) {
					if strategy == "blue-green" {
						w.blueGreen()
					}
					p := newPlay(w, 3)
					p.run(maxPasses)
					w.target.KubernetesVersion = latest
					for range maxPasses {
						if o := p.look(); fresh(o) > 0 && o.ProviderRollout.Runs() {
							break
						}
						p.pass()
					}
					p.mind(mind)
				})
			})
		}
	}
}

// mind has the user change it in the middle of an upgrade, and holds what becomes of the node pool.
func (p *play) mind(how string) {
	p.Helper()
	switch how {
	case "reverted":
		p.target.KubernetesVersion = version
	case "paused":
		p.d.RolloutPaused = &pool.Cause{Reason: "RolloutPaused", Message: "paused"}
		if steps := p.run(maxPasses); steps != "CancelProviderRollout" {
			p.Errorf("want the upgrade cancelled and nothing else, got %q", steps)
		}
		if o := p.observe(); o.Group.Size != 3 || len(o.Instances) != 3 {
			p.Errorf("want the size kept by the pause, got %d with %d machines", o.Group.Size, len(o.Instances))
		}
		p.d.RolloutPaused = nil
	case "deleted":
		p.d.Deleting, p.target.Deleting = true, true
	case "smaller":
		p.d.Replicas = 2
	}
	steps := p.run(maxPasses)
	o := p.observe()
	if how == "deleted" {
		if o.Group != nil {
			p.Errorf("want nothing left, got %+v after %q", o.Group, steps)
		}
		return
	}
	if len(o.Instances) != p.d.Replicas || fresh(o) != p.d.Replicas || o.ProviderRollout.Runs() {
		p.Errorf("want %d machines as wanted, got %d, %d of them as wanted, after %q", p.d.Replicas, len(o.Instances), fresh(o), steps)
	}
	if how == "reverted" && p.held().Version != version[1:] {
		p.Errorf("want the version from before, got %s after %q", p.held().Version, steps)
	}
}

// TestUpgradesWithoutMachines holds that each change of a node pool that has no machines is one blue-green upgrade to its end: no blue
// machine shows there what an upgrade came from.
func TestUpgradesWithoutMachines(t *testing.T) {
	inWorld(t, func(w *world) {
		w.blueGreen()
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.ImageType = new("UBUNTU_CONTAINERD") })
		p := newPlay(w, 0)
		p.run(maxPasses)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
			s.InstanceType, s.ImageType = new("n2-standard-4"), new("COS_CONTAINERD")
		})
		if steps := p.run(maxPasses); steps != "StartProviderRollout StartProviderRollout" {
			w.Errorf("want an upgrade for each of both changes, got %q", steps)
		}
	})
}

// TestUpgradeWhoseMachinesNeverJoin holds that a blue-green upgrade whose machines do not join is cancelled once, and is not resumed before
// the specification asks for something else: then it is rolled back.
func TestUpgradeWhoseMachinesNeverJoin(t *testing.T) {
	inWorld(t, func(w *world) {
		machine := func(name string) { w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new(name) }) }
		w.blueGreen()
		p := newPlay(w, 3)
		p.d.ProgressDeadline = 2 * time.Minute
		p.run(maxPasses)
		p.barred = time.Now()
		machine("n2-standard-4")
		steps := p.run(maxPasses)
		if o := p.look(); steps != "StartProviderRollout CancelProviderRollout" || len(o.Instances) != 3 || fresh(o) > 0 || len(o.Beside) == 0 {
			w.Errorf("want the upgrade cancelled for good, got %q, with %d machines, %d of them fresh, and %d beside them", steps, len(o.Instances),
				fresh(o), len(o.Beside))
		}
		machine("e2-standard-4")
		steps = p.run(maxPasses)
		if o := p.look(); steps != "StartProviderRollout" || len(o.Instances) != 3 || fresh(o) != 3 || len(o.Beside) > 0 {
			w.Errorf("want it rolled back, got %q, with %d machines, %d of them as wanted, and %d beside them", steps, len(o.Instances), fresh(o),
				len(o.Beside))
		}
	})
}

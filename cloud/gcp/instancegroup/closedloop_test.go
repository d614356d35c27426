package instancegroup_test

import (
	"errors"
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
	passEvery = 30 * time.Second
	joinsIn   = 3 * time.Minute
	// passesMost is more than any of these rollouts takes, quietPasses in a row without a step are rest.
	passesMost, quietPasses = 400, 8
)

// play is the planner with the driver against the simulated Google Cloud, and nodes that are made up.
type play struct {
	*world
	d pool.Desired
	// known are the instances that were seen, served those whose node was Ready, left those that are on their way out or gone.
	known, served, left map[string]bool
	drains              map[string]time.Time
	// lowest and highest are the least instances that served and the most that existed.
	lowest, highest int
}

func (w *world) play(d pool.Desired) *play {
	return &play{world: w, d: d, known: map[string]bool{}, served: map[string]bool{}, left: map[string]bool{}, drains: map[string]time.Time{}}
}

// count gives instances their nodes, and notes what becomes of them.
func (p *play) count(o *pool.Observed) {
	p.Helper()
	p.target.Remembered, p.target.Operations = o.ResolvedLookups, o.Operations
	if o.Group != nil {
		p.target.GroupID = o.Group.ID
	}
	now, there, serving, exist := time.Now(), map[string]bool{}, 0, 0
	for k := range o.Instances {
		i := &o.Instances[k]
		there[i.ID], p.known[i.ID] = true, p.known[i.ID] || i.UID != ""
		if i.State == pool.Terminating {
			p.goes(i.ID)
			continue
		}
		exist++
		joined := i.Created.Add(joinsIn)
		if i.State != pool.Running || i.Created.IsZero() || now.Before(joined) {
			continue
		}
		p.served[i.ID] = true
		i.Node = &pool.Node{Name: "node-" + i.ID, Joined: joined, Ready: true, ReadySince: joined.Add(time.Second)}
		if at, ok := p.drains[i.ID]; ok {
			i.Node.Cordoned, i.Node.DrainStarted = true, at
			continue
		}
		serving++
	}
	for id := range p.known {
		if !there[id] {
			p.goes(id)
		}
	}
	p.lowest, p.highest = min(p.lowest, serving), max(p.highest, exist)
}

// goes notes that an instance leaves, and reports one that served and was not drained.
func (p *play) goes(id string) {
	if _, drained := p.drains[id]; !p.left[id] && !drained && p.served[id] {
		p.Errorf("instance %s has gone without a drain", id)
	}
	p.left[id] = true
}

// pass is one pass of the engine.
func (p *play) pass() pool.Plan {
	p.Helper()
	o := p.observe()
	p.count(&o)
	plan := pool.Decide(p.d, o, p.driver.Traits(), time.Now())
	if plan.Step != nil {
		p.do(*plan.Step)
	}
	<-time.After(passEvery)
	synctest.Wait()
	return plan
}

func (p *play) do(s pool.Step) {
	p.Helper()
	switch s.Kind {
	case pool.Drain:
		for _, t := range s.Targets {
			p.drains[t.ID] = time.Now()
		}
	case pool.Undrain:
		for _, t := range s.Targets {
			delete(p.drains, t.ID)
		}
	default:
		var refused *cloud.Error
		if err := p.driver.Start(p.Context(), p.target, s); err != nil && (!errors.As(err, &refused) || refused.Kind != cloud.Conflict) {
			p.Errorf("start %s: %v", s.Kind, err)
		}
	}
}

// run makes passes until nothing happens any more.
func (p *play) run() pool.Plan {
	p.Helper()
	quiet := 0
	for range passesMost {
		plan := p.pass()
		if plan.DeletionComplete {
			return plan
		}
		if plan.Step != nil || plan.Rollout.State == pool.RolloutInProgress || !plan.Next.IsZero() {
			quiet = 0
			continue
		}
		if quiet++; quiet >= quietPasses {
			return plan
		}
	}
	p.Fatalf("want rest after %d passes", passesMost)
	return pool.Plan{}
}

func desired(n, surge, unavailable int, changes ...func(*pool.Desired)) pool.Desired {
	d := pool.Desired{
		Replicas: n, DeletePolicy: pool.Oldest, Seed: "0f6f8d5e-owner",
		Strategy: &pool.Strategy{
			MaxSurge: pool.IntOrPercent{Value: surge}, MaxUnavailable: pool.IntOrPercent{Value: unavailable},
			SurgeField: "spec.strategy.rollingUpdate.maxSurge", UnavailableField: "spec.strategy.rollingUpdate.maxUnavailable",
		},
	}
	for _, change := range changes {
		change(&d)
	}
	return d
}

// TestClosedLoop holds what becomes of rollouts: instances made and gone, the least that serve and the most that exist, and how it ends.
// Every instance that served is drained before it goes, and nothing is left of a pool that is deleted.
func TestClosedLoop(t *testing.T) {
	external := func(d *pool.Desired) { d.ReplicasManagedExternally = true }
	for _, c := range []struct {
		name string
		from int
		d    pool.Desired
		want string
	}{
		{"surge 1", 3, desired(3, 1, 0), "3 made, 3 gone, 3 to 4, Done"},
		{"unavailable 1", 3, desired(3, 0, 1), "3 made, 3 gone, 2 to 3, Done"},
		{"surge 3", 3, desired(3, 3, 0), "3 made, 3 gone, 3 to 6, Done"},
		{"a change and 5 to 3", 5, desired(3, 1, 0), "3 made, 5 gone, 3 to 5, Done"},
		{"a change and 3 to 5", 3, desired(5, 1, 0), "5 made, 3 gone, 3 to 6, Done"},
		{"a size that an autoscaler owns", 3, desired(1, 1, 0, external), "3 made, 3 gone, 3 to 4, Done"},
		{"to none", 2, desired(0, 1, 0), "0 made, 2 gone, 0 to 2, Done"},
	} {
		for _, zones := range [][]string{{zone}, {"us-central1-a", "us-central1-b", "us-central1-c"}} {
			if testing.Short() && (len(zones) > 1) != (c.name == "surge 3") {
				continue // one row in three zones, the others in one
			}
			t.Run(fmt.Sprintf("%s in %d zones", c.name, len(zones)), func(t *testing.T) {
				inWorld(t, zones, func(w *world) {
					p := w.play(c.d)
					p.d.Replicas, p.d.ReplicasManagedExternally = c.from, false
					p.run()
					p.d, p.lowest, p.highest = c.d, c.from, c.from
					before := len(p.known)
					p.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.InstanceType = "n2-standard-4" })(p.target.Spec)
					plan := p.run()
					got := fmt.Sprintf("%d made, %d gone, %d to %d, %s", len(p.known)-before, len(p.left), p.lowest, p.highest, plan.Rollout.State)
					if got != c.want {
						t.Errorf("want %s, got %s", c.want, got)
					}
					p.d.Deleting, p.target.Deleting = true, true
					if !p.run().DeletionComplete {
						t.Error("want the pool deleted")
					}
					if left := w.cloud.State(); len(left.Groups)+len(left.Templates) > 0 {
						t.Errorf("want nothing left, got %+v", left)
					}
				})
			})
		}
	}
}

// TestRotationLeavesOneTemplate holds that new bootstrap data makes templates and replaces nothing, and that those which nothing needs go.
func TestRotationLeavesOneTemplate(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		p := w.play(desired(2, 1, 0))
		p.run()
		for n := range 5 {
			p.target.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\n# token "+strings.Repeat("x", n+1)+"\n"), "cloud-config")
			p.run()
		}
		o := p.observe()
		if len(p.left) > 0 || len(o.Versions) > 3 || o.Group.Template != o.Latest().Ref || o.Latest().Data != p.target.Bootstrap.Hash() {
			t.Errorf("want both machines kept, and a few templates, got %d gone, %+v", len(p.left), o.Versions)
		}
	})
}

package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

const (
	// noticing is the number of pools of which changes are noticed; noticeStep, which divides no time between two looks, is the time between
	// the changes of two of them, so that some come right after a look.
	noticing, noticeStep = 7, 19 * time.Second
	// noticeLimit bounds the wait for a change to be noticed, noticeGrain is the time between two looks of the test.
	noticeLimit, noticeGrain = 5 * time.Minute, 100 * time.Millisecond
	// noticeCalls is the time of the calls in the look that detects a change.
	noticeCalls = 10 * latency
)

// noticed holds a pool whose cloud resources are changed out of band.
type noticed struct {
	*fleet[*awsv1.MachinePoolSource]
	pool   *member[*awsv1.MachinePoolSource]
	server *simaws.Server
}

// group returns the pool's group as the cloud has it.
func (n noticed) group() simaws.Group {
	for _, g := range n.server.State(simaws.AccountID, simaws.Region).Groups {
		if strings.Contains(g.Name, n.pool.target.Owner.Name) {
			return g
		}
	}
	n.t.Fatalf("%s has no group", n.pool.target.Owner.Name)
	return simaws.Group{}
}

// template returns the ID of the template of the pool's group, empty if there is none.
func (n noticed) template() (id, name string) {
	list := n.server.State(simaws.AccountID, simaws.Region).Templates
	k := slices.IndexFunc(list, func(t simaws.Template) bool { return strings.Contains(t.Name, n.pool.target.Owner.Name) })
	if k < 0 {
		return "", ""
	}
	return list[k].ID, list[k].Name
}

// byHand changes something in the cloud.
func (n noticed) byHand(what sim.Action, on sim.Resource) {
	n.t.Helper()
	if err := n.server.Capabilities().OutOfBand[what](on); err != nil {
		n.t.Fatal(err)
	}
}

// shows reports whether what the pool has seen last meets a condition.
func (n noticed) shows(meets func(*member[*awsv1.MachinePoolSource]) bool) func() bool {
	return func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.pool.last.Seen && meets(n.pool)
	}
}

// until returns how long it took until a condition was met.
func (n noticed) until(what string, met func() bool) time.Duration {
	n.t.Helper()
	for began := time.Now(); ; time.Sleep(noticeGrain) {
		switch {
		case met():
			return time.Since(began)
		case time.Since(began) > noticeLimit:
			n.t.Fatalf("%s: not %s after %s", n.pool.target.Owner.Name, what, noticeLimit)
		}
	}
}

// TestChangesAreNoticed holds that changes by other clients and by the cloud itself are noticed in time, at whatever moment between two
// looks they come.
func TestChangesAreNoticed(t *testing.T) {
	for _, c := range []struct {
		why      string
		external bool
		within   time.Duration
		// change changes something, and returns a function that reports whether it was noticed.
		change func(noticed) (notices func() bool)
	}{
		{"an autoscaler sizes the group", true, 30 * time.Second, func(n noticed) func() bool {
			n.byHand(sim.SetSize, sim.Resource{Name: n.group().Name, Size: 2})
			return n.shows(func(m *member[*awsv1.MachinePoolSource]) bool { return m.last.Observed.Group.Size == 2 })
		}},
		{"another client deletes the launch template: it is made again", false, 2 * time.Minute, func(n noticed) func() bool {
			before, name := n.template()
			n.byHand(sim.DeleteTemplate, sim.Resource{Name: name})
			return func() bool {
				now, _ := n.template()
				return now != "" && now != before
			}
		}},
		{"the cloud lists what the pool was scaled to: the object lists it", false, time.Second, func(n noticed) func() bool {
			n.mu.Lock()
			n.pool.replicas = size
			n.mu.Unlock()
			n.queue.Add(n.pool)
			n.until("launched", func() bool { return len(n.group().Members) == size })
			return n.shows(func(m *member[*awsv1.MachinePoolSource]) bool {
				return len(report.ProviderIDs(m.last.Observed)) == size
			})
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			l := lab[*awsv1.MachinePoolSource]{cloud: amazon, driver: groups,
				spec: func(change string) *awsv1.MachinePoolSource { return source(instanceType(change), size) }}
			inFleet(t, l, noticing, func(f *fleet[*awsv1.MachinePoolSource]) {
				for _, m := range f.members {
					m.external = c.external
				}
				f.make()
				_ = f.idle(fleetSettle)
				var longest time.Duration
				for _, m := range f.members {
					n := noticed{f, m, f.way.server.(*simaws.Server)}
					_ = f.idle(noticeStep)
					longest = max(longest, n.until("noticed", c.change(n)))
				}
				if t.Logf("noticed within %s", longest); longest > c.within+noticeCalls {
					t.Errorf("want it noticed within %s, took %s", c.within, longest)
				}
			})
		})
	}
}

// editBegins bounds the time from an edit of a pool at rest to the end of the request that answers it: a read of the group and the request,
// and twice the moment for which requests of several pools are collected.
const editBegins = 2*latency + 2*sweep.DefaultCollect/10

// TestEditBeginsAtOnce holds that an edit of a pool at rest waits for a read of its group alone, whenever it comes between two looks.
func TestEditBeginsAtOnce(t *testing.T) {
	t.Parallel()
	l := lab[*awsv1.MachinePoolSource]{cloud: amazon, driver: groups,
		spec: func(change string) *awsv1.MachinePoolSource { return source(instanceType(change), size) }}
	inFleet(t, l, noticing, func(f *fleet[*awsv1.MachinePoolSource]) {
		f.make()
		_ = f.idle(fleetSettle)
		var longest time.Duration
		for _, m := range f.members {
			_ = f.idle(noticeStep)
			f.ask("edit", []*member[*awsv1.MachinePoolSource]{m}, func(m *member[*awsv1.MachinePoolSource]) { m.replicas = size })
			longest = max(longest, m.begun.Sub(m.requested))
		}
		if t.Logf("begun within %s", longest); longest > editBegins {
			t.Errorf("want an edit begun within %s, took %s", editBegins, longest)
		}
	})
}

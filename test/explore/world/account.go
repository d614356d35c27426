package world

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
)

// account is what watches the wire to the simulated cloud, and remembers what was done there.
type account struct {
	world *World
	// owner is who the pool's objects were last seen to belong to.
	owner cloud.Owner
	// calls counts requests, steps what they were for.
	calls int
	steps map[string]Cost
	// lately are the moments of the last writes, by their kind.
	lately map[string][]time.Time
	// accepted are the moments at which writes were accepted last, by all that they say.
	accepted map[string][]time.Time
	// renewed are the moments at which back-offs ended for another reason than their effect.
	renewed []time.Time
	// disowned is when a user took the owner tag off the pool's group: for a moment not every reader can see that.
	disowned time.Time
	// owned is when the user gave it back, which is seen as late.
	owned time.Time
	// moved is when a user changed the group's size or bounds by hand, which for a moment not every reader can see either:
	// a removal that was right for the size before it may then leave one machine too few, until the next look.
	moved time.Time
	// autoscaled are the sizes of the group that the autoscaler has changed.
	autoscaled []autoscaled
	// wrote is when each manager wrote last. What it did another that works beside it may not have read yet.
	wrote map[*process]time.Time
	// rewritten is when a user changed versions of the pool's template, which is read again within minutes only.
	rewritten time.Time
	// notes are what others put onto our group and that has to stay there.
	notes map[string]string
	// ledger is who serves.
	ledger ledger
}

// inPages makes the cloud answer lists with one item a page in every third scenario, so that a fault of a later page leaves a list of which
// a part is known.
func (w *World) inPages() {
	if w.Scenario.Seed%3 == 1 {
		w.Must(w.pool.Cloud.Faults().Add(sim.Fault{Kind: sim.PageLimit, Limit: 1}), "make pages small")
	}
}

// inForce are the cloud's faults that something may be put down to: not that pages are small.
func (a *account) inForce() []sim.PlayedFault {
	return slices.DeleteFunc(a.world.pool.Cloud.Faults().List(), func(f sim.PlayedFault) bool { return f.Kind == sim.PageLimit })
}

func newAccount(w *World) *account {
	return &account{world: w, steps: map[string]Cost{}, lately: map[string][]time.Time{}, accepted: map[string][]time.Time{}, notes: map[string]string{}, ledger: ledger{}}
}

// line is a process's connection to the cloud.
type line struct{ p *process }

// RoundTrip carries one request of the driver, and lets the oracles look at every write.
func (l line) RoundTrip(req *http.Request) (*http.Response, error) {
	w, call := l.p.world, wire.CallFrom(req.Context())
	if l.p.dead {
		return nil, errKilled
	}
	w.account.calls++
	if !isWrite(call.Operation) || req.Method == http.MethodGet {
		reply, err := sim.Transport{Handler: w.pool.Cloud}.RoundTrip(req)
		w.Trace("call", "%s%s -> %s", l.p.name, call, Ending(reply, err))
		return reply, err
	}
	words, named, err := w.inWords(call.Service, req)
	if err != nil {
		return nil, err
	}
	if err := l.p.begin(call.String()); err != nil {
		return nil, err
	}
	w.account.count(call.String(), req)
	reply, err := w.account.write(l.p, call, words, named, req)
	if killed := l.p.finish(call.String()); killed != nil {
		if err == nil {
			_ = reply.Body.Close()
		}
		return nil, killed
	}
	return reply, err
}

// Not more than stormMost writes of one kind are sent within stormSpell, whatever the cloud says to them. Of those that change one
// machine each, not more than stormEach are sent for one of them.
const (
	stormMost, stormEach = 60, 30
	stormSpell           = 5 * time.Minute
)

// count blames one write too many of a kind.
func (a *account) count(call string, req *http.Request) {
	most := stormMost
	if one := a.world.Scenario.Kind.OneEach; one != "" && strings.HasSuffix(call, one) {
		call, most = call+" "+req.URL.Path, stormEach
	}
	now := time.Now()
	recent := slices.DeleteFunc(a.lately[call], func(at time.Time) bool { return now.Sub(at) > stormSpell })
	a.lately[call] = append(recent, now)
	if len(recent) == most {
		a.world.Blame("storm", "%s was sent more than %d times within %s", call, most, stormSpell)
		a.lately[call] = nil
	}
}

// write sends a write and has it judged.
func (a *account) write(p *process, call wire.Call, words string, named []string, req *http.Request) (*http.Response, error) {
	w := a.world
	before, nodes := w.Snapshot(), w.Workload.Truth()
	a.look(before, nodes, nil)
	lost, risen := a.ledger.lately(time.Now(), p.late())
	reply, err := sim.Transport{Handler: w.pool.Cloud}.RoundTrip(req)
	w.Trace("call", "%s%s %s -> %s", p.name, call, words, Ending(reply, err))
	after := w.Snapshot()
	a.look(after, nodes, named)
	if err == nil && reply.StatusCode < http.StatusMultipleChoices {
		if w.pool.Accepted != nil {
			after = w.pool.Accepted(call, req, after)
		}
		a.repeat(call.String() + " " + words)
	}
	sent := oracle.Write{
		At: time.Now(), Call: call.String(), Named: named, Before: before, After: after, Nodes: nodes, Wanted: p.wanted, Unseen: 2 * unseen,
		Moved: !a.moved.IsZero() && time.Since(a.moved) < p.late() || a.rivals(p), Lost: lost, Risen: risen, Autoscaled: a.autoscaledLately(p.late()),
	}
	if w.pool.Judged != nil {
		w.pool.Judged(call, words, &sent)
	}
	a.judge(sent)
	if a.wrote == nil {
		a.wrote = map[*process]time.Time{}
	}
	a.wrote[p] = time.Now()
	return reply, err
}

// rivals is true if another manager wrote so lately that this one may have read what was before.
func (a *account) rivals(p *process) bool {
	return slices.ContainsFunc(a.world.processes, func(other *process) bool {
		at, wrote := a.wrote[other]
		return other != p && wrote && time.Since(at) < p.late()
	})
}

// isWrite reports whether an operation changes something: "DescribeInstances" and "instanceGroupManagers.listManagedInstances" do not.
func isWrite(operation string) bool {
	verb := operation[strings.LastIndex(operation, ".")+1:]
	return !slices.ContainsFunc([]string{"describe", "get", "list"}, func(read string) bool { return strings.HasPrefix(strings.ToLower(verb), read) })
}

func (a *account) judge(w oracle.Write) {
	for _, check := range oracle.Checks() {
		if check.Name == "told" && len(a.world.processes) > 1 {
			continue // another version may have come between
		}
		if check.Name == "foreign" && recent(a.disowned) || check.Name == "unwanted removal" && recent(a.moved) {
			continue
		}
		a.world.blameAll(check.Name, check.Of(w))
	}
}

// recently reports whether a user moved the size so lately that not every reader can know.
func (a *account) recently() bool { return recent(a.moved) || recent(a.disowned) }

// recent reports whether what was done then may not be visible to every reader yet.
func recent(at time.Time) bool { return !at.IsZero() && time.Since(at) < unseen }

// hands is how often a user tries until the cloud does what the user wants: faults meet users too.
const hands = 12

// Hand does something as a person would, who tries again.
func (w *World) Hand(do func(context.Context) error) error {
	var err error
	for range hands {
		if err = do(w.t.Context()); err == nil {
			return nil
		}
		time.Sleep(handPause)
	}
	return err
}

const handPause = 500 * time.Millisecond

// Cost is how often something was asked of the driver, and how many requests to the cloud that took.
type Cost struct{ Times, Calls int }

// counted is a driver whose calls are counted, by the kind of step.
type counted[S any] struct {
	cloud.Driver[S]
	account *account
}

// Counted has the calls of a driver counted.
func Counted[S any](w *World, d cloud.Driver[S]) cloud.Driver[S] { return counted[S]{d, w.account} }

// Observe is the driver's.
func (d counted[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	defer d.account.cost("Observe")()
	return d.Driver.Observe(ctx, t)
}

// Start is the driver's.
func (d counted[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	defer d.account.cost(string(s.Kind))()
	return d.Driver.Start(ctx, t, s)
}

// cost counts what is asked of the cloud until the function that it gives is called.
func (a *account) cost(what string) func() {
	before := a.calls
	return func() {
		c := a.steps[what]
		a.steps[what] = Cost{Times: c.Times + 1, Calls: c.Calls + a.calls - before}
	}
}

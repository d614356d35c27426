package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/machinecontroller"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/workload"
	"github.com/muster-project/muster/test/memapi"
	"github.com/muster-project/muster/view/plan"
)

// Options change how a scenario is played.
type Options struct {
	// CrashAt ends the manager at its effect of that number, counted from 1 and from CountFrom on, right after it or
	// right before; 0 is never.
	CrashAt     int
	CrashBefore bool
	// CountFrom is when effects begin to count.
	CountFrom time.Duration
	// Foresee has it planned, right after the first event, what becomes of the pool, and noted what does.
	Foresee bool
	// Manager selects the credentials of the manager, in a form that the account of the kind defines. With nil it uses the account's own keys,
	// which have all permissions and which users and other programs use.
	Manager any
	// Ignores is the setting that the cloud ignores from Edited on, also after all other faults have ended. Nil for none.
	Ignores *sim.Fault
}

// Result holds the outcome of a scenario.
type Result struct {
	// Wrong lists the violations in their order.
	Wrong []Violation
	Trace string
	// Calls counts requests to the cloud, Passes those of reconcilers, Faults those that were played.
	Calls, Passes, Faults int
	// Effects lists the kinds of the effects in order: the call, or the verb and the kind of the object.
	Effects []string
	// Steps holds the cost of each kind of step, and of observing.
	Steps   map[string]record.Cost
	Virtual time.Duration
	// End holds the final state without times and identifiers. Gone is true if nothing was left.
	End  map[string]string
	Gone bool
	// Reported reports whether a condition at rest reported a change without effect.
	Reported bool
	// Planned and Happened are set if Options asked for them.
	Planned plan.Forecast
	record.Happened
}

// Violation is one finding of an oracle.
type Violation struct {
	Oracle, Text string
}

// Play runs one scenario of a kind in a bubble of virtual time.
func Play(t *testing.T, k *Kind, s script.Scenario, o Options) (out Result) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, k, s, o)
		defer func() {
			if err := w.pool.Cloud.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		w.live()
		w.calm()
		w.managers.end()
		out = Result{
			Wrong: w.wrong, Trace: w.trace.String(), Calls: w.account.costs.Calls, Passes: w.passes,
			Faults: w.faults + w.servers.faults.Played, Effects: w.effects,
			Steps: w.account.costs.Steps, Virtual: time.Since(w.trace.Began), End: w.rest.end(), Gone: w.gone, Reported: w.rest.reported,
			Planned: w.planned, Happened: w.watched.Happened(),
		}
	})
	return out
}

var (
	errKilled = errors.New("the process has ended")
)

// World is one scenario that is being played: its parts, and the order in which things happen.
type World struct {
	t       *testing.T
	Options Options
	// member is the pool that is looked at now, members are all, and events what happens to them.
	*member
	members []*member
	events  []script.Event
	// Cloud has the snapshots of the simulated cloud, and what users can do there out of band.
	Cloud    sim.Capabilities
	trace    *record.Trace
	Workload *workload.Cluster
	// keeper looks after Machines.
	keeper *machinecontroller.Controller

	account  *account
	setup    *setup
	users    *users
	managers *managers
	servers  *servers
	rest     *rest
	agenda   *agenda

	wake chan struct{}
	// sent are the writes that were sent since the last call of since, to the cloud or to an API server.
	sent []string
	// written is when one was sent last.
	written time.Time
	// effects that count, by their kind.
	effects []string
	// passes, faults that were played.
	passes, faults int
	// ended is true if nothing more can happen.
	ended bool
	wrong []Violation
	// sameMoment counts the passes since time moved last.
	sameMoment int
}

// agenda holds the scheduled actions. The cloud adds to it at its own times.
type agenda struct {
	mu   sync.Mutex
	list []appointment
}

// appointment is an action that is scheduled for a time.
type appointment struct {
	at time.Time
	do func()
}

func newWorld(t *testing.T, k *Kind, s script.Scenario, o Options) *World {
	w := &World{t: t, Options: o, trace: &record.Trace{Began: time.Now()}, wake: make(chan struct{}, 1), agenda: &agenda{}, events: s.Events}
	for at := range 1 + len(s.Additional) {
		w.members = append(w.members, newMember(w, s, at))
	}
	w.member = w.members[0]
	w.setup, w.users, w.managers = &setup{world: w}, &users{world: w}, &managers{world: w}
	w.servers, w.rest = &servers{world: w}, &rest{world: w}
	w.servers.faults.Prune = w.servers.prune
	types, err := scheme(s.Kind)
	w.Must(err, "make the scheme")
	w.Workload = workload.New(w, workload.Options{
		Seed: s.Seed, Refuses: s.Kind.FreesNames, Scheme: types, Restarts: s.Kind.Restarts, BadType: s.Kind.BadType, Pods: s.Pods,
		Neighbours:   s.Neighbours,
		MostPods:     s.Pods * s.Most,
		DrainStarted: func(id string) time.Time { return w.keeper.DrainStarted(id) }, Reconnect: w.managers.requeue,
	})
	w.account = newAccount(w)
	w.pool = k.Make(w)
	w.Cloud = w.pool.Cloud.Capabilities()
	w.account.inPages()
	of, err := apiutil.GVKForObject(w.pool.New(), types)
	w.Must(err, "find the kind of the infrastructure object")
	server := memapi.New(memapi.Options{Scheme: types, Now: time.Now, Status: statusKinds(s.Kind), Indexes: managementIndexes(s.Kind)})
	for _, m := range w.members {
		m.pool, m.Objects.kind, m.Objects.server, m.Objects.User = w.pool, of.Kind, server, server.Client()
	}
	w.keeper = machinecontroller.New(w, machinecontroller.Options{Infra: s.Machines(), Scheme: types, Server: server, User: w.Objects.User,
		Workload: w.Workload})
	w.setup.create()
	w.managers.list = []*process{w.managers.start()}
	return w
}

// add makes an appointment. Those of one moment are kept in the order in which they were made.
func (ag *agenda) add(when time.Time, w *World, do func()) {
	ag.mu.Lock()
	defer ag.mu.Unlock()
	m := w.member
	k := slices.IndexFunc(ag.list, func(a appointment) bool { return a.at.After(when) })
	if k < 0 {
		k = len(ag.list)
	}
	ag.list = slices.Insert(ag.list, k, appointment{when, func() { w.as(m, do) }})
}

// dueBy takes the first thing off the agenda that is due by then; nil when none is.
func (ag *agenda) dueBy(now time.Time) func() {
	ag.mu.Lock()
	defer ag.mu.Unlock()
	if len(ag.list) == 0 || ag.list[0].at.After(now) {
		return nil
	}
	next := ag.list[0]
	ag.list = ag.list[1:]
	return next.do
}

// sooner is when something is to be done next.
func (ag *agenda) sooner(end time.Time, p *process, due time.Time) time.Time {
	if p != nil && due.Before(end) {
		end = due
	}
	ag.mu.Lock()
	defer ag.mu.Unlock()
	if len(ag.list) > 0 && ag.list[0].at.Before(end) {
		end = ag.list[0].at
	}
	return end
}

// At makes an appointment about the pool that is looked at.
func (w *World) At(when time.Time, do func()) { w.agenda.add(when, w, do) }

// live runs the whole scenario, then checks the remaining state at rest.
func (w *World) live() {
	if len(w.Scenario.Switches) > 0 {
		w.trace.Add("switches", "%v", w.Scenario.Switches)
	}
	w.rest.ignores()
	w.account.deny()
	for _, e := range w.events {
		if w.until(w.trace.Began.Add(e.At)); w.over() {
			return
		}
		w.as(w.members[e.Pool], func() { w.happen(e) })
		if w.Options.Foresee && w.watched == nil {
			w.foresee()
		}
	}
	if w.until(w.trace.Began.Add(w.Scenario.Ends)); w.over() {
		return
	}
	w.rest.peace()
	if w.Options.Ignores != nil {
		w.rest.unheeded()
		return
	}
	if w.rest.wait(); w.over() {
		return
	}
	w.rest.settledDown()
}

// loop bounds the number of passes at one moment.
const loop = 500

// until runs all actions that are due before end, one after the other.
func (w *World) until(end time.Time) {
	for !w.over() {
		w.Workload.Arrive()
		w.keeper.Wake()
		w.managers.takeUp()
		now := time.Now()
		if do := w.agenda.dueBy(now); do != nil {
			do()
			continue
		}
		p, c, due := w.managers.next()
		if p != nil && !due.After(now) {
			if w.sameMoment++; w.sameMoment > loop {
				w.Blame("busy", "%d passes at one moment, the last of %s", loop, c.name)
				w.ended = true
				return
			}
			p.pass(c)
			continue
		}
		if !now.Before(end) {
			return
		}
		w.sleep(w.agenda.sooner(end, p, due).Sub(now))
	}
}

// sleep lets time pass, and what it brings about be done before anything else. A machine that the cloud powers on or off
// ends it.
func (w *World) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	select {
	case <-timer.C:
	case <-w.wake:
		timer.Stop()
	}
	synctest.Wait()
	w.sameMoment = 0
}

// Stir ends a sleep.
func (w *World) Stir() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Blame notes a violation.
func (w *World) Blame(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.trace.Add("WRONG", "%s: %s", name, text)
	w.wrong = append(w.wrong, Violation{Oracle: name, Text: text})
}

// blameAll notes what an oracle found.
func (w *World) blameAll(name string, found []string) {
	for _, text := range found {
		w.Blame(name, "%s", text)
	}
}

// Secrets looks for tokens in a text that others can read.
func (w *World) Secrets(where, text string) {
	if text == "" {
		return
	}
	w.blameAll("secret", oracle.Secret(where, text, w.Workload.Tokens.All()))
}

// since returns the writes since its last call.
func (w *World) since() []string {
	list := w.sent
	w.sent = nil
	return list
}

// Must ends the test on an error.
func (w *World) Must(err error, format string, args ...any) {
	if err != nil {
		w.t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// calm takes all faults out of force.
func (w *World) calm() {
	w.servers.faults.Clear()
	for _, f := range w.account.inForce() {
		w.faults += f.Played
	}
	w.pool.Cloud.Faults().Clear()
	w.account.deny()
	w.account.inPages()
}

// Context returns the context of the test.
func (w *World) Context() context.Context { return w.t.Context() }

// Gone reports whether the pool is gone.
func (w *World) Gone() bool { return w.gone }

// Trace adds a line to the trace.
func (w *World) Trace(what, format string, args ...any) { w.trace.Add(what, format, args...) }

// known are the schemes of kinds.
var known sync.Map

// scheme has the kinds that anything here reads or writes. It is made once: nothing is added to it later.
func scheme(k *script.Kind) (*runtime.Scheme, error) {
	if s, ok := known.Load(k); ok {
		return s.(*runtime.Scheme), nil
	}
	s := runtime.NewScheme()
	for _, add := range slices.Concat(schemes, k.Schemes) {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	known.Store(k, s)
	return s, nil
}

package world

import (
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/machinepool"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/test/explore/questions"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/workload"
)

// managers are the processes that run.
type managers struct {
	world *World
	list  []*process
	// questions are those of all processes that ever ran.
	questions []*questions.Questions
	// started counts those that were ever started.
	started int
	// meeting is the event in the middle of the next pass. inside is true while it runs.
	meeting *script.Event
	inside  bool
	// amid lists the events between two calls, in order.
	amid []script.Event
}

// start returns a new manager process: driver, engine and caches are empty.
func (g *managers) start() *process {
	w := g.world
	for _, m := range w.members {
		m.writes.Renew()
	}
	p := &process{world: w, starts: time.Now()}
	if g.started++; g.started > 1 {
		p.name = fmt.Sprintf("#%d ", g.started)
	}
	p.questions = g.question(p.name)
	g.questions = append(g.questions, p.questions)
	p.mgmt, p.wl = w.Objects.server.NewCache(&corev1.Secret{}), w.Workload.API.NewCache(&corev1.Pod{}, &policyv1.PodDisruptionBudget{})
	remote := &workload.Connection{Cluster: w.Workload, Key: ClusterKey, Cached: p.wl.Client(p.gate(true)),
		Live: w.Workload.API.Live(p.gate(true))}
	p.remote = remote
	local := p.mgmt.Client(p.gate(false))
	p.cached = local
	live := w.Objects.server.Live(p.gate(false))
	infra := w.pool.Reconciler(line{p}, infrapool.Options{Client: local, Live: live, ClusterCache: remote, Recorder: p, Now: time.Now,
		SkipModelReconciliation: w.Scenario.SkipModel, Policies: &limiter.Limiter{Policies: &policy.Reader{Client: local},
			Gates: p.questions.Asker, Ledger: &limiter.Ledger{}}})
	core := &machinepool.Reconciler{Client: local, Live: live, ClusterCache: remote, Recorder: p, Now: time.Now}
	for _, m := range w.members {
		p.controllers = append(p.controllers,
			&controller{of: m, name: "machinepool" + script.Suffix(m.at), request: ctrl.Request{NamespacedName: m.poolKey},
				reconcile: core.Reconcile},
			&controller{of: m, infra: true, name: strings.ToLower(w.Objects.kind) + script.Suffix(m.at),
				request:   ctrl.Request{NamespacedName: m.key},
				reconcile: infra})
	}
	p.all()
	for at := p.starts.Add(resync); at.Before(p.starts.Add(resyncs)); at = at.Add(resync) {
		w.At(at, p.all)
	}
	if w.Options.CrashAt > 0 && g.started == 1 {
		w.At(w.trace.Began.Add(w.Options.CountFrom), func() { p.crash, p.crashBefore = w.Options.CrashAt, w.Options.CrashBefore })
	}
	return p
}

// bury takes a dead process away. Another one is started if it was the last.
func (g *managers) bury(p *process) {
	p.questions.Stop()
	var left []*process
	for _, other := range g.list {
		if other != p {
			left = append(left, other)
		}
	}
	if len(left) == 0 {
		next := g.start()
		next.starts = next.starts.Add(time.Duration(g.started%4) * restartPause)
		left = []*process{next}
	}
	g.list = left
}

// between lets another actor do something right before an effect of a process.
func (g *managers) between(p *process) {
	w := g.world
	if g.meeting == nil || g.inside {
		return
	}
	if g.meeting.N > 0 {
		g.meeting.N--
		return
	}
	e := *g.meeting
	g.meeting, g.inside = nil, true
	w.faults++
	defer func() { g.inside = false }()
	for _, other := range g.list {
		if other != p && !time.Now().Before(other.starts) {
			w.Trace("meet", "%s and %s", p.name, other.name)
			other.sync()
			other.pass(other.infra(w.member))
			return
		}
	}
	if e.M == 0 {
		return
	}
	w.Trace("meet", "a user edits in the middle of a pass")
	w.happen(script.Event{What: script.Replicas, N: e.M, M: 1})
}

// resign ends the manager that has lost the lease.
func (g *managers) resign(p *process) {
	for _, other := range g.list {
		if other == p && len(g.list) > 1 {
			g.world.Trace("event", "the elder manager ends")
			g.bury(p)
			return
		}
	}
}

// next returns the pass that is due next: the earliest, of equals the one of the elder process.
func (g *managers) next() (who *process, what *controller, at time.Time) {
	for _, p := range g.list {
		p.sync()
		for _, c := range p.controllers {
			if due := p.due(c); !due.IsZero() && (who == nil || due.Before(at)) {
				who, what, at = p, c, due
			}
		}
	}
	return who, what, at
}

// question returns the questions of a new process.
func (g *managers) question(of string) *questions.Questions {
	w := g.world
	o := questions.Options{Of: of, Kind: w.Objects.kind, Began: w.trace.Began, Stir: w.Stir}
	if p := w.Scenario.Policy; p != nil {
		o.Gates = p.Gates
	}
	q, err := questions.New(w.t.Context(), o)
	w.Must(err, "watch the gates")
	return q
}

// takeUp notes the answers to gates that came, and wakes the pools whose gates have changed.
func (g *managers) takeUp() {
	for _, p := range g.list {
		if p.questions.Asker == nil {
			continue
		}
		synctest.Wait()
		answers, woken := p.questions.TakeUp()
		for _, text := range answers {
			g.world.Trace("gate", "%s%s", p.name, text)
		}
		for _, c := range p.controllers {
			if c.infra && woken[c.request.NamespacedName] {
				p.wake(c)
			}
		}
	}
}

// end ends what processes do by themselves.
func (g *managers) end() {
	for _, q := range g.questions {
		q.Stop()
	}
}

// requeue has every process look at everything.
func (g *managers) requeue() {
	for _, p := range g.list {
		p.all()
	}
}

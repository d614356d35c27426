package world

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/questions"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/workload"
	"github.com/muster-project/muster/test/memapi"
)

// process is one manager: what it has in memory, and what its work queues hold.
type process struct {
	world *World
	// name is empty for the first one, for traces.
	name     string
	mgmt, wl *memapi.Cache
	// remote is its way to the workload cluster.
	remote *workload.Connection
	// cached reads the management cluster as the process knows it.
	cached      client.Client
	controllers []*controller
	// starts is when it runs its first pass.
	starts time.Time
	dead   bool
	// The caches stand still for lagging passes, for as long as lagUntil at most; until deafUntil events get lost.
	lagging int
	// expired is true if they list everything again then.
	expired             bool
	lagUntil, deafUntil time.Time
	// crash is at which effect from now the process dies, 0 for none.
	crash       int
	crashBefore bool
	// runs is the controller that runs a pass now.
	runs *controller
	// paused is true if the pool was paused when the pass began, as this process knows it.
	paused bool
	// questions has the gates asked.
	questions *questions.Questions
	// began is when the pass began, and begins are the machines whose replacement it has begun.
	began  time.Time
	begins []string
	// desired holds the specification at the beginning of the pass, as this process knows it.
	desired oracle.Desired
}

// controller is one reconciler with the key of one pool in its work queue.
type controller struct {
	// of is the pool. infra is true if the key is that of its infrastructure object.
	of        *member
	infra     bool
	name      string
	request   ctrl.Request
	reconcile Reconcile
	// ready is true if the key is in the queue; later is when it will be put there.
	ready    bool
	later    time.Time
	failures int
}

const (
	// resync is the interval of the manager's full resync.
	resync = 10 * time.Minute
	// resyncs bounds the time of the resyncs. It is longer than any scenario.
	resyncs = 14 * time.Hour
	// restartPause is the unit by which restarts become slower.
	restartPause = 3 * time.Second
	// backoffLeast and backoffMost bound the pause after an error. They are the defaults of controller-runtime.
	backoffLeast, backoffMost = 5 * time.Millisecond, 1000 * time.Second
)

// all puts every key into its queue.
func (p *process) all() {
	for _, c := range p.controllers {
		c.ready = c.ready || !c.of.absent
	}
}

// due is when a controller's key is to be worked on, the zero time for never.
func (p *process) due(c *controller) time.Time {
	at := c.later
	if c.ready {
		at = time.Now()
	}
	if !at.IsZero() && at.Before(p.starts) {
		at = p.starts
	}
	return at
}

// sync takes up what happened in both clusters, unless the caches stand still.
func (p *process) sync() {
	now := time.Now()
	if now.Before(p.starts) || p.lagging > 0 && now.Before(p.lagUntil) {
		return
	}
	heard, there := p.mgmt.Sync(), !p.world.Workload.Outage.Away()
	if there {
		heard = append(heard, p.wl.Sync()...)
	}
	if p.expired {
		p.expired, p.lagging, heard = !there, 0, memapi.Relisted(heard)
	}
	p.hear(heard)
}

// hear wakes the controllers that care for the events, unless they get lost.
func (p *process) hear(events []memapi.Event) {
	if time.Now().Before(p.deafUntil) {
		return
	}
	for _, e := range events {
		core, infra := p.concerns(e)
		for _, c := range p.controllers {
			if concerned := infra && c.infra || core && !c.infra; concerned && p.about(e, c.of) {
				p.wake(c)
			}
		}
	}
}

// concerns reports which controllers an event wakes: exactly what their watches and predicates let through, so that an additional pass does
// not hide a missing wake-up.
func (p *process) concerns(e memapi.Event) (core, infra bool) {
	o := e.New
	if o == nil {
		o = e.Old
	}
	switch o.(type) {
	case *corev1.Secret:
		return false, true
	case *clusterv1.Cluster:
		return true, true
	case *clusterv1.MachinePool:
		return specChanged(e) || !equality.Semantic.DeepEqual(e.Old.GetFinalizers(), e.New.GetFinalizers()), specChanged(e)
	case *unstructured.Unstructured: // what says where the cluster is
		return false, true
	case *clusterv1.Machine:
		return true, specChanged(e) // the core controller cares for what they say too
	case *corev1.Node:
		matters := p.matters(e, o)
		return matters, matters
	}
	return p.concernsInfra(e, o)
}

// specChanged reports whether an object was created or deleted, or more than its status has changed.
func specChanged(e memapi.Event) bool {
	if e.Old == nil || e.New == nil {
		return true
	}
	a, b := e.Old, e.New
	return a.GetGeneration() != b.GetGeneration() || !a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) ||
		!equality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations()) || !equality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) ||
		!equality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
}

// matters reports whether a Node is one of the pool's, as far as the process knows, and has changed in a way that matters.
func (p *process) matters(e memapi.Event, o client.Object) bool {
	change := e.Old != nil && e.New != nil
	if change && !nodes.Changed().Update(event.TypedUpdateEvent[client.Object]{ObjectOld: e.Old, ObjectNew: e.New}) {
		return false
	}
	node, ok := o.(*corev1.Node)
	return ok && len(nodes.PoolsOf(p.world.t.Context(), p.cached, ClusterKey, node)) > 0
}

// concernsInfra is concerns for the infrastructure object and the objects of single machines.
func (p *process) concernsInfra(e memapi.Event, o client.Object) (core, infra bool) {
	if machines := p.world.Scenario.Machines(); same(p.world.pool.New(), o) || machines != nil && same(machines.New(), o) {
		return true, specChanged(e) // the core controller cares for what they say too
	}
	return false, false
}

func same(a, b client.Object) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }

// about reports whether an event is about an object of a pool.
func (p *process) about(e memapi.Event, m *member) bool {
	if !p.world.several() {
		return true
	}
	o := e.New
	if o == nil {
		o = e.Old
	}
	switch is := o.(type) {
	case *corev1.Secret:
		return is.Name == secretName+script.Suffix(m.at)
	case *clusterv1.Cluster, *unstructured.Unstructured:
		return true
	case *clusterv1.MachinePool:
		return is.Name == m.poolKey.Name
	case *corev1.Node:
		list := nodes.PoolsOf(p.world.t.Context(), p.cached, ClusterKey, is)
		return slices.ContainsFunc(list, func(mp *clusterv1.MachinePool) bool { return mp.Name == m.poolKey.Name })
	}
	if same(p.world.pool.New(), o) {
		return o.GetName() == m.key.Name
	}
	return poolNameOf(o) == m.poolKey.Name
}

// heardWithin delays the events of a watch if two managers are at work. Without it no time would pass between alternating writes of two
// managers that see different states.
const heardWithin = 100 * time.Millisecond

// wake puts a controller's key into its queue.
func (p *process) wake(c *controller) {
	if len(p.world.managers.list) > 1 {
		c.retry(time.Now().Add(heardWithin))
		return
	}
	c.ready = true
}

// infra returns the controller of the infrastructure object of a pool.
func (p *process) infra(of *member) *controller {
	return p.controllers[slices.IndexFunc(p.controllers, func(c *controller) bool { return c.infra && c.of == of })]
}

// pass lets one reconciler run once for its pool.
func (p *process) pass(c *controller) { p.world.as(c.of, func() { p.run(c) }) }

// run lets one reconciler run once for the pool that is looked at.
func (p *process) run(c *controller) {
	w := p.world
	w.passes++
	c.ready = false
	if now := time.Now(); !c.later.IsZero() && !c.later.After(now) {
		c.later = time.Time{}
	}
	p.lagging = max(0, p.lagging-1)
	p.desired, p.paused = p.knows(), p.held()
	before, began, begins := p.runs, p.began, p.begins
	p.runs, p.began, p.begins = c, time.Now(), nil
	defer func() { p.runs, p.began, p.begins = before, began, begins }()
	step := w.Rollout.step()
	if c.infra {
		w.account.look(w.Snapshot(), w.Workload.Truth(), nil)
	}
	result, err := p.reconcile(c)
	if p.dead {
		w.managers.bury(p)
		return
	}
	message := "-"
	if err != nil {
		message = err.Error()
		w.Secrets("an error of a pass", message)
	}
	if err == nil && c.infra {
		w.Rollout.entered(p, step)
	}
	w.Trace("pass", "%s%s again in %s: %s", p.name, c.name, result.RequeueAfter, message)
	switch now := time.Now(); {
	case err != nil:
		c.retry(now.Add(min(backoffMost, backoffLeast<<min(c.failures, 20))))
		c.failures++
	default:
		c.failures = 0
		if result.RequeueAfter > 0 {
			c.retry(now.Add(result.RequeueAfter))
		}
	}
	w.look()
}

// retry puts the key into the queue at a time, or before it.
func (c *controller) retry(at time.Time) {
	if c.later.IsZero() || at.Before(c.later) {
		c.later = at
	}
}

// reconcile runs the reconciler. A panic is a violation, and ends the process as it would in life.
func (p *process) reconcile(c *controller) (result ctrl.Result, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			p.world.Blame("panic", "%s: %v\n%s", c.name, trouble, debug.Stack())
			p.dead = true
		}
	}()
	return c.reconcile(ctrl.LoggerInto(p.world.t.Context(), logr.Discard()), c.request)
}

// effect is something that the process does to the world: it may die right before or right after it, and another actor
// may come between.
func (p *process) effect(what string, do func() error) error {
	if err := p.begin(what); err != nil {
		return err
	}
	err := do()
	if killed := p.finish(what); killed != nil {
		return killed
	}
	return err
}

// begin is right before an effect.
func (p *process) begin(what string) error {
	w := p.world
	if p.dead {
		return errKilled
	}
	w.managers.between(p)
	if time.Since(w.trace.Began) >= w.Options.CountFrom {
		w.effects = append(w.effects, kindOf(what))
	}
	if p.crash--; p.crash == 0 && p.crashBefore {
		return p.die("before", what)
	}
	if !workload.KeepsToken(what) {
		w.sent, w.written = append(w.sent, what), time.Now()
	}
	return nil
}

// kindOf returns the kind of an effect without its object: the name of a call, or the cluster, verb and kind of an object.
func kindOf(what string) string {
	words := strings.Fields(what)
	return strings.Join(words[:min(3, len(words))], " ")
}

// finish runs directly after an effect.
func (p *process) finish(what string) error {
	if p.crash == 0 {
		return p.die("after", what)
	}
	return nil
}

// die ends the process in the middle of what it does.
func (p *process) die(when, what string) error {
	p.dead = true
	p.world.faults++
	p.world.Trace("crash", "%sright %s %s", p.name, when, what)
	return errKilled
}

// Eventf takes an event of a reconciler.
func (p *process) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	text := fmt.Sprintf(note, args...)
	p.world.Trace("event", "%s%s %s: %s", p.name, kind, reason, text)
	p.world.Secrets("an event", text)
	if strings.TrimSpace(reason) == "" {
		p.world.Blame("reason", "an event without a reason: %q", text)
	}
}

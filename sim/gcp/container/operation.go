package container

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/managed"
)

// States of operations.
const (
	opPending  = "PENDING"
	opRunning  = "RUNNING"
	opAborting = "ABORTING"
	opDone     = "DONE"
)

// operationsKept is the time for which ended operations can be read.
const operationsKept = 24 * time.Hour

const (
	// pendingShare is the share of the operations on node pools that start pending, as in recorded traffic. Those on clusters run at once.
	pendingShare = 0.75
	// lifePending is the time for which these are pending.
	lifePending = 2 * time.Second
)

// The canonical codes of failures, as numbers.
const (
	codeCancelled = 1
	codeInternal  = 13
	codeExhausted = 8
)

// start keeps a new operation on a cluster, or on one of its node pools.
func (w *lifecycle) start(c *Cluster, p *Pool, kind string) *operation {
	n := w.core.NextNumber("gke-operation")
	op := &operation{
		Project: c.Project, Location: c.Location, Type: kind, Cluster: c.key(), Status: opRunning, Start: w.core.Now,
		Name: fmt.Sprintf("operation-%d-%s", w.core.Now.UnixMilli(), w.core.Seed.UUID("gke-operation", n)),
	}
	if p != nil {
		op.Pool, op.Begins = p.Name, w.core.Now
		if w.core.Seed.Chance("gke-pending", n) < pendingShare {
			op.Begins = w.core.Now.Add(w.core.Life(lifePending))
		}
	}
	w.rows.operations.Put(op.key(), op)
	return op
}

// begin starts an operation that excludes all others on the cluster.
func (w *lifecycle) begin(c *Cluster, p *Pool, kind string) *operation {
	op := w.start(c, p, kind)
	c.Op = op.Name
	if p != nil {
		c.Status = reconciling
		w.take(p, op, reconciling)
	}
	w.rows.touchCluster(c)
	return op
}

// beside starts an operation that has already taken effect, and that others may run in parallel to.
func (w *lifecycle) beside(c *Cluster, p *Pool, kind string) *operation {
	op := w.start(c, p, kind)
	op.Until = w.core.Now.Add(w.core.Life(lifeChange))
	return op
}

// take lets an operation act on a node pool.
func (w *lifecycle) take(p *Pool, op *operation, status string) {
	p.Status = status
	p.Work = managed.Work{Op: op.Name, Next: w.core.Now.Add(w.core.Life(managed.Watch)), Leaving: managed.Departures{}}
	w.rows.touchPool(p)
}

// of returns an operation by its name, nil if it is gone.
func (w *lifecycle) of(c *Cluster, name string) *operation {
	return w.rows.operations.Get("projects/" + c.Project + "/locations/" + c.Location + "/operations/" + name)
}

// end ends an operation; the conditions are why it failed.
func (w *lifecycle) end(c *Cluster, name string, conditions []Condition) {
	op := w.of(c, name)
	if op == nil || op.Status == opDone {
		return
	}
	aborted := op.Status == opAborting
	op.Status, op.End = opDone, w.core.Now
	if aborted {
		conditions = []Condition{{Canonical: "CANCELLED", Message: "Operation was aborted."}}
	}
	op.Conditions = conditions
	for _, one := range conditions {
		op.Code = codeInternal
		switch one.Canonical {
		case "RESOURCE_EXHAUSTED":
			op.Code = codeExhausted
		case "CANCELLED":
			op.Code = codeCancelled
		}
	}
	w.rows.operations.Touch(op.key())
}

// finish ends what an operation does to a node pool. The operation ends with it, unless it is one on the whole cluster. A node pool is not
// usable if it is to have nodes and none of them is ready.
func (w *lifecycle) finish(c *Cluster, p *Pool, conditions []Condition) {
	p.Status, p.Conditions = running, conditions
	if len(conditions) > 0 {
		p.Status = runningWithError
		if w.kept(c, p) > 0 && w.nodes.CountReady(w.groups.machinesOf(c, p)) == 0 {
			p.Status = failed
		}
	}
	w.settled(c, p, conditions)
}

// kept returns the number of nodes that the groups of a node pool keep.
func (w *lifecycle) kept(c *Cluster, p *Pool) int {
	n := 0
	for _, g := range p.Groups {
		n += w.groups.Size(groupPath(c, g))
	}
	return n
}

// settled leaves a node pool in its state.
func (w *lifecycle) settled(c *Cluster, p *Pool, conditions []Condition) {
	name := p.Op
	for _, g := range p.Groups {
		g.Want = nil
	}
	p.Work, p.Ending, p.Repair = managed.Work{}, nil, ""
	w.rows.touchPool(p)
	if op := w.of(c, name); op != nil && op.Pool != "" {
		w.end(c, name, conditions)
		w.release(c)
	}
}

// release lets other operations begin on a cluster.
func (w *lifecycle) release(c *Cluster) {
	c.Op, c.Until, c.Status = "", time.Time{}, running
	w.rows.touchCluster(c)
}

// cancel aborts an upgrade of nodes: what was done stays, and nodes that were cordoned take pods again. A blue-green upgrade is paused: its
// second set of groups stays. One with surge gives its surge back first.
func (w *lifecycle) cancel(c *Cluster, p *Pool) {
	if op := w.of(c, p.Op); op != nil {
		op.Status = opAborting
		w.rows.operations.Touch(op.key())
	}
	if p.Roll != nil && p.Roll.Blue == nil {
		if !w.core.Switches.On(KeepsSurge) {
			w.rolls.cancel(p, nil)
			return
		}
		p.Roll = nil
	}
	w.nodes.Stay(w.groups.machinesOf(c, p), p.Leaving)
	w.finish(c, p, nil)
}

// tickOperation ends an operation that does not exclude others, and drops old ones.
func (w *lifecycle) tickOperation(op *operation) time.Time {
	switch {
	case op.Status == opDone:
		kept := operationsKept
		if w.core.Switches.On(ForgetsOperations) {
			kept = w.core.Life(time.Minute)
		}
		if op.End.Add(kept).Before(w.core.Now) {
			w.rows.operations.Delete(op.key())
		}
		return time.Time{}
	case op.Until.IsZero():
		return time.Time{}
	case op.Until.After(w.core.Now):
		return op.Until
	}
	op.Status, op.End = opDone, w.core.Now
	w.rows.operations.Touch(op.key())
	return time.Time{}
}

func (w *Service) getOperation(x *project.Call) (*project.Answer, error) {
	op, err := w.operation(x)
	if err != nil {
		return nil, err
	}
	return project.OK(w.views.operation(op)), nil
}

// operation finds the operation that a request is about.
func (w *Service) operation(x *project.Call) (*operation, error) {
	op := w.rows.operations.Get("projects/" + x.Vars["project"] + "/locations/" + x.Vars["location"] + "/operations/" + x.Vars["operation"])
	if op == nil {
		return nil, notFound(placed(x.Vars["project"], x.Vars["location"]) + "/operations/" + x.Vars["operation"])
	}
	return op, nil
}

func (w *Service) listOperations(x *project.Call) (*project.Answer, error) {
	all := map[string][]any{}
	for _, op := range w.rows.operations.All() {
		if op.Project == x.Vars["project"] && (x.Vars["location"] == everywhere || x.Vars["location"] == op.Location) {
			all[op.Location] = append(all[op.Location], w.views.operation(op))
		}
	}
	return w.find.listed(x, "operations", all)
}

// cancelOperation aborts an upgrade of nodes. Other operations can't be cancelled.
func (w *Service) cancelOperation(x *project.Call) (*project.Answer, error) {
	op, err := w.operation(x)
	if err != nil {
		return nil, err
	}
	c := w.rows.clusters.Get(op.Cluster)
	p := w.rows.pools.Get(poolKey(op.Cluster, op.Pool))
	if op.Type != "UPGRADE_NODES" || c == nil || p == nil || p.Op != op.Name {
		return nil, precondition("Operation %s is not cancellable.", op.Name)
	}
	w.life.cancel(c, p)
	return project.OK(document.Object{}), nil
}

// Keep keeps an operation of an earlier state about which nothing is done, so that it can be read.
func (w *Service) Keep(from *Service, name string) {
	for key, op := range from.rows.operations.All() {
		if op.Name == name && w.rows.operations.Get(key) == nil {
			kept := *op
			kept.Until = w.core.Now.Add(w.core.Life(lifeChange))
			w.rows.operations.Put(key, &kept)
		}
	}
}

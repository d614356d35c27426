package containerservice

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/state"
)

// The times that things take in life.
const (
	// lifeCreate is what a control plane takes to be made, lifePlane to be upgraded, lifeChange to be changed, started or stopped.
	lifeCreate = 3 * time.Minute
	lifePlane  = 5 * time.Minute
	lifeChange = 10 * time.Second
	// lifeWatch is how often AKS looks at what goes on.
	lifeWatch = 5 * time.Second
	// lifeRetry is how long after a failure the owner of a managed cluster sends the same request once more.
	lifeRetry = 2 * time.Minute
	// lifeJoinLimit is until AKS gives up to wait for nodes of a pool.
	lifeJoinLimit = 20 * time.Minute
	// drainMinutes is how many minutes a node has to drain where a pool does not say.
	drainMinutes = 30
)

// begin starts an operation.
func (w *lifecycle) begin(c *Cluster, pool, name string) *operation {
	op := &operation{Cluster: c.key(), Pool: pool, Operation: arm.Operation{
		ID: w.UUID("operation"), Sub: c.Sub, Location: c.Location, Name: name, Status: arm.InProgress, Start: w.Now,
	}}
	w.operations.Put(op.ID, op)
	return op
}

// beginCluster starts an operation on a cluster whose own part takes so long.
func (w *lifecycle) beginCluster(c *Cluster, state string, life time.Duration) *operation {
	op := w.begin(c, "", state)
	c.Op, c.State, c.Until = op.ID, state, w.Now.Add(w.Life(life))
	w.touchCluster(c)
	return op
}

// beginPool starts an operation on a pool. While one runs on the cluster, it is a part of that: no other may start then.
func (w *lifecycle) beginPool(c *Cluster, p *Pool, state string) *operation {
	op := w.begin(c, p.Name, state)
	p.Op, p.PartOf, p.State, p.Next, p.Until, p.Modeled, p.Roll = op.ID, c.Op, state, w.Now, time.Time{}, false, nil
	p.Leaving = map[string]*leaving{}
	w.touchPool(p)
	return op
}

// end ends an operation; a trouble is why it failed.
func (w *lifecycle) end(id, status string, trouble *arm.Trouble) {
	if op := w.operations.Get(id); op != nil && op.Running() {
		op.Status, op.End, op.Trouble = status, w.Now, trouble
		w.operations.Touch(id)
	}
}

// finish ends the operation of a pool.
func (w *lifecycle) finish(p *Pool, trouble *arm.Trouble) {
	status := arm.Succeeded
	p.State, p.Trouble = stateSucceeded, trouble
	if trouble != nil {
		status, p.State = arm.Failed, stateFailed
	}
	w.end(p.Op, status, trouble)
	p.Op, p.Next, p.Until, p.Roll, p.Leaving = "", time.Time{}, time.Time{}, nil, nil
	w.touchPool(p)
}

// cancel aborts the operation of a pool: what was done stays, and nodes that were closed take pods again.
func (w *lifecycle) cancel(c *Cluster, p *Pool) {
	for _, n := range w.compute.Nodes(w.setKey(c, p)) {
		if p.Leaving[n.Instance] != nil {
			w.nodes.cordon(n.UID, false)
		}
	}
	w.end(p.Op, arm.Canceled, &arm.Trouble{Code: "OperationPreempted", Message: "Operation was aborted by user."})
	p.State, p.Op, p.Next, p.Until, p.Roll, p.Leaving = stateCanceled, "", time.Time{}, time.Time{}, nil, nil
	w.touchPool(p)
}

// cancelCluster aborts the operation of a cluster and those of its pools.
func (w *lifecycle) cancelCluster(c *Cluster) {
	for _, p := range w.poolsOf(c) {
		if p.Op != "" {
			w.cancel(c, p)
		}
	}
	w.end(c.Op, arm.Canceled, &arm.Trouble{Code: "OperationPreempted", Message: "Operation was aborted by user."})
	c.State, c.Op, c.Goal, c.Until = stateCanceled, "", c.Current, time.Time{}
	w.touchCluster(c)
}

// deleteCluster begins to delete a cluster: all that runs on it is canceled.
func (w *lifecycle) deleteCluster(c *Cluster) *operation {
	for _, p := range w.poolsOf(c) {
		if p.Op != "" {
			w.cancel(c, p)
		}
		w.beginPool(c, p, stateDeleting)
	}
	w.end(c.Op, arm.Canceled, &arm.Trouble{Code: "OperationPreempted", Message: "Operation was preempted by a deletion."})
	return w.beginCluster(c, stateDeleting, lifeChange)
}

// switchCluster starts or stops a cluster and all its pools.
func (w *lifecycle) switchCluster(c *Cluster, want string) *operation {
	state := stateStarting
	if want == powerStopped {
		state = stateStopping
	}
	op := w.beginCluster(c, state, lifeChange)
	for _, p := range w.poolsOf(c) {
		// A pool that was stopped by itself stays so.
		if document.Text(p.Doc, "powerState.code") == powerStopped {
			continue
		}
		if want == powerRunning {
			p.Power = powerRunning
		}
		w.beginPool(c, p, state)
	}
	return op
}

// tickCluster brings a cluster to the present, and returns when it has to be looked at again.
func (w *lifecycle) tickCluster(c *Cluster) time.Time {
	switch {
	case c.Op == "":
		return time.Time{}
	case c.Until.After(w.Now):
		return c.Until
	}
	pools := w.poolsOf(c)
	var failed *Pool
	for _, p := range pools {
		if p.Op != "" {
			return w.Now.Add(w.Life(lifeWatch))
		}
		if p.State == stateFailed && p.PartOf == c.Op && failed == nil {
			failed = p
		}
	}
	w.endCluster(c, failed)
	return time.Time{}
}

// endCluster ends the operation of a cluster; failed is the pool whose part in it failed, nil for none.
func (w *lifecycle) endCluster(c *Cluster, failed *Pool) {
	c.Current, c.Trouble = c.Goal, nil
	status, state := arm.Succeeded, stateSucceeded
	if failed != nil && c.State != stateDeleting {
		status, state = arm.Failed, stateFailed
		c.Trouble = &arm.Trouble{Code: "AgentPoolOperationFailed", Message: "The operation of agent pool " + failed.Name + " failed."}
		if failed.Trouble != nil {
			c.Trouble = failed.Trouble
		}
	}
	w.end(c.Op, status, c.Trouble)
	switch c.State {
	case stateDeleting:
		w.Resources.Delete(groupKey(c.Sub, c.nodeGroup()))
		w.clusters.Delete(c.key())
		return
	case stateStopping:
		c.Power = powerStopped
	case stateStarting:
		c.Power = powerRunning
	}
	c.Op, c.Until, c.State = "", time.Time{}, state
	if state == stateFailed {
		c.Until = w.Now.Add(w.Life(lifeRetry))
	}
	w.touchCluster(c)
}

// tickPool brings a pool to the present, and returns when it has to be looked at again.
func (w *lifecycle) tickPool(p *Pool) time.Time {
	c := w.clusters.Get(p.Cluster)
	switch {
	case c == nil || p.Op == "":
		return time.Time{}
	case p.Next.After(w.Now):
		return p.Next
	}
	p.Next = w.Now.Add(w.Life(lifeWatch))
	w.pools.Touch(p.key())
	w.advance(c, p)
	if p.Op == "" || w.pools.Get(p.key()) == nil {
		return time.Time{}
	}
	return p.Next
}

// advance takes the operation of a pool a step further.
func (w *lifecycle) advance(c *Cluster, p *Pool) {
	set := w.setKey(c, p)
	switch p.State {
	case stateDeleting:
		w.nodes.unregister(w.compute.Nodes(set)...)
		w.compute.DeleteManaged(set)
		if !w.compute.HasSet(set) {
			w.finish(p, nil)
			w.pools.Delete(p.key())
		}
		return
	case stateStopping:
		living := w.living(set)
		for _, n := range living {
			w.compute.Remove(set, n.Instance)
		}
		if len(living) == 0 {
			p.Power = powerStopped
			w.finish(p, nil)
		}
		return
	}
	if !p.Modeled {
		p.Modeled, p.Until = true, w.Now.Add(w.Life(lifeJoinLimit))
		w.nodes.model(c, p)
		if p.State == stateUpgrading || p.State == stateImage {
			p.Roll = w.newRoll(p, set)
		}
	}
	if t := w.compute.Failure(set); t != nil && p.State != stateDeletingMachines { // those that failed may be the ones to delete
		w.compute.Adjust(set)
		w.finish(p, &arm.Trouble{Code: "VMSSAgentPoolReconcileFailed", Message: fmt.Sprintf("Agent pool %s: %s: %s", p.Name, t.Code, t.Message)})
		return
	}
	if p.Roll != nil {
		w.rollOn(p, set)
		return
	}
	w.scale(p, set)
}

// living are the machines of a scale set that serve or will: neither being deleted nor deallocated.
func (w *lifecycle) living(set string) []compute.Node {
	var out []compute.Node
	for _, n := range w.compute.Nodes(set) {
		if !n.Deleting && !n.Deallocated {
			out = append(out, n)
		}
	}
	return out
}

// scale brings a pool to its count. Nodes that are too many are drained before they go.
func (w *lifecycle) scale(p *Pool, set string) {
	living, want := w.living(set), p.count()
	if p.Power == powerStopped {
		want = 0
	}
	w.letGo(p, set, living)
	w.reopen(p, living)
	if missing := want - (len(living) - len(p.Leaving)); missing > 0 {
		w.more(p, set, missing, want)
	} else {
		w.fewer(p, living, -missing)
	}
	ready := w.readyOf(living)
	switch {
	case len(p.Leaving) == 0 && len(living) == want && ready == want:
		w.finish(p, nil)
	case state.Due(p.Until, w.Now):
		w.finish(p, notReady(p, want, ready))
	}
}

// fewer begins to drain as many machines, the newest first.
func (w *lifecycle) fewer(p *Pool, living []compute.Node, many int) {
	for i := len(living) - 1; i >= 0 && many > 0; i-- {
		if p.Leaving[living[i].Instance] == nil {
			w.leave(p, living[i], keepsScaledIn(p.Doc))
			many--
		}
	}
}

// keepsScaledIn reports whether a pool deallocates the machines by which it is scaled in, and does not delete them.
func keepsScaledIn(d document.Object) bool { return document.Text(d, "scaleDownMode") == "Deallocate" }

// deleteDeallocated deletes the machines that are deallocated, as AKS does when the scale-down mode becomes Delete.
func (w *Service) deleteDeallocated(set string) {
	for _, n := range w.compute.Nodes(set) {
		if n.Deallocated {
			w.compute.Remove(set, n.Instance)
		}
	}
}

// readyOf counts the machines that are Ready nodes.
func (w *lifecycle) readyOf(list []compute.Node) int {
	ready := 0
	for _, n := range list {
		if w.nodes.ready(n) {
			ready++
		}
	}
	return ready
}

func notReady(p *Pool, want, ready int) *arm.Trouble {
	return &arm.Trouble{Code: "NodesNotReady", Message: fmt.Sprintf("Agent pool %s: %d of %d nodes are not ready: they did not join the "+
		"cluster in time.", p.Name, want-ready, want)}
}

// more starts machines that were deallocated, and then makes new ones.
func (w *lifecycle) more(p *Pool, set string, missing, want int) {
	asleep := 0
	for _, n := range w.compute.Nodes(set) {
		if !n.Deallocated || n.Deleting {
			continue
		}
		if missing > 0 {
			w.compute.Wake(set, n.Instance)
			if p.Woken == nil {
				p.Woken = map[string]bool{}
			}
			p.Woken[n.Instance] = true
			missing--
			continue
		}
		asleep++
	}
	w.compute.GrowTo(set, want+asleep)
}

// reopen opens the nodes of machines that were started again to new pods, once they are Ready: they were closed before they were
// deallocated, and a machine that is off has no node that could be opened.
func (w *lifecycle) reopen(p *Pool, living []compute.Node) {
	for _, n := range living {
		if p.Woken[n.Instance] && w.nodes.ready(n) {
			w.nodes.cordon(n.UID, false)
			delete(p.Woken, n.Instance)
		}
	}
}

// leave begins to drain a machine.
func (w *lifecycle) leave(p *Pool, n compute.Node, release bool) {
	p.Leaving[n.Instance] = &leaving{Since: w.Now, Release: release}
	w.nodes.cordon(n.UID, true)
}

// letGo takes the machines away that have drained, or have had their time.
func (w *lifecycle) letGo(p *Pool, set string, living []compute.Node) {
	here := map[string]bool{}
	for _, n := range living {
		here[n.Instance] = true
		l := p.Leaving[n.Instance]
		if l == nil || !w.nodes.drained(n.UID, l.Since) && w.Now.Before(l.Since.Add(w.Life(drainTime(p)))) {
			continue
		}
		if l.Release {
			w.compute.Release(set, n.Instance)
		} else {
			w.compute.Remove(set, n.Instance)
		}
	}
	for instance := range p.Leaving {
		if !here[instance] {
			delete(p.Leaving, instance)
		}
	}
}

// drainTime is how long a node of a pool has to drain.
func drainTime(p *Pool) time.Duration {
	minutes, given := document.Number(p.Doc, "upgradeSettings.drainTimeoutInMinutes")
	if !given {
		minutes = drainMinutes
	}
	return time.Duration(minutes) * time.Minute
}

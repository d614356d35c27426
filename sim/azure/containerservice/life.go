package containerservice

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// Durations in the real cloud.
const (
	// lifeCreate is the time to create a control plane, lifePlane to upgrade it, lifeChange to change, start or stop it.
	lifeCreate = 3 * time.Minute
	lifePlane  = 5 * time.Minute
	lifeChange = 10 * time.Second
	// lifeRetry is the time after a failure at which the owner of a managed cluster repeats the request.
	lifeRetry = 2 * time.Minute
	// lifeJoinLimit is the time after which AKS gives up waiting for nodes of a pool.
	lifeJoinLimit = 20 * time.Minute
	// drainMinutes is the default drain timeout of a node.
	drainMinutes = 30
)

// begin starts an operation.
func (w *lifecycle) begin(c *Cluster, pool, name string) *operation {
	op := &operation{Cluster: c.key(), Pool: pool, Operation: arm.Operation{
		ID: w.core.UUID("operation"), Sub: c.Sub, Location: c.Location, Name: name, Status: arm.InProgress, Start: w.core.Now,
	}}
	w.rows.operations.Put(op.ID, op)
	return op
}

// beginCluster starts an operation on a cluster whose own part takes so long.
func (w *lifecycle) beginCluster(c *Cluster, state string, life time.Duration) *operation {
	op := w.begin(c, "", state)
	c.Op, c.State, c.Until = op.ID, state, w.core.Now.Add(w.core.Life(life))
	w.rows.touchCluster(c)
	return op
}

// beginPool starts an operation on a pool. While one runs on the cluster, it is a part of that: no other may start then.
func (w *lifecycle) beginPool(c *Cluster, p *Pool, state string) *operation {
	op := w.begin(c, p.Name, state)
	p.Work = managed.Work{Op: op.ID, Next: w.core.Now, Leaving: managed.Departures{}}
	p.PartOf, p.State, p.Modeled, p.Roll = c.Op, state, false, nil
	w.rows.touchPool(p)
	return op
}

// end ends an operation; a trouble is why it failed.
func (w *lifecycle) end(id, status string, trouble *arm.Trouble) {
	if op := w.rows.operations.Get(id); op != nil && op.Running() {
		op.Status, op.End, op.Trouble = status, w.core.Now, trouble
		w.rows.operations.Touch(id)
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
	p.Work, p.Roll = managed.Work{}, nil
	w.rows.touchPool(p)
}

// cancel aborts the operation of a pool: what was done stays, and nodes that were closed take pods again.
func (w *lifecycle) cancel(c *Cluster, p *Pool) {
	w.nodes.Stay(w.living(p, setKey(c, p)), p.Leaving)
	w.end(p.Op, arm.Canceled, &arm.Trouble{Code: "OperationPreempted", Message: "Operation was aborted by user."})
	if p.State == stateStopping && p.Power == powerRunning {
		document.Place(p.Doc, "powerState.code", powerRunning)
	}
	p.State, p.Work, p.Roll = stateCanceled, managed.Work{}, nil
	w.rows.touchPool(p)
}

// cancelCluster aborts the operation of a cluster and those of its pools.
func (w *lifecycle) cancelCluster(c *Cluster) {
	for _, p := range w.rows.poolsOf(c) {
		if p.Op != "" {
			w.cancel(c, p)
		}
	}
	w.end(c.Op, arm.Canceled, &arm.Trouble{Code: "OperationPreempted", Message: "Operation was aborted by user."})
	c.State, c.Op, c.Goal, c.Until = stateCanceled, "", c.Current, time.Time{}
	w.rows.touchCluster(c)
}

// deleteCluster begins to delete a cluster: all that runs on it is canceled.
func (w *lifecycle) deleteCluster(c *Cluster) *operation {
	for _, p := range w.rows.poolsOf(c) {
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
	for _, p := range w.rows.poolsOf(c) {
		// A pool that was stopped by itself stays so.
		if p.stopped() {
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
	case c.Until.After(w.core.Now):
		return c.Until
	}
	pools := w.rows.poolsOf(c)
	var failed *Pool
	for _, p := range pools {
		if p.Op != "" {
			return w.core.Now.Add(w.core.Life(managed.Watch))
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
		w.core.Resources.Delete(groupKey(c.Sub, c.nodeGroup()))
		w.rows.clusters.Delete(c.key())
		return
	case stateStopping:
		c.Power = powerStopped
	case stateStarting:
		c.Power = powerRunning
	}
	c.Op, c.Until, c.State = "", time.Time{}, state
	if state == stateFailed {
		c.Until = w.core.Now.Add(w.core.Life(lifeRetry))
	}
	w.rows.touchCluster(c)
}

// tickPool brings a pool to the present, and returns when it has to be looked at again.
func (w *lifecycle) tickPool(p *Pool) time.Time {
	c := w.rows.clusters.Get(p.Cluster)
	switch {
	case c == nil:
		return time.Time{}
	case p.Op == "":
		w.recount(c, p)
	}
	return w.nodes.Look(&p.Work, func() {
		w.rows.pools.Touch(p.key())
		w.advance(c, p)
	})
}

// recount lowers the count of a pool at rest to its machines, where AKS does that.
func (w *lifecycle) recount(c *Cluster, p *Pool) {
	if !w.core.Switches.On(LowersCount) || p.State != stateSucceeded || p.Power == powerStopped {
		return
	}
	minimum := 0
	if p.system() {
		minimum = 1
	}
	if n := max(minimum, len(w.living(p, setKey(c, p)))); n < p.count() {
		p.Doc["count"] = float64(n)
		w.rows.touchPool(p)
	}
}

// advance takes the operation of a pool a step further.
func (w *lifecycle) advance(c *Cluster, p *Pool) {
	set := setKey(c, p)
	switch p.State {
	case stateDeleting:
		w.remove(p, set)
		return
	case stateStopping:
		living := w.living(p, set)
		for _, m := range living {
			w.compute.Remove(set, m.Key)
		}
		if len(living) == 0 {
			p.Power = powerStopped
			w.finish(p, nil)
		}
		return
	}
	if !p.Modeled {
		p.Modeled, p.Until = true, w.core.Now.Add(w.core.Life(lifeJoinLimit))
		w.models.put(c, p)
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

// remove deletes the machines of a pool with their Nodes, and the pool once they are gone.
func (w *lifecycle) remove(p *Pool, set string) {
	for _, n := range w.compute.Nodes(set) {
		w.nodes.Unregister(n.UID)
	}
	w.compute.DeleteManaged(set)
	if !w.compute.HasSet(set) {
		w.finish(p, nil)
		w.rows.pools.Delete(p.key())
	}
}

// living are the machines of a pool that serve or will: neither being deleted nor deallocated.
func (w *lifecycle) living(p *Pool, set string) []managed.Machine {
	var out []managed.Machine
	for _, n := range w.compute.Nodes(set) {
		if !n.Deleting && !n.Deallocated {
			out = append(out, machineOf(p, n))
		}
	}
	return out
}

// scale brings a pool to its count. Nodes that are too many are drained before they go, the newest first.
func (w *lifecycle) scale(p *Pool, set string) {
	living, want := w.living(p, set), p.count()
	if p.Power == powerStopped {
		want = 0
	}
	w.letGo(p, set, living)
	w.reopen(p, living)
	if missing := want - (len(living) - len(p.Leaving)); missing > 0 {
		w.more(p, set, missing, want)
	} else {
		for _, d := range w.nodes.Fewer(newest(living), p.Leaving, -missing) {
			d.Release = keepsScaledIn(p.Doc)
		}
	}
	ready := w.nodes.CountReady(living)
	switch {
	case len(p.Leaving) == 0 && len(living) == want && ready == want:
		w.finish(p, nil)
	case core.Due(p.Until, w.core.Now):
		w.finish(p, notReady(p, want, ready))
	}
}

// newest returns machines with the newest first.
func newest(machines []managed.Machine) []managed.Machine {
	out := slices.Clone(machines)
	slices.Reverse(out)
	return out
}

// keepsScaledIn reports whether a pool deallocates the machines by which it is scaled in, and does not delete them.
func keepsScaledIn(d document.Object) bool { return document.Text(d, "scaleDownMode") == "Deallocate" }

// deleteDeallocated deletes the machines that are deallocated, as AKS does when the scale-down mode becomes Delete.
func deleteDeallocated(machines *compute.Service, set string) {
	for _, n := range machines.Nodes(set) {
		if n.Deallocated {
			machines.Remove(set, n.Instance)
		}
	}
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
func (w *lifecycle) reopen(p *Pool, living []managed.Machine) {
	for _, m := range living {
		if p.Woken[m.Key] && w.nodes.Ready(m) {
			w.nodes.Uncordon(m.UID)
			delete(p.Woken, m.Key)
		}
	}
}

// letGo takes the machines away that have drained, or have had their time.
func (w *lifecycle) letGo(p *Pool, set string, living []managed.Machine) {
	p.Leaving.Forget(living)
	for _, m := range w.nodes.Gone(living, p.Leaving, managed.Drain{Limit: drainTime(p), Late: managed.LateGoes}) {
		if p.Leaving[m.Key].Release {
			w.compute.Release(set, m.Key)
		} else {
			w.compute.Remove(set, m.Key)
		}
	}
}

// drainTime returns the drain timeout of a pool's nodes.
func drainTime(p *Pool) time.Duration {
	minutes, found := document.Number(p.Doc, "upgradeSettings.drainTimeoutInMinutes")
	if !found {
		minutes = drainMinutes
	}
	return time.Duration(minutes) * time.Minute
}

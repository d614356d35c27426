package compute

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
)

// The times that things take in life.
const (
	// lifeLaunchGap is between two machines that are made one after the other.
	lifeLaunchGap = time.Second
	// lifePower is until a machine starts, lifeProvision until the service calls it made.
	lifePower     = 20 * time.Second
	lifeProvision = 45 * time.Second
	// lifeOSTimeout is until the service gives up to wait for what is inside a machine.
	lifeOSTimeout = 20 * time.Minute
	// lifeChange is what a change of a scale set or a machine takes at least, lifeDelete how long a machine is deleted.
	lifeChange = 5 * time.Second
	lifeDelete = 30 * time.Second
)

// Names of operations on a whole scale set. The first three change what it is, and end each other: the more recent one counts. All
// others are about chosen machines, and run beside them.
const (
	opPut     = "PUT"
	opPatch   = "PATCH"
	opDelete  = "DELETE"
	opRemove  = "removeInstances"
	opUpgrade = "upgradeInstances"
	opRepair  = "repairInstances"
)

// begin starts an operation on a scale set, which is at work until all its operations have ended.
func (w *running) begin(s *scaleSet, name string, machines ...*machine) *operation {
	op := w.newOperation(s, name, machines...)
	whole := name == opPut || name == opPatch || name == opDelete
	if whole || !s.busy() {
		s.Trouble, s.Lacking = nil, cmp.Or(s.Trouble, s.Lacking)
	}
	if whole {
		w.preempt(s, op)
	}
	if whole || s.Op == "" {
		s.Op = op.ID
	}
	s.Ops, s.State = append(s.Ops, op.ID), stateUpdating
	w.changed(s)
	return op
}

// preempt ends the operations on the whole scale set that run, in favor of a more recent one, which waits for their machines too.
func (w *running) preempt(s *scaleSet, by *operation) {
	s.Ops = slices.DeleteFunc(s.Ops, func(id string) bool {
		op := w.operations.Get(id)
		if op == nil || op.Name != opPut && op.Name != opPatch && by.Name != opDelete {
			return op == nil
		}
		op.Status, op.End = arm.Canceled, w.Now
		op.Trouble = &arm.Trouble{Code: "OperationPreempted", Message: "Operation execution has been preempted by a more recent operation."}
		w.operations.Touch(id)
		by.Keys = append(by.Keys, op.Keys...)
		return true
	})
}

// beginOn starts an operation on one machine alone.
func (w *running) beginOn(s *scaleSet, m *machine, name string) *operation {
	op := w.newOperation(s, name, m)
	op.Machine = m.Instance
	m.Op = op.ID
	return op
}

func (w *running) newOperation(s *scaleSet, name string, machines ...*machine) *operation {
	op := &operation{Set: s.key(), Operation: arm.Operation{
		ID: w.UUID("operation"), Sub: s.Sub, Location: s.location(), Name: name, Status: arm.InProgress, Start: w.Now,
		Until: w.Now.Add(w.Life(lifeChange)),
	}}
	for _, m := range machines {
		op.Keys = append(op.Keys, machineKey(m.Set, m.Instance))
	}
	w.operations.Put(op.ID, op)
	return op
}

// wait lets an operation wait for one more machine.
func (w *running) wait(s *scaleSet, m *machine) {
	if op := w.operations.Get(s.Op); op != nil {
		op.Keys = append(op.Keys, machineKey(m.Set, m.Instance))
		w.operations.Touch(op.ID)
	}
}

// tickOperation ends an operation when all that it waits for has come to an end, and returns when it has to be looked at again.
func (w *running) tickOperation(op *operation) time.Time {
	if op.Status != arm.InProgress {
		if op.Forgotten(w.Now) {
			w.operations.Delete(op.ID)
		}
		return time.Time{} // it is forgotten with whatever happens next
	}
	if op.Until.After(w.Now) {
		return op.Until
	}
	s := w.sets.Get(op.Set)
	if s != nil && s.Op == op.ID && s.Launches > 0 || w.waits(op) {
		return time.Time{} // the machines have times of their own
	}
	w.end(op, s)
	return time.Time{}
}

// waits reports whether something still happens to machines of an operation, and takes over why one of them has failed.
func (w *running) waits(op *operation) bool {
	for _, key := range op.Keys {
		m := w.machines.Get(key)
		if m != nil && m.changing() {
			return true
		}
		if m != nil && m.Trouble != nil && op.Trouble == nil && !op.Gone && op.Machine == "" {
			op.Trouble = &arm.Trouble{Code: m.Trouble.Code, Message: m.Trouble.Message, Target: m.Instance}
		}
	}
	return false
}

// end ends an operation, and what it was about is at rest.
func (w *running) end(op *operation, s *scaleSet) {
	op.Status, op.End = arm.Succeeded, w.Now
	if s != nil && s.Op == op.ID {
		s.Op = ""
		op.Trouble = cmp.Or(op.Trouble, s.Trouble)
	}
	if s != nil && op.Machine == "" {
		s.Ops = slices.DeleteFunc(s.Ops, func(id string) bool { return id == op.ID })
		w.settleSet(op, s)
	}
	if op.Machine != "" {
		if m := w.machines.Get(machineKey(op.Set, op.Machine)); m != nil && m.Op == op.ID {
			m.Op = ""
			w.touch(m)
		}
	}
	if op.Trouble != nil {
		op.Status = arm.Failed
	}
	w.operations.Touch(op.ID)
}

// settleSet brings a scale set to rest after its last operation.
func (w *running) settleSet(op *operation, s *scaleSet) {
	switch {
	case op.Gone:
		w.sets.Delete(s.key())
		return
	case s.busy():
		s.Lacking = cmp.Or(op.Trouble, s.Lacking)
		w.changed(s)
		return
	}
	s.State, s.Trouble = stateSucceeded, op.Trouble
	if s.Trouble == nil && len(w.staying(s)) < s.capacity() {
		s.Trouble = s.Lacking // what has failed before is no better for something else that went well
	}
	if s.Trouble != nil {
		s.State = stateFailed
	}
	w.changed(s)
}

// getOperation answers for the status of an operation: at its own address, or at that where its result awaits.
func (w *running) getOperation(x *arm.Call) (*arm.Answer, error) {
	op := w.operations.Get(x.Vars["op"])
	switch {
	case op == nil:
		return nil, arm.UnknownOperation()
	case x.Query.Get("monitor") == "true":
		a, err := op.Result()
		if err == nil && !op.Running() {
			a.Status = http.StatusOK
		}
		return a, err
	}
	a, err := op.Answer(x)
	if err == nil && op.Running() {
		a.After = askAgain
	}
	return a, err
}

// askAgain is how long clients are asked to wait before they look at a running operation again.
const askAgain = 30 * time.Second

// staysOpen refuses a change of a scale set that is being deleted. Other operations that run on it are in no change's way.
func (w *running) staysOpen(s *scaleSet) error {
	if s.deleting() {
		return arm.NotAllowed("Operation 'Update Virtual Machine Scale Set' is not allowed on Virtual Machine Scale Set '%s' since it is "+
			"marked for deletion.", s.Name)
	}
	return nil
}

// unchanging refuses to change a machine that is being deleted, or to which something else happens.
func (m *machine) unchanging() error {
	switch {
	case m.State == stateDeleting:
		return arm.NotAllowed("'Put on Virtual Machine Scale Set VM Instance' is not allowed on Virtual Machine Scale Set VM '%s' "+
			"since it is marked for deletion.", m.Name)
	case m.changing():
		return arm.Busy()
	}
	return nil
}

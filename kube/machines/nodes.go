package machines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// Nodes are the nodes of a workload cluster, of which some belong to Machines: these are drained by deleting their Machine, the others
// directly.
type Nodes struct {
	engine.Nodes
	Doer  *Doer
	Known Index
	// Guards are the controllers that release instances, by provider key, as the decision knew them.
	Guards map[string]pool.Guard
	// Holds are until when users keep the Machines of instances from being replaced; zero is without an end.
	Holds map[string]time.Time
}

// Start starts a step. The drain of an instance that has a Machine is the deletion of the Machine.
func (n Nodes) Start(ctx context.Context, s pool.Step) error {
	if s.Kind != pool.Drain {
		return n.Nodes.Start(ctx, s)
	}
	rest, ask, failed := n.split(s)
	if len(ask) > 0 {
		failed = append(failed, n.delete(ctx, ask))
	}
	if len(rest.Targets) > 0 {
		failed = append(failed, n.Nodes.Start(ctx, rest))
	}
	return joinPartial(s, failed)
}

// joinPartial joins the errors of a step. One that does not name its targets concerns all of them.
func joinPartial(s pool.Step, failed []error) error {
	err := errors.Join(failed...)
	if err == nil {
		return nil
	}
	targets := map[string]bool{}
	for _, e := range failed {
		var partial *engine.PartialError
		switch {
		case e == nil:
		case errors.As(e, &partial):
			maps.Copy(targets, partial.Failed)
		default:
			for _, t := range s.Targets {
				targets[t.ID] = true
			}
		}
	}
	return &engine.PartialError{Failed: targets, Err: err}
}

// deletionRequest is a Machine to delete, and the reason.
type deletionRequest struct {
	machine *Machine
	target  pool.InstanceRef
}

// split divides the targets of a drain into those without a guard, and the Machines to delete for the others. An error names a Machine that
// must not be touched.
func (n Nodes) split(s pool.Step) (rest pool.Step, ask []deletionRequest, failed []error) {
	machines, uids := map[string]*Machine{}, map[string]string{}
	for _, i := range n.Known.Infras {
		machines[i.Key], uids[i.Key] = i.Machine, i.UID
	}
	for _, m := range n.Known.Alone {
		if key := m.waitsFor(); key != "" {
			machines[key] = m
		}
	}
	rest = s
	rest.Targets = nil
	for _, t := range s.Targets {
		key := cloud.ProviderKey(t.ProviderID)
		guard, guarded := n.Guards[key]
		switch m := machines[key]; {
		case !guarded || m == nil || n.direct(guard, m, t):
			rest.Targets = append(rest.Targets, t)
		case m.Deleting:
		case !sameInstance(uids[key], t.UID):
			failed = append(failed, notHandedOn(t, m))
		case m.Paused:
			failed = append(failed, &engine.PartialError{Failed: map[string]bool{t.ID: true},
				Err: fmt.Errorf("instance %s is not drained: it waits for %s", t.ID, m.pausedText())})
		default:
			ask = append(ask, deletionRequest{m, t})
		}
	}
	return rest, ask, failed
}

// direct reports whether the Node of an instance is drained without its Machine: a Machine that drained an earlier Node drains no further
// one, and that of a place is the Machine of the instance which its group puts there when the cloud has terminated this one.
func (n Nodes) direct(g pool.Guard, m *Machine, t pool.InstanceRef) bool {
	return g.Released || n.Doer.Kind.Places && t.Ending && !m.Deleting
}

// sameInstance reports whether two UIDs are those of one instance, as far as they are known.
func sameInstance(a, b string) bool { return a == "" || b == "" || a == b }

// notHandedOn is the error of a drain whose Machine still stands for an earlier instance of the same ID. Its deletion is the drain of that
// one, which is gone: this pass hands the infrastructure machine on to the present instance, and the next one deletes the Machine.
func notHandedOn(t pool.InstanceRef, m *Machine) error {
	return &engine.PartialError{Failed: map[string]bool{t.ID: true}, Err: &engine.ConflictError{Err: fmt.Errorf(
		"instance %s is not drained yet: Machine %s stands for an earlier instance with its ID", t.ID, m.Object.Name)}}
}

// delete deletes Machines, if the cache knows of all that are being deleted already.
func (n Nodes) delete(ctx context.Context, list []deletionRequest) error {
	if err := n.Doer.current(ctx, n.Known.deleting()); err != nil {
		return conflictOf(err)
	}
	var failed []error
	targets := map[string]bool{}
	for _, a := range list {
		if n.Doer.full() {
			break // the drain's next round goes on here
		}
		err := n.Doer.deleteMachine(ctx, a.machine, a.target.Cause)
		if err != nil {
			failed, targets[a.target.ID] = append(failed, conflictOf(err)), true
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &engine.PartialError{Failed: targets, Err: errors.Join(failed...)}
}

// conflictOf marks a conflict with another client's write as what the next pass resolves.
func conflictOf(err error) error {
	if apierrors.IsConflict(err) {
		return &engine.ConflictError{Err: err}
	}
	return err
}

// deleting are the Machines that are known to be being deleted.
func (k Index) deleting() map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, i := range k.Infras {
		if i.Machine != nil && i.Machine.Deleting {
			out[i.Machine.Object.UID] = true
		}
	}
	for _, m := range k.Alone {
		if m.Deleting {
			out[m.Object.UID] = true
		}
	}
	return out
}

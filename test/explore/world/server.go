package world

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/oracle"
)

// APIKind is what a fault of an API server does to a request.
type APIKind string

// The faults of API servers.
const (
	// Conflict refuses a write because another client was faster.
	Conflict APIKind = "conflict"
	// Refused is an internal error before anything is done.
	Refused APIKind = "refused"
	// TimedOut does what was asked and answers with a timeout; Lost does it and closes the connection.
	TimedOut APIKind = "timed out"
	Lost     APIKind = "reply lost"
)

// APIFault is one rule: the next Times writes but Skip to one of the API servers fail.
type APIFault struct {
	Kind APIKind
	// Workload is the workload cluster's server, otherwise it is the management cluster's.
	Workload    bool
	Skip, Times int
}

func (f APIFault) String() string {
	where := "management"
	if f.Workload {
		where = "workload"
	}
	return fmt.Sprintf("%s %s skip=%d times=%d", where, f.Kind, f.Skip, f.Times)
}

// strike is the kind of the fault that meets a write now, if one does.
func (w *World) strike(workload bool) APIKind {
	for k := range w.apiFaults {
		f := &w.apiFaults[k]
		switch {
		case f.Workload != workload || f.Times == 0:
		case f.Skip > 0:
			f.Skip--
		default:
			f.Times--
			w.faults++
			return f.Kind
		}
	}
	return ""
}

// gate carries the requests of a process to an API server: an outage and faults meet them here, every write is an effect
// at which the process may die, and bodies are looked through for secrets.
func (p *process) gate(workload bool) memapi.Gate {
	name := "mgmt"
	if workload {
		name = "wl"
	}
	return func(_ context.Context, op memapi.Op, do func() error) error {
		if p.dead {
			return errKilled
		}
		if workload && p.world.Workload.Away() {
			return apierrors.NewServiceUnavailable("the server is out of reach")
		}
		if !op.Write {
			return do()
		}
		text := fmt.Sprintf("%s %s %s %s %s", name, op.Verb, op.Kind+slash(op.Subresource), op.Key, op.Body)
		p.world.Secrets("a write to the API", op.Body)
		return p.effect(text, func() error {
			p.world.lives(workload, op)
			begins := p.drains(workload, op)
			p.condemns(workload, op)
			err := p.world.meet(workload, op, do)
			begins()
			p.spares(workload, op)
			if workload && p.world.Workload.Lifts(op) {
				p.world.Blame("foreign", "node %s was uncordoned, which a user has cordoned", op.Key.Name)
			}
			if !workload {
				p.world.keeper.Greet(op)
				p.world.rotation.check(p.world, op)
				p.world.quarrel.check(p.world, op)
			}
			p.world.Trace("api", "%s%s -> %s", p.name, text, answer(err))
			return err
		})
	}
}

// lives looks at a Node that is to be deleted.
func (w *World) lives(workload bool, op memapi.Op) {
	if workload && op.Verb == "delete" && op.Kind == "Node" && !w.deleted() {
		w.blameAll("living node", oracle.LivingNode(op.Key.Name, w.Workload.MachineOf(op.Key.Name), w.Snapshot()))
	}
}

func slash(sub string) string {
	if sub == "" {
		return ""
	}
	return "/" + sub
}

func answer(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// meet does what was asked unless a fault says otherwise.
func (w *World) meet(workload bool, op memapi.Op, do func() error) error {
	what := schema.GroupResource{Resource: op.Kind}
	switch kind := w.strike(workload); kind {
	case Conflict:
		if op.Verb == "create" {
			return apierrors.NewInternalError(errPlayed)
		}
		return apierrors.NewConflict(what, op.Key.Name, errPlayed)
	case Refused:
		return apierrors.NewInternalError(errPlayed)
	case TimedOut, Lost:
		if err := do(); err != nil {
			return err
		}
		if kind == Lost {
			return fmt.Errorf("%s %s: %w", op.Verb, op.Key, errPlayed)
		}
		return apierrors.NewTimeoutError("played by the explorer", 0)
	}
	return do()
}

// Package apifault injects the faults of API servers into the requests of a manager: errors, lost replies, missing permissions, and status
// fields that an older definition lacks.
package apifault

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/test/memapi"
)

// Kind names the effect of an API server fault on a request.
type Kind string

// The faults of API servers.
const (
	// Conflict refuses a write because another client was faster.
	Conflict Kind = "conflict"
	// Refused is an internal error before anything is done.
	Refused Kind = "refused"
	// TimedOut performs the request and responds with a timeout; Lost performs it and closes the connection.
	TimedOut Kind = "timed out"
	Lost     Kind = "reply lost"
	// Denied refuses the verb on the kind of objects: the manager has lost a right.
	Denied Kind = "denied"
	// Invalid refuses each status of the kind of objects: an older definition does not allow it.
	Invalid Kind = "status refused"
	// Pruned accepts each status of the kind of objects without one of its fields, which an older definition does not know.
	Pruned Kind = "status pruned"
	// EachConflict refuses the first write to each object because another client was faster.
	EachConflict Kind = "conflict each"
)

// Fault is one rule.
type Fault struct {
	Kind Kind
	// Workload is the workload cluster's server, otherwise it is the management cluster's.
	Workload bool
	// Of the writes that match, Skip are left alone, and the next Times fail. Those of Denied, Invalid, Pruned and EachConflict fail until
	// all faults end.
	Skip, Times int
	// On is the kind of objects of Denied, Invalid and Pruned, Verb the verb of Denied, Field the field of Pruned.
	On, Verb, Field string
}

func (f Fault) String() string {
	where := "management"
	if f.Workload {
		where = "workload"
	}
	if f.lasts() {
		return fmt.Sprintf("%s %s %s %s %s", where, f.Kind, f.Verb, f.On, f.Field)
	}
	return fmt.Sprintf("%s %s skip=%d times=%d", where, f.Kind, f.Skip, f.Times)
}

// lasts reports whether the fault stays until all end.
func (f Fault) lasts() bool {
	return slices.Contains([]Kind{Denied, Invalid, Pruned, EachConflict}, f.Kind)
}

// errPlayed is the cause of all refusals that are played.
var errPlayed = errors.New("played by the explorer")

// Faults are those in force.
type Faults struct {
	list []Fault
	// met are the objects whose first write was refused.
	met map[string]bool
	// Prune takes a field out of the status of an object.
	Prune func(op memapi.Op, field string)
	// Played counts what was met.
	Played int
}

// Add puts a fault into force, Clear takes all out.
func (fs *Faults) Add(f Fault) { fs.list = append(fs.list, f) }

// Clear takes all faults out of force.
func (fs *Faults) Clear() { fs.list, fs.met = nil, nil }

// Lasting reports whether a fault is in force that stays until all end.
func (fs *Faults) Lasting() bool { return slices.ContainsFunc(fs.list, Fault.lasts) }

// next returns the fault that meets a request now; its kind is empty if none does.
func (fs *Faults) next(workload bool, op memapi.Op) Fault {
	for k := range fs.list {
		f := &fs.list[k]
		switch {
		case f.Workload != workload:
		case f.lasts():
			if fs.matches(*f, op) {
				fs.Played++
				return *f
			}
		case !op.Write || f.Times == 0:
		case f.Skip > 0:
			f.Skip--
		default:
			f.Times--
			fs.Played++
			return *f
		}
	}
	return Fault{}
}

// matches reports whether a lasting fault meets a request.
func (fs *Faults) matches(f Fault, op memapi.Op) bool {
	switch f.Kind {
	case Denied:
		return op.Kind == f.On && op.Verb == f.Verb && op.Subresource == ""
	case Invalid, Pruned:
		return op.Write && op.Kind == f.On && op.Subresource == "status"
	}
	object := op.Kind + op.Subresource + op.Key.String()
	if !op.Write || op.Verb == "create" || fs.met[object] {
		return false
	}
	if fs.met == nil {
		fs.met = map[string]bool{}
	}
	fs.met[object] = true
	return true
}

// Meet performs the request unless a fault prevents it.
func (fs *Faults) Meet(workload bool, op memapi.Op, do func() error) error {
	what := schema.GroupResource{Resource: op.Kind}
	switch f := fs.next(workload, op); f.Kind {
	case Conflict, EachConflict:
		if op.Verb == "create" {
			return apierrors.NewInternalError(errPlayed)
		}
		return apierrors.NewConflict(what, op.Key.Name, errPlayed)
	case Refused:
		return apierrors.NewInternalError(errPlayed)
	case Denied:
		return apierrors.NewForbidden(what, op.Key.Name, errPlayed)
	case Invalid:
		return apierrors.NewInvalid(schema.GroupKind{Kind: op.Kind}, op.Key.Name, nil)
	case Pruned:
		err := do()
		if err == nil {
			fs.Prune(op, f.Field)
		}
		return err
	case TimedOut, Lost:
		if err := do(); err != nil {
			return err
		}
		if f.Kind == Lost {
			return fmt.Errorf("%s %s: %w", op.Verb, op.Key, errPlayed)
		}
		return apierrors.NewTimeoutError("played by the explorer", 0)
	}
	return do()
}

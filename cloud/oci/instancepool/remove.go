package instancepool

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// exactly reads the pool anew unless it was read right before, and returns a conflict if it does not show the size that was requested last.
func (w *writer) exactly(ctx context.Context) (*core.InstancePool, error) {
	if w.p.memory.read.at.Before(w.p.now) || w.p.memory.read.membersAt.Before(w.p.now) {
		if err := finder(*w).readAgain(ctx, 0); err != nil {
			return nil, err
		}
	}
	is, err := w.there()
	if err != nil {
		return nil, err
	}
	return is, w.p.memory.size.Check(w.p.t.labelOf(w.p.t.name), value(is.Size), w.p.now, visibleWithin)
}

// detach detaches and terminates exactly the instances of the step, each by a request of its own. Each lowers the size by one, or has the
// pool launch another. The requests have no retry token: OCI detaches an instance once, and a token would have it ignore a second request
// for a day whatever became of the first. Where OCI takes no other change while it detaches one, the others are left to the next pass.
func (w *writer) detach(ctx context.Context, s pool.Step, decrement bool) error {
	is, err := w.exactly(ctx)
	if err != nil {
		return err
	}
	chosen := w.chosen(s)
	if len(chosen) == 0 {
		return nil
	}
	size, surge := value(is.Size), w.p.surge()
	w.p.touched()
	for k, id := range chosen {
		_, err := w.p.c.Core.DetachInstancePoolInstance(ctx, core.DetachInstancePoolInstanceRequest{InstancePoolId: is.Id,
			Body: &core.DetachInstancePoolInstanceDetails{InstanceId: new(id), IsAutoTerminate: new(true), IsDecrementSize: new(decrement)}})
		if driverkit.MayHaveHappened(err) {
			w.p.memory.removals.Accept(id, w.p.now, visibleWithin)
			w.p.memory.holds.set(id, func(held *hold) { held.requested = w.p.now })
			if decrement {
				size--
				w.p.memory.removal = surge.Without(chosen[:k+1])
				w.p.memory.size.Note(size, w.p.now, nil)
			}
		}
		switch code := cloud.CodeOf(err); {
		case code == session.CodeConflict:
			continue // it leaves the pool already
		case k > 0 && cloud.KindOf(err) == cloud.Conflict:
			return nil
		case err != nil:
			return w.orDetached(ctx, err, id)
		}
	}
	return nil
}

// chosen returns the instances that a step names, as far as they stay.
func (w *writer) chosen(s pool.Step) (ids []string) {
	for _, m := range w.p.memory.read.members {
		if m.staying() && slices.ContainsFunc(s.Targets, func(i pool.InstanceRef) bool { return i.ID == m.id }) {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// orDetached returns the refusal of a request about an instance as a conflict if the pool does not have it any more. Any other 404 is a
// denial.
func (w *writer) orDetached(ctx context.Context, err error, id string) error {
	if !session.NotFound(err) {
		return err
	}
	if failed := finder(*w).readAgain(ctx, 0); failed != nil {
		return err
	}
	stays := slices.ContainsFunc(w.p.memory.read.members, func(m member) bool { return m.id == id && m.staying() })
	return driverkit.VanishedAs(err, !stays)
}

// release lets the hook go on with the termination of instances. One that it does not hold is released already.
func (w *writer) release(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	for _, target := range s.Targets {
		if w.p.memory.holds.of(is, target.ID) == nil {
			continue
		}
		_, err := w.p.c.Core.TerminationProceedInstancePoolInstance(ctx, core.TerminationProceedInstancePoolInstanceRequest{
			InstancePoolId: is.Id, Body: &core.TerminationProceedInstancePoolInstanceDetails{InstanceId: new(target.ID)}})
		switch {
		case err == nil, cloud.CodeOf(err) == session.CodeIncorrectState, cloud.CodeOf(err) == session.CodeConflict:
			w.p.memory.holds.set(target.ID, func(held *hold) { held.released = w.p.now })
		case session.NotFound(err):
			if err := w.orReleased(ctx, err, target.ID); err != nil {
				return err
			}
		default:
			return err
		}
	}
	w.p.memory.read.at = time.Time{}
	return nil
}

// orReleased returns the refusal of a release, or nil if the instance is gone.
func (w *writer) orReleased(ctx context.Context, err error, id string) error {
	if failed := finder(*w).readAgain(ctx, 0); failed != nil {
		return failed
	}
	if slices.ContainsFunc(w.p.memory.read.members, func(m member) bool { return m.id == id }) {
		return err
	}
	return nil
}

package aws

import (
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/members"
	"github.com/muster-project/muster/pool"
)

// terminate terminates exactly the given instances. A removal lowers the group's size by one in the same call; otherwise the group launches
// another in the place of each, unless it did so when the instance was put into standby.
func (w *writer) terminate(ctx context.Context, s pool.Step, lower bool) error {
	if err := asg.NoMoreThan(asg.RemoveBatch, s.Targets, "terminate"); err != nil {
		return err
	}
	if err := w.upToDate(); err != nil {
		return err
	}
	size := w.memory.group.size()
	w.memory.touchedMembers()
	return asg.Termination{
		Session: w.c, Now: w.now, Group: w.t.group, Size: size, Lower: lower, RequestedSize: &w.memory.asked, Going: w.going,
		Took: func(id string) { w.memory.holds.Request(id, w.now) },
	}.Terminate(ctx, s.Targets)
}

// going reads the group again, and reports whether an instance is being terminated already, or gone.
func (w *writer) going(ctx context.Context, id string) (bool, error) {
	defer w.memory.touchedMembers()
	if err := w.group(ctx); err != nil || w.memory.group.is == nil {
		return err == nil, err
	}
	i := asg.Member(w.memory.group.is, id)
	return i == nil || !asg.Present(*i), nil
}

// enterStandby takes instances out of service and out of the group's count, and leaves its size as it is: the group launches others in
// their place while they run on. They are tagged first. To tag from an old list would claim an instance that another client put into
// standby meanwhile.
func (w *writer) enterStandby(ctx context.Context, s pool.Step) error {
	if err := asg.NoMoreThan(asg.StandbyBatch, s.Targets, "set aside"); err != nil {
		return err
	}
	ids, err := members.InService(w.memory.group.is, s.Targets)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := w.memory.members.MarkStandby(ctx, w.client(), ids, w.t.Owner); err != nil {
		return err
	}
	w.memory.touchedMembers()
	w.memory.resized = w.now
	if err = w.memory.members.EnterStandby(ctx, w.client(), ids); cloud.KindOf(err) == cloud.Invalid {
		return w.confirmStandby(ctx, s, err)
	}
	return err
}

// confirmStandby reads whether the service rejected the request only because the list was old: an instance was in standby, or being
// terminated, already. If some are still in service, the conflict has them requested again, from a new list.
func (w *writer) confirmStandby(ctx context.Context, s pool.Step, refused error) error {
	if err := w.group(ctx); err != nil {
		return err
	}
	if ids, err := members.InService(w.memory.group.is, s.Targets); err != nil || len(ids) == 0 {
		return err
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "NotInService",
		Message: "the group's instances have changed meanwhile: " + refused.Error()}
}

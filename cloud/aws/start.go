package aws

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/refresh"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool. What it needs to know it has read first.
type writer struct{ reader }

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*writer]{
	pool.PutTemplate:           (*writer).putTemplate,
	pool.CreateGroup:           (*writer).createGroup,
	pool.Adopt:                 (*writer).adopt,
	pool.UpdateGroup:           (*writer).updateGroup,
	pool.Resize:                (*writer).resize,
	pool.Remove:                func(w *writer, ctx context.Context, s pool.Step) error { return w.terminate(ctx, s, true) },
	pool.Replace:               func(w *writer, ctx context.Context, s pool.Step) error { return w.terminate(ctx, s, false) },
	pool.EnterStandby:          (*writer).enterStandby,
	pool.StartProviderRollout:  (*writer).startRefresh,
	pool.CancelProviderRollout: (*writer).cancelRefresh,
	pool.Release:               onHolds((*lifecycle.Holds).Release),
	pool.Renew:                 onHolds((*lifecycle.Holds).Renew),
	pool.EnsurePrerequisites:   (*writer).ensurePrerequisites,
	pool.DefaultTemplate: onTemplate(func(ctx context.Context, l launch.Pass, s pool.Step) error {
		return l.SetDefault(ctx, s.Template)
	}),
	pool.PruneTemplates:  onTemplate(func(ctx context.Context, l launch.Pass, s pool.Step) error { return l.Prune(ctx, s.Refs) }),
	pool.DeleteGroup:     (*writer).deleteGroup,
	pool.DeleteTemplates: (*writer).deleteTemplates,
}

// step begins one step.
type step = func(w *writer, ctx context.Context, s pool.Step) error

// onTemplate returns a step that concerns the launch template alone, which must be the pool's own.
func onTemplate(do func(ctx context.Context, l launch.Pass, s pool.Step) error) step {
	return func(w *writer, ctx context.Context, s pool.Step) error {
		if err := driverkit.Owned(w.launch.Foreign()); err != nil {
			return err
		}
		return do(ctx, w.launch, s)
	}
}

// onHolds returns a step that concerns instances which the drain hook holds.
func onHolds(do func(h *lifecycle.Holds, ctx context.Context, c asg.Client, targets []pool.InstanceRef) error) step {
	return func(w *writer, ctx context.Context, s pool.Step) error {
		w.memory.touchedMembers()
		return do(&w.memory.holds, ctx, w.client(), s.Targets)
	}
}

// look reads the group and the template, unless they have been read. For a step that chooses instances their list must be as new as can be.
func (w *writer) look(ctx context.Context, s pool.Step) error {
	choosing := s.Kind == pool.EnterStandby || s.Kind == pool.StartProviderRollout
	if choosing && w.now.Sub(w.memory.group.at) > session.SameMoment {
		w.memory.group = groupRead{}
	}
	return w.all(ctx)
}

// adopt writes the owner tags to the group, in one call: that decides whose it is, also among pools that adopt it at the same time. The
// next look shows which of them has it, and what belongs to the group follows (untagged).
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	if is := w.memory.group.is; is != nil && w.t.owns(is) {
		return nil
	}
	if err := w.ownership().Adoptable(w.templates().unowned(w.t, w.memory.group)); err != nil {
		return err
	}
	w.memory.touchedGroup()
	return w.client().PutTags(ctx, session.OwnerTags(w.t.Owner), desired.Bookkeeping)
}

// ensurePrerequisites tags what follows an adopted group, and creates what the group needs beside its template.
func (w *writer) ensurePrerequisites(ctx context.Context, s pool.Step) error {
	is := w.memory.group.is
	if is == nil || len(w.untagged(is)) == 0 {
		return onTemplate(func(ctx context.Context, l launch.Pass, s pool.Step) error {
			return l.EnsurePrerequisites(ctx, s.Fields)
		})(w, ctx, s)
	}
	if launch.FollowsGroup(w.launch, w.templates().ref(asg.LaunchedFrom(is))) != "" {
		if err := launch.TakeOver(ctx, w.launch); err != nil {
			return err
		}
	}
	return w.memory.members.Tag(ctx, w.client(), w.memory.members.Untagged(is), session.OwnerTags(w.t.Owner))
}

// createGroup creates the group.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.want(ctx)
	if err != nil {
		return err
	}
	from, err := specification(s.Template)
	if err != nil {
		return err
	}
	w.memory.touchedGroup()
	w.memory.resized = w.now
	_, err = w.c.AutoScaling.CreateAutoScalingGroup(ctx, want.group.Create(w.t.group, s.Size, from))
	if err = session.Refusal(err, w.now); cloud.CodeOf(err) == "AlreadyExists" {
		return w.confirmGroupCreated(ctx, err)
	}
	if err == nil {
		w.memory.refreshes, w.memory.hooks = refresh.None(w.now), lifecycle.Created(want.group.Hooks, w.now)
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.made = w.now
	}
	return err
}

// confirmGroupCreated reads whether a group that exists already was created by an earlier request, whose reply was lost.
func (w *writer) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, w.group(ctx), func() bool {
		is := w.memory.group.is
		return is != nil && w.t.owns(is) && !asg.Deleting(is)
	})
}

// specification returns a template's version as a group names it: by ID and number, never by an alias that moves.
func specification(name string) (*asgtypes.LaunchTemplateSpecification, error) {
	id, number, err := launch.ParseRef(name)
	if err != nil {
		return nil, err
	}
	return &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: &number}, nil
}

// resize requests a number of instances, now and not after the cooldown.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	size := int32(s.Size)
	if w.memory.group.is != nil && s.Size < w.memory.group.size() {
		if err := w.upToDate(); err != nil {
			return err
		}
		if err := w.removesNone(ctx, s.Size); err != nil {
			return err
		}
	}
	w.memory.touchedMembers()
	w.memory.resized = w.now
	_, err := w.c.AutoScaling.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: &w.t.group, DesiredCapacity: &size, HonorCooldown: new(false),
	})
	err = session.Refusal(err, w.now)
	w.memory.asked.Note(s.Size, w.now, err)
	return err
}

// lookLasts is the time after a read of the group within which its size may be lowered to the number of instances that were read.
const lookLasts = 5 * time.Second

// removesNone returns an error if a lower size would remove instances: the service would choose which. Replies may have been slow, so that
// instances were launched since the read, and an instance that was moved to standby may be in service all the same.
func (w *writer) removesNone(ctx context.Context, size int) error {
	is := w.memory.group.is
	if w.now.Sub(w.memory.group.at) >= lookLasts {
		var err error
		if is, _, err = w.c.Group(ctx, w.t.group, 0); err != nil {
			return err
		}
	}
	if is != nil && asg.Members(is) <= size {
		return nil
	}
	w.memory.touchedGroup()
	return &cloud.Error{Kind: cloud.Conflict, Code: "SizeNotShown", Message: fmt.Sprintf(
		"Auto Scaling group %s was to get a size of %d and has more machines: the service would choose those that go", w.t.group, size)}
}

// upToDate returns an error unless the group shows the size that was last requested: what is removed is chosen from the instances that
// exist after all requests.
func (w *writer) upToDate() error {
	if w.memory.group.is == nil {
		return nil
	}
	err := w.memory.asked.Check("Auto Scaling group "+w.t.group, w.memory.group.size(), w.now, session.VisibleWithin)
	if err != nil {
		w.memory.touchedGroup()
	}
	return err
}

// deleteGroup deletes the group with its instances, if it is the pool's. A group is deleted with its instances in standby, and those that
// Muster put there are drained first: while it is unknown whether there are such, it returns EC2's refusal to describe them.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if is := w.memory.group.is; w.memory.members.StandbyUnknown(is) {
		if err := w.memory.members.Read(ctx, w.client(), is, w.t.Owner); err != nil {
			return err
		}
	}
	// Even without a reply it may not exist any more.
	w.memory.made = time.Time{}
	w.memory.touchedGroup()
	_, err := w.c.AutoScaling.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{
		AutoScalingGroupName: &w.t.group, ForceDelete: new(true),
	})
	err = session.Refusal(err, w.now)
	// Credentials that allow by tags are denied a group that does not exist any more.
	if session.Absent(err) || cloud.KindOf(err) == cloud.Denied && w.group(ctx) == nil && w.memory.group.is == nil {
		return nil
	}
	return err
}

// putTemplate creates the template with its first version, or a new version of it.
func (w *writer) putTemplate(ctx context.Context, s pool.Step) error {
	return onTemplate(func(ctx context.Context, l launch.Pass, s pool.Step) error {
		want, err := w.want(ctx)
		if err != nil {
			return err
		}
		return l.Put(ctx, want.template, s.Base, w.templates().predecessor(s.Base, w.memory.group.is))
	})(w, ctx, s)
}

// predecessor returns what was there before a new version: the newest version, or, if the template was deleted under a group, what that
// group still names. It tells a repeated request from a new one with the same content.
func (l templates) predecessor(base string, is *asgtypes.AutoScalingGroup) string {
	if base == "" && is != nil {
		return l.ref(asg.LaunchedFrom(is))
	}
	return base
}

// deleteTemplates deletes the template with all its versions, if it is the pool's. A group of another owner with the pool's name does not
// prevent that, unless it launches from the template.
func (w *writer) deleteTemplates(ctx context.Context, _ pool.Step) error {
	if w.templates().foreignLaunches(w.t, w.memory.group) {
		return driverkit.Owned(w.ownership().Conflict())
	}
	return w.launch.Delete(ctx)
}

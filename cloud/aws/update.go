package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// updateGroup repairs the fields that drifted, and has the group launch from another template if the step names one. It never changes the
// group's size.
func (w *writer) updateGroup(ctx context.Context, s pool.Step) error {
	is := w.memory.group.is
	if is == nil {
		return &cloud.Error{Kind: cloud.Conflict, Code: "NoGroup",
			Message: "Auto Scaling group " + w.t.group + " is gone: there is nothing to update"}
	}
	// A failed look-up prevents only the repair of what depends on it.
	want, err := w.want(ctx)
	if err != nil && want.group.Subnets == nil && slices.Contains(s.Fields, desired.FieldSubnets) {
		return err
	}
	if err := w.memory.hooks.Read(ctx, w.client(), is); err != nil {
		return err
	}
	existing := w.memory.hooks
	from, err := w.templates().next(s, is)
	if err != nil {
		return err
	}
	if slices.Contains(s.Fields, desired.FieldHooks) {
		w.memory.touchedGroup()
	} else {
		w.memory.touchedMembers()
	}
	if input := want.group.Update(is, s.Fields, from); input != nil {
		if _, err := w.c.AutoScaling.UpdateAutoScalingGroup(ctx, input); err != nil {
			return session.Refusal(err, w.now)
		}
	}
	return repairer{w}.repair(ctx, s.Fields, is, existing, want.group)
}

// next returns what the group shall launch from, if the step names another template or the policy around the template changes; nil
// otherwise.
func (l templates) next(s pool.Step, is *asgtypes.AutoScalingGroup) (*asgtypes.LaunchTemplateSpecification, error) {
	current := l.ref(asg.LaunchedFrom(is))
	switch {
	case s.Template != "" && s.Template != current:
		return specification(s.Template)
	case slices.Contains(s.Fields, desired.FieldMixed):
		return specification(current)
	}
	return nil, nil
}

// repairer repairs fields of the group that have requests of their own.
type repairer struct{ *writer }

// repair repairs those of the given fields.
func (r repairer) repair(ctx context.Context, fields []string, is *asgtypes.AutoScalingGroup, existing lifecycle.Hooks,
	want desired.Group) error {
	for _, one := range []struct {
		field string
		do    func() error
	}{
		{desired.FieldTags, func() error { return r.updateTags(ctx, is, want) }},
		{desired.FieldHooks, func() error { return r.updateHooks(ctx, is, existing, want) }},
		{desired.FieldProcesses, func() error { return r.updateProcesses(ctx, is, want) }},
		{desired.FieldProtection, func() error { return r.unprotect(ctx, is) }},
	} {
		if !slices.Contains(fields, one.field) {
			continue
		}
		if err := one.do(); err != nil {
			return err
		}
	}
	return nil
}

// updateTags removes and puts tags of the specification.
func (r repairer) updateTags(ctx context.Context, is *asgtypes.AutoScalingGroup, want desired.Group) error {
	missing := want.MissingTags(is)
	for _, name := range r.t.additionalTags() {
		if _, put := missing[name]; put {
			r.memory.tagged.Note(r.now, name)
		}
	}
	return r.changeTags(ctx, missing, want.SurplusTags(is))
}

// changeTags removes tags from the group, then puts others, the bookkeeping in the same request.
func (r repairer) changeTags(ctx context.Context, put map[string]string, remove []string) error {
	if err := r.client().DeleteTags(ctx, remove, desired.Bookkeeping); err != nil {
		return err
	}
	return r.client().PutTags(ctx, put, desired.Bookkeeping)
}

// mark writes bookkeeping tags where they change.
func (r repairer) mark(ctx context.Context, is *asgtypes.AutoScalingGroup, marks desired.Marks) error {
	put, remove := marks.Changes(asg.Tags(is))
	return r.changeTags(ctx, put, remove)
}

// updateHooks writes the bookkeeping of hooks, then puts and removes hooks. The next pass removes the marks of what was removed. Hooks that
// could not be listed are left as they are.
func (r repairer) updateHooks(ctx context.Context, is *asgtypes.AutoScalingGroup, existing lifecycle.Hooks, want desired.Group) error {
	if existing.Refused.Err != nil {
		return existing.Refused.Err
	}
	changes := existing.Changes(want.Hooks, desired.HookMarks(is))
	if err := r.mark(ctx, is, want.HookMarks(changes, r.memory.written.Names(r.now))); err != nil {
		return err
	}
	return r.memory.written.Apply(ctx, r.client(), existing, changes)
}

// updateProcesses writes the bookkeeping of processes, then suspends and resumes processes. What the bookkeeping does not show yet is
// suspended by a later pass: if Auto Scaling ignored the tag, the process would be taken for one that another client has suspended, and
// would never be resumed.
func (r repairer) updateProcesses(ctx context.Context, is *asgtypes.AutoScalingGroup, want desired.Group) error {
	suspend, resume := want.Processes(is)
	if err := r.mark(ctx, is, want.ProcessMarks(resume)); err != nil {
		return err
	}
	if len(suspend) > 0 && desired.Recorded(is, suspend) {
		_, err := r.c.AutoScaling.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: &r.t.group,
			ScalingProcesses: suspend})
		if err != nil {
			return session.Refusal(err, r.now)
		}
	}
	if len(resume) > 0 {
		_, err := r.c.AutoScaling.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: &r.t.group,
			ScalingProcesses: resume})
		if err != nil {
			return session.Refusal(err, r.now)
		}
	}
	return nil
}

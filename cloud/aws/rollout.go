package aws

import (
	"cmp"
	"context"
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/members"
	"github.com/muster-project/muster/cloud/aws/refresh"
	"github.com/muster-project/muster/pool"
)

// startRefresh begins a refresh to exactly the step's template, by its number. The service tells instances apart by version, and would also
// replace those of another version with the same content: they are protected meanwhile (see package members). An older version with that
// content is never pinned in place of the newest to spare them: its bootstrap token may have expired.
func (w *writer) startRefresh(ctx context.Context, s pool.Step) error {
	from, err := specification(s.Template)
	if err != nil {
		return err
	}
	s.ReplaceMatching = s.ReplaceMatching || w.replacesSameVersion(s)
	kept, err := w.keepOthers(ctx, s)
	if err != nil {
		return err
	}
	w.memory.touchedRefreshes()
	err = refresh.Start(ctx, w.client(), desired.Refresh(w.t.pool.MixedInstancesPolicy, from),
		refresh.Preferences(w.t.pool.RefreshPreferences, kept, s.ReplaceMatching))
	if cloud.CodeOf(err) == refresh.CodeInProgress {
		return w.confirmRolloutStarted(ctx, s, err)
	}
	return err
}

// replacesSameVersion reports whether the refresh of a group whose policy names the types is for an instance of the version that it rolls
// to, of a type that the group does not launch any more: the service may take it for one that matches.
func (w *writer) replacesSameVersion(s pool.Step) bool {
	is := w.memory.group.is
	return is != nil && is.MixedInstancesPolicy != nil && slices.ContainsFunc(is.Instances, func(i asgtypes.Instance) bool {
		return w.templates().ref(i.LaunchTemplate) == s.Template &&
			slices.ContainsFunc(s.Targets, func(t pool.InstanceRef) bool { return t.ID == *i.InstanceId })
	})
}

// keepOthers protects the instances that the refresh is not for, and removes the protection from those that it is for where that is
// Muster's, or where the pool wants protected instances replaced. It reports whether the refresh has to ignore protected instances.
func (w *writer) keepOthers(ctx context.Context, s pool.Step) (kept bool, err error) {
	is, m := w.memory.group.is, &w.memory.members
	if is == nil || len(s.Targets) == 0 {
		return false, nil
	}
	if err := m.Read(ctx, w.client(), is, w.t.Owner); err != nil {
		return false, err
	}
	keep, protect, err := members.Kept(is, s.Targets, func(i asgtypes.Instance) bool {
		return !s.ReplaceMatching && w.templates().ref(i.LaunchTemplate) == s.Template
	})
	if err != nil {
		return false, err
	}
	kept = len(keep) > 0
	if err := m.Unprotect(ctx, w.client(), m.Freed(is, s.Targets, kept && w.t.replacesProtected()), w.t.Owner); err != nil {
		return false, err
	}
	return kept, m.Protect(ctx, w.client(), protect, w.t.Owner)
}

// replacesProtected reports whether the pool wants a refresh to replace instances that are protected from scale-in.
func (t target) replacesProtected() bool {
	asked := t.pool.RefreshPreferences
	return asked != nil && asked.ScaleInProtectedInstances == string(asgtypes.ScaleInProtectedInstancesRefresh)
}

// unprotect removes Muster's protections that no refresh needs.
func (w *writer) unprotect(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	if err := w.memory.members.Read(ctx, w.client(), is, w.t.Owner); err != nil {
		return err
	}
	w.memory.refreshes = refresh.History{}
	if err := w.refreshes(ctx, is); err != nil {
		return err
	}
	return w.memory.members.Unprotect(ctx, w.client(), w.memory.leftProtected(is), w.t.Owner)
}

// confirmRolloutStarted reads whether the refresh that is under way is the requested one.
func (w *writer) confirmRolloutStarted(ctx context.Context, s pool.Step, refused error) error {
	if err := w.group(ctx); err != nil || w.memory.group.is == nil {
		return cmp.Or(err, refused)
	}
	if err := w.refreshes(ctx, w.memory.group.is); err != nil {
		return err
	}
	if newest := w.memory.refreshes.Newest(w.templates().of); newest != nil && newest.Template.Ref == s.Template {
		return nil
	}
	return refused
}

// cancelRefresh ends the refresh that the step names. The request can't name it: whether it is still the one that runs is read first.
func (w *writer) cancelRefresh(ctx context.Context, s pool.Step) error {
	if w.memory.group.is == nil {
		return nil
	}
	w.memory.refreshes = refresh.History{}
	if err := w.refreshes(ctx, w.memory.group.is); err != nil {
		return err
	}
	newest := w.memory.refreshes.Newest(w.templates().of)
	if newest == nil || len(s.Refs) != 1 || newest.ID != s.Refs[0] || !w.memory.refreshes.Running() ||
		newest.State == pool.ProviderRolloutCancelling {
		return nil
	}
	w.memory.touchedRefreshes()
	return refresh.Cancel(ctx, w.client())
}

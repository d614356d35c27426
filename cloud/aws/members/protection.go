package members

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// A refresh replaces every instance of another launch template version than the one that it pins, because versions are all that the service
// compares. But versions are also created for a new bootstrap token alone, and an instance of such a version is as good as a new one; and a
// restart that is begun again must not replace again what it has replaced. So instances that a refresh is not for are protected from
// scale-in while it runs, and the refresh is set to ignore protected instances. Each gets Muster's tag, so that a protection that another
// client set stays. Protection keeps nothing from being terminated by name, by a health check or by a spot interruption. Once no refresh
// runs, Muster's protection is drift and is removed.

// maxProtected bounds how many instances one call may protect.
const maxProtected = 50

// Freed returns the instances that a refresh is for and whose protection would keep it from them: Muster's, and with all also those that
// other clients protected.
func (m Members) Freed(is *asgtypes.AutoScalingGroup, targets []pool.InstanceRef, all bool) []string {
	var ids []string
	named := named(targets)
	for _, i := range is.Instances {
		if id := ptr.Deref(i.InstanceId, ""); named[id] && ptr.Deref(i.ProtectedFromScaleIn, false) && (all || m.known[id].kept) {
			ids = append(ids, id)
		}
	}
	return ids
}

// named returns the IDs of instances.
func named(targets []pool.InstanceRef) map[string]bool {
	ids := make(map[string]bool, len(targets))
	for _, t := range targets {
		ids[t.ID] = true
	}
	return ids
}

// Kept returns the instances that a refresh would replace and is not for, and which of them are not protected yet. A refresh that replaces
// nothing of the wanted version leaves those for which matches is true.
func Kept(is *asgtypes.AutoScalingGroup, targets []pool.InstanceRef,
	matches func(asgtypes.Instance) bool) (keep, protect []string, err error) {
	named := named(targets)
	for _, i := range is.Instances {
		id := ptr.Deref(i.InstanceId, "")
		if !asg.Present(i) || named[id] || asg.InStandby(i) || matches(i) {
			continue
		}
		keep = append(keep, id)
		if ptr.Deref(i.ProtectedFromScaleIn, false) {
			continue
		}
		if i.LifecycleState != asgtypes.LifecycleStateInService {
			return nil, nil, &cloud.Error{Kind: cloud.Conflict, Code: "NotInService", Message: fmt.Sprintf(
				"instance %s is %s and is not to be replaced: the refresh begins once it is in service and can be protected", id, i.LifecycleState)}
		}
		protect = append(protect, id)
	}
	return keep, protect, nil
}

// LeftProtected returns the instances that have Muster's protection.
func (m Members) LeftProtected(is *asgtypes.AutoScalingGroup) []string {
	var ids []string
	for _, i := range is.Instances {
		if id := ptr.Deref(i.InstanceId, ""); asg.Present(i) && ptr.Deref(i.ProtectedFromScaleIn, false) && m.known[id].kept {
			ids = append(ids, id)
		}
	}
	return ids
}

// Protect protects instances from scale-in. It tags them first, so that a crash in between leaves no protection that is not known to be
// Muster's.
func (m *Members) Protect(ctx context.Context, c asg.Client, ids []string, owner cloud.Owner) error {
	err := c.TagInstances(ctx, ids, map[string]string{tagKept: owner.ID}, func(tagged []string) {
		m.change(tagged, func(known *member) { known.kept = true })
	})
	if err != nil {
		return err
	}
	return setProtection(ctx, c, ids, true)
}

// Unprotect removes the protection of instances from scale-in, and then, for the same reason, Muster's tag.
func (m *Members) Unprotect(ctx context.Context, c asg.Client, ids []string, owner cloud.Owner) error {
	if err := setProtection(ctx, c, ids, false); err != nil {
		return err
	}
	return c.UntagInstances(ctx, ids, map[string]string{tagKept: owner.ID}, func(untagged []string) {
		m.change(untagged, func(known *member) { known.kept = false })
	})
}

func setProtection(ctx context.Context, c asg.Client, ids []string, on bool) error {
	for some := range slices.Chunk(ids, maxProtected) {
		_, err := c.Session.AutoScaling.SetInstanceProtection(ctx, &autoscaling.SetInstanceProtectionInput{
			AutoScalingGroupName: &c.Name, InstanceIds: some, ProtectedFromScaleIn: &on,
		})
		if err = session.Refusal(err, c.Now); cloud.KindOf(err) == cloud.Invalid {
			return &cloud.Error{Kind: cloud.Conflict, Code: "InstancesChanged",
				Message: "the group's instances have changed meanwhile: " + err.Error()}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

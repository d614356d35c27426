package nodegroup

import (
	"context"
	"fmt"
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// resize asks for more instances, or for fewer of which not as many exist: what was never launched needs no drain. A maximum that is in
// the way and that the specification leaves open is raised with it.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	if err := w.there(); err != nil {
		return err
	}
	size := int32(s.Size)
	if size < w.state.size() {
		if err := w.removesNone(ctx, size); err != nil {
			return err
		}
	}
	scaling := &ekstypes.NodegroupScalingConfig{DesiredSize: &size}
	if size > ptr.Deref(scalingOf(w.state.is).MaxSize, 0) {
		scaling.MaxSize = &size
		if s := w.t.pool.Scaling; s != nil && s.MaxSize != nil && *s.MaxSize > size {
			scaling.MaxSize = s.MaxSize
		}
	}
	w.memory.resized = w.now
	err := w.updateConfig(ctx, &eks.UpdateNodegroupConfigInput{ScalingConfig: scaling})
	w.memory.asked.Note(s.Size, w.now, err)
	return err
}

// removesNone makes sure, by a look right before the write, that a lower size removes no machine.
func (w *writer) removesNone(ctx context.Context, size int32) error {
	if err := w.upToDate(); err != nil {
		return err
	}
	w.memory.touchedGroup()
	if err := w.again(ctx); err != nil {
		return err
	}
	there := int32(0)
	if backing := w.state.backing; backing != nil {
		there = int32(asg.Members(backing))
	}
	if there <= size {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "SizeNotShown", Message: fmt.Sprintf(
		"node group %s has %d machines and was to get a size of %d: EKS would choose those that go", w.t.name, there, size)}
}

// terminate terminates exactly the given instances, in the backing group: EKS itself would choose. A removal lowers the group's size
// by one in the same call; otherwise the group launches another in the place of each.
func (w *writer) terminate(ctx context.Context, s pool.Step, lower bool) error {
	if err := asg.NoMoreThan(asg.RemoveBatch, s.Targets, "terminate"); err != nil {
		return err
	}
	if err := w.upToDate(); err != nil {
		return err
	}
	backing := w.state.backing
	if backing == nil {
		return nil
	}
	members := present(backing)
	w.memory.touchedGroup()
	there := slices.DeleteFunc(slices.Clone(s.Targets), func(t pool.InstanceRef) bool { return !members[t.ID] })
	return asg.Termination{Session: w.c, Now: w.now, Group: ptr.Deref(backing.AutoScalingGroupName, ""), Size: int(w.state.size()),
		Lower: lower, RequestedSize: &w.memory.asked, Going: w.going}.Terminate(ctx, there)
}

// upToDate returns an error unless the group shows the size that was last requested: what is removed is chosen from the instances that
// exist after all requests.
func (w *writer) upToDate() error {
	if w.state.backing == nil {
		return nil
	}
	err := w.memory.asked.Check("node group "+w.t.name, int(w.state.size()), w.now, session.VisibleWithin)
	if err != nil {
		w.memory.touchedGroup()
	}
	return err
}

// going reads the group again, and reports whether an instance is being terminated already, or gone.
func (w *writer) going(ctx context.Context, id string) (bool, error) {
	defer w.memory.touchedGroup()
	if err := w.reader.group(ctx); err != nil || w.memory.group.is == nil {
		return err == nil, err
	}
	return !present(w.memory.group.backing)[id], nil
}

// present returns the instances of a backing group that are not on their way out. Nothing else is ever terminated.
func present(backing *asgtypes.AutoScalingGroup) map[string]bool {
	ids := map[string]bool{}
	if backing != nil {
		for _, i := range backing.Instances {
			if asg.Present(i) {
				ids[ptr.Deref(i.InstanceId, "")] = true
			}
		}
	}
	return ids
}

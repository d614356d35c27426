package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

// updateGroup repairs the fields that drifted. Tags are put at once; everything else goes into one update of EKS's, for it runs one
// at a time. What the group launches from is changed by a roll alone, which replaces machines.
func (w *writer) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.reader.want(ctx)
	if err != nil && len(s.Fields) == 0 {
		return err
	}
	repair := repairer{w.pass, w}
	if slices.Contains(s.Fields, driftTags) || slices.Contains(s.Fields, driftPassed) {
		if err := repair.updateTags(ctx, is, want.group); err != nil {
			return err
		}
	}
	names, err := repair.bookConfig(ctx, s.Fields, is, want.group)
	if err != nil {
		return err
	}
	input := configInput(names, document{groupSpec: want.group, of: w.t}, document{is: is, size: w.memory.size()})
	if input == nil {
		return nil
	}
	repair.noteConfig(input)
	return w.updateConfig(ctx, input)
}

// repairer repairs fields of the node group that drifted, and keeps account of what Muster has written there.
type repairer struct {
	*pass
	writer *writer
}

// noteConfig remembers the labels and taints that an update puts.
func (r repairer) noteConfig(input *eks.UpdateNodegroupConfigInput) {
	if l := input.Labels; l != nil {
		r.memory.written.labels.Note(r.now, session.SortedKeys(l.AddOrUpdateLabels)...)
	}
	if t := input.Taints; t != nil {
		r.memory.written.taints.Note(r.now, taintNames(t.AddOrUpdateTaints)...)
	}
}

// there returns the node group, or an error if it does not exist.
func (w *writer) there() (*ekstypes.Nodegroup, error) {
	if w.memory.group.is == nil {
		return nil, &cloud.Error{Kind: cloud.Conflict, Code: "NoGroup",
			Message: "node group " + w.t.name + " is gone: there is nothing to change"}
	}
	return w.memory.group.is, nil
}

// again returns the node group after a write of the step, as it is now, or an error if it does not exist or is not the pool's own.
func (w *writer) again(ctx context.Context) (*ekstypes.Nodegroup, error) {
	if err := w.recent(ctx); err != nil {
		return nil, err
	}
	if err := driverkit.Owned(w.reader.ownership().Conflict()); err != nil {
		return nil, err
	}
	return w.there()
}

// updateConfig asks for an update of the configuration. That nothing is to change is no error: another client was faster.
func (w *writer) updateConfig(ctx context.Context, input *eks.UpdateNodegroupConfigInput) error {
	if err := w.memory.updates.configPause(w.t.name, w.now); err != nil {
		return err
	}
	input.ClusterName, input.NodegroupName = &w.t.eks, &w.t.name
	w.memory.touchedUpdates()
	_, err := w.c.EKS.UpdateNodegroupConfig(ctx, input)
	if err = session.Refusal(err, w.now); nothingToDo(err) {
		return nil
	}
	return err
}

// configInput returns the request that changes those of some fields of the configuration that differ; nil where none is to change.
func configInput(names []string, want, has document) *eks.UpdateNodegroupConfigInput {
	input := &eks.UpdateNodegroupConfigInput{ScalingConfig: &ekstypes.NodegroupScalingConfig{}}
	for _, f := range groupFields.Differing(want, has, fields.InPlace) {
		if f.Put != nil && slices.Contains(names, f.Spec) {
			f.Put(input, want, has)
		}
	}
	switch out, is := input.ScalingConfig, scalingOf(has.is); {
	case out.MinSize == nil && out.MaxSize == nil:
		input.ScalingConfig = nil
	case ptr.Deref(is.DesiredSize, 0) > ptr.Deref(cmp.Or(out.MaxSize, is.MaxSize), 0),
		ptr.Deref(is.DesiredSize, 0) < ptr.Deref(cmp.Or(out.MinSize, is.MinSize), 0):
		out.DesiredSize = &has.size // EKS may not show yet a size that a user has set in the group behind
	}
	if reflect.DeepEqual(input, &eks.UpdateNodegroupConfigInput{}) {
		return nil
	}
	return input
}

// withRepair switches the repair of nodes and leaves its thresholds as the user set them.
func withRepair(is *ekstypes.NodeRepairConfig, on bool) *ekstypes.NodeRepairConfig {
	out := ekstypes.NodeRepairConfig{}
	if is != nil {
		out = *is
	}
	out.Enabled = &on
	return &out
}

// bookConfig books the labels and taints that are or will be ours before they are changed, so that a crash in between forgets none. The
// next pass books out what was removed. It returns the fields that may be changed: what EKS does not show as booked would stay for ever.
func (r repairer) bookConfig(ctx context.Context, names []string, is *ekstypes.Nodegroup, want groupSpec) ([]string, error) {
	put := map[string]string{}
	var remove []string
	for _, b := range []struct {
		field string
		marks func() []string
	}{
		{driftLabels, func() []string {
			_, gone := want.labelChanges(is)
			return session.Unique(slices.Concat(want.ourLabels, gone))
		}},
		{driftTaints, func() []string {
			_, gone := want.taintChanges(is)
			return session.Unique(slices.Concat(want.ourTaints, taintNames(gone)))
		}},
	} {
		if !slices.Contains(names, b.field) {
			continue
		}
		key := groupFields.OfSpec(b.field).Owned.Recorded
		switch text := session.Marks(b.marks()); text {
		case is.Tags[key]:
		case "":
			remove = append(remove, key)
		default:
			put[key] = text
		}
	}
	if err := r.writer.retag(ctx, is, put, remove); err != nil || len(put) == 0 {
		return names, err
	}
	is, err := r.writer.again(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(names), func(field string) bool {
		key := groupFields.OfSpec(field).Owned.Recorded
		return put[key] != "" && is.Tags[key] != put[key]
	}), nil
}

// retag changes tags of the node group itself: first what goes, then what comes.
func (w *writer) retag(ctx context.Context, is *ekstypes.Nodegroup, put map[string]string, remove []string) error {
	if len(remove) > 0 {
		w.memory.touchedGroup()
		_, err := w.c.EKS.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: is.NodegroupArn, TagKeys: remove})
		if err != nil {
			return session.Refusal(err, w.now)
		}
	}
	if len(put) > 0 {
		w.memory.touchedGroup()
		_, err := w.c.EKS.TagResource(ctx, &eks.TagResourceInput{ResourceArn: is.NodegroupArn, Tags: put})
		return session.Refusal(err, w.now)
	}
	return nil
}

// noteTags remembers the tags of the specification among those that are put.
func (r repairer) noteTags(put map[string]string) {
	for _, name := range r.t.additionalTags() {
		if _, is := put[name]; is {
			r.memory.written.tags.Note(r.now, name)
		}
	}
}

// updateTags repairs the tags of the node group, of the group behind it, and of instances that were launched before that had any:
// EKS passes tags on to nothing.
func (r repairer) updateTags(ctx context.Context, is *ekstypes.Nodegroup, want groupSpec) error {
	behind, members := r.memory.behind.is, r.memory.members.untagged(r.memory.behind, want)
	put, remove := want.tagChanges(is)
	r.noteTags(put)
	if err := r.writer.retag(ctx, is, put, remove); err != nil {
		return err
	}
	if behind == nil {
		return nil
	}
	client := asg.Client{Session: r.c, Name: ptr.Deref(behind.AutoScalingGroupName, ""), Now: r.now}
	put, remove = want.passedChanges(behind)
	r.noteTags(put)
	r.memory.touchedGroup()
	if err := client.DeleteTags(ctx, remove, bookkeeping); err != nil {
		return err
	}
	if err := client.PutTags(ctx, put, bookkeeping); err != nil {
		return err
	}
	tags := withoutBooks(want.passed)
	return client.TagInstances(ctx, members, tags, func(tagged []string) {
		for _, id := range tagged {
			r.memory.members.tagged(id, tags)
		}
	})
}

// resize asks for more instances, or for fewer of which not as many exist: what was never launched needs no drain. A maximum that is in
// the way and that the specification leaves open is raised with it.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	size := int32(s.Size)
	if size < w.memory.size() {
		if err := w.removesNone(ctx, size); err != nil {
			return err
		}
	}
	scaling := &ekstypes.NodegroupScalingConfig{DesiredSize: &size}
	if size > ptr.Deref(scalingOf(is).MaxSize, 0) {
		scaling.MaxSize = &size
		if s := w.t.pool.Scaling; s != nil && s.MaxSize != nil && *s.MaxSize > size {
			scaling.MaxSize = s.MaxSize
		}
	}
	w.memory.resized = w.now
	err = w.updateConfig(ctx, &eks.UpdateNodegroupConfigInput{ScalingConfig: scaling})
	w.memory.asked.Note(s.Size, w.now, err)
	return err
}

// removesNone makes sure, by a look right before the write, that a lower size removes no machine.
func (w *writer) removesNone(ctx context.Context, size int32) error {
	if err := w.upToDate(); err != nil {
		return err
	}
	w.memory.touchedGroup()
	if _, err := w.again(ctx); err != nil {
		return err
	}
	there := int32(0)
	if behind := w.memory.behind.is; behind != nil {
		there = int32(asg.Members(behind))
	}
	if there <= size {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "SizeNotShown", Message: fmt.Sprintf(
		"node group %s has %d machines and was to get a size of %d: EKS would choose those that go", w.t.name, there, size)}
}

// nothingToDo reports whether the service refused because everything is as it was asked for already.
func nothingToDo(err error) bool {
	return cloud.CodeOf(err) != "" && strings.Contains(strings.ToLower(err.Error()), "no changes needed")
}

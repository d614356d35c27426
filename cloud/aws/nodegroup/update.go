package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

// configPause delays the next change of the configuration after an accepted one has failed. It doubles with every failure
// in a row up to maxConfigPause, which is short enough for a user who has removed the reason of the failure.
const configPause, maxConfigPause = 30 * time.Second, 5 * time.Minute

// updateGroup repairs the fields that drifted. Tags are put at once; everything else goes into one update of EKS's, for it runs one
// at a time. What the group launches from is changed by a roll alone, which replaces machines.
func (w *writer) updateGroup(ctx context.Context, s pool.Step) error {
	if err := w.there(); err != nil {
		return err
	}
	if err := w.desire(ctx); err != nil && len(s.Fields) == 0 {
		return err
	}
	want, _ := w.state.documents()
	if slices.Contains(s.Fields, driftTags) || slices.Contains(s.Fields, driftPassed) {
		if err := w.updateTags(ctx, want.groupSpec); err != nil {
			return err
		}
	}
	names, err := w.bookConfig(ctx, s.Fields, want.groupSpec)
	if err != nil {
		return err
	}
	_, has := w.state.documents()
	input := configInput(names, want, has)
	if input == nil {
		return nil
	}
	w.memory.written.noteConfig(input, w.now)
	return w.updateConfig(ctx, input)
}

// noteConfig remembers the labels and taints that an update puts.
func (w *written) noteConfig(input *eks.UpdateNodegroupConfigInput, now time.Time) {
	if l := input.Labels; l != nil {
		w.labels.Note(now, session.SortedKeys(l.AddOrUpdateLabels)...)
	}
	if t := input.Taints; t != nil {
		w.taints.Note(now, taintNames(t.AddOrUpdateTaints)...)
	}
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
		out.DesiredSize = &has.size // EKS may not show yet a size that a user has set in the backing group
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
func (w *writer) bookConfig(ctx context.Context, names []string, want groupSpec) ([]string, error) {
	is, put := w.state.is, map[string]string{}
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
	if err := w.retag(ctx, put, remove); err != nil || len(put) == 0 {
		return names, err
	}
	if err := w.again(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(names), func(field string) bool {
		key := groupFields.OfSpec(field).Owned.Recorded
		return put[key] != "" && w.state.is.Tags[key] != put[key]
	}), nil
}

// retag changes tags of the node group itself: first what goes, then what comes.
func (w *writer) retag(ctx context.Context, put map[string]string, remove []string) error {
	arn := w.state.is.NodegroupArn
	if len(remove) > 0 {
		w.memory.touchedGroup()
		_, err := w.c.EKS.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: arn, TagKeys: remove})
		if err != nil {
			return session.Refusal(err, w.now)
		}
	}
	if len(put) > 0 {
		w.memory.touchedGroup()
		_, err := w.c.EKS.TagResource(ctx, &eks.TagResourceInput{ResourceArn: arn, Tags: put})
		return session.Refusal(err, w.now)
	}
	return nil
}

// updateTags repairs the tags of the node group, of the backing group, and of instances that were launched before that had any: EKS passes
// tags on to nothing.
func (w *writer) updateTags(ctx context.Context, want groupSpec) error {
	backing, untagged := w.state.backing, w.memory.members.untagged(w.state.backing, want)
	put, remove := want.tagChanges(w.state.is)
	w.noteTags(put)
	if err := w.retag(ctx, put, remove); err != nil || backing == nil {
		return err
	}
	client := asg.Client{Session: w.c, Name: ptr.Deref(backing.AutoScalingGroupName, ""), Now: w.now}
	put, remove = want.passedChanges(backing)
	w.noteTags(put)
	w.memory.touchedGroup()
	if err := client.DeleteTags(ctx, remove, bookkeeping); err != nil {
		return err
	}
	if err := client.PutTags(ctx, put, bookkeeping); err != nil {
		return err
	}
	tags := withoutBooks(want.passed)
	return client.TagInstances(ctx, untagged, tags, func(tagged []string) {
		for _, id := range tagged {
			w.memory.members.tagged(id, tags)
		}
	})
}

// noteTags remembers the tags of the specification among those that are put.
func (w *writer) noteTags(put map[string]string) {
	for _, name := range w.t.additionalTags() {
		if _, is := put[name]; is {
			w.memory.written.tags.Note(w.now, name)
		}
	}
}

// nothingToDo reports whether the service refused because everything is as it was asked for already.
func nothingToDo(err error) bool {
	return cloud.CodeOf(err) != "" && strings.Contains(strings.ToLower(err.Error()), "no changes needed")
}

// configPause returns an error while the next change of a group's configuration waits, because the last ones failed after EKS had accepted
// them.
func (h updateHistory) configPause(group string, now time.Time) error {
	list := h.of(ekstypes.UpdateTypeConfigUpdate)
	pause := time.Duration(0)
	for _, u := range list {
		if u.Status != ekstypes.UpdateStatusFailed || pause >= maxConfigPause {
			break
		}
		pause = min(max(configPause, 2*pause), maxConfigPause)
	}
	if pause == 0 {
		return nil
	}
	left := list[0].ended.Add(pause).Sub(now)
	if left <= 0 {
		return nil
	}
	return &cloud.Error{Kind: cloud.Throttled, Op: "eks:UpdateNodegroupConfig", Code: "UpdateFailed", After: left, Message: fmt.Sprintf(
		"the last change of node group %s failed and the next one is asked for after a pause: %s", group, reasonOf(list[0].Errors))}
}

package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// updateGroup repairs the fields that drifted. Tags are put at once; everything else goes into one update of EKS's, for it runs one
// at a time. What the group launches from is changed by a roll alone, which replaces machines.
func (p *pass) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := p.existing(ctx)
	if err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil && len(s.Fields) == 0 {
		return err
	}
	if slices.Contains(s.Fields, driftTags) || slices.Contains(s.Fields, driftPassed) {
		if err := p.updateTags(ctx, is, want.group); err != nil {
			return err
		}
	}
	if err := p.bookConfig(ctx, s.Fields, is, want.group); err != nil {
		return err
	}
	input, changed := want.group.configInput(s.Fields, is, p.memory.size())
	if !changed {
		return nil
	}
	return p.updateConfig(ctx, input)
}

// existing is the node group, which must be there and be ours.
func (p *pass) existing(ctx context.Context) (*ekstypes.Nodegroup, error) {
	if err := ownedNow(ctx, p); err != nil {
		return nil, err
	}
	if p.memory.group.is == nil {
		return nil, &cloud.Error{Kind: cloud.Conflict, Code: "NoGroup", Message: "node group " + p.t.name + " is gone: there is nothing to change"}
	}
	return p.memory.group.is, nil
}

// updateConfig asks for an update of the configuration. That nothing is to change is no error: another client was faster.
func (p *pass) updateConfig(ctx context.Context, input *eks.UpdateNodegroupConfigInput) error {
	if err := p.memory.updates.configPause(p.t.name, p.now); err != nil {
		return err
	}
	input.ClusterName, input.NodegroupName = &p.t.eks, &p.t.name
	p.memory.touchedUpdates()
	_, err := p.c.EKS.UpdateNodegroupConfig(ctx, input)
	if err = session.Refusal(err, p.now); nothingToDo(err) {
		return nil
	}
	return err
}

// configInput holds the fields of the configuration that are to change, and nothing else.
func (g groupSpec) configInput(fields []string, is *ekstypes.Nodegroup, size int32) (input *eks.UpdateNodegroupConfigInput, changed bool) {
	input = &eks.UpdateNodegroupConfigInput{ScalingConfig: g.bounds(fields, is, size)}
	changed = input.ScalingConfig != nil
	for field, put := range map[string]func() bool{
		driftLabels: func() bool {
			put, remove := g.labelChanges(is)
			input.Labels = &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: put, RemoveLabels: remove}
			return len(put)+len(remove) > 0
		},
		driftTaints: func() bool {
			put, remove := g.taintChanges(is)
			input.Taints = &ekstypes.UpdateTaintsPayload{AddOrUpdateTaints: put, RemoveTaints: remove}
			return len(put)+len(remove) > 0
		},
		driftUpdate: func() bool { input.UpdateConfig = &g.update; return true },
		driftRepair: func() bool { input.NodeRepairConfig = withRepair(is.NodeRepairConfig, g.repair); return true },
	} {
		changed = slices.Contains(fields, field) && put() || changed
	}
	if l := input.Labels; l != nil && len(l.AddOrUpdateLabels)+len(l.RemoveLabels) == 0 {
		input.Labels = nil
	}
	if t := input.Taints; t != nil && len(t.AddOrUpdateTaints)+len(t.RemoveTaints) == 0 {
		input.Taints = nil
	}
	return input, changed
}

// bounds are the limits that are to change. They never get in the way of the size that the group has.
func (g groupSpec) bounds(fields []string, is *ekstypes.Nodegroup, size int32) *ekstypes.NodegroupScalingConfig {
	scaling, changed := scalingOf(is), false
	out := &ekstypes.NodegroupScalingConfig{}
	if slices.Contains(fields, fieldMin) && g.min <= size && session.Deref(scaling.MinSize) != g.min {
		out.MinSize, changed = &g.min, true
	}
	if slices.Contains(fields, fieldMax) && g.max != nil && *g.max >= size && session.Deref(scaling.MaxSize) != *g.max {
		out.MaxSize, changed = g.max, true
	}
	if !changed {
		return nil
	}
	// EKS may not have heard yet of a size that a user has set in the group behind.
	if said := session.Deref(scaling.DesiredSize); said > session.Deref(cmp.Or(out.MaxSize, scaling.MaxSize)) || said < session.Deref(cmp.Or(out.MinSize, scaling.MinSize)) {
		out.DesiredSize = &size
	}
	return out
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

// bookConfig books the labels and taints that are or will be ours before they are changed, so that a crash in between forgets
// none. The next pass books out what was removed.
func (p *pass) bookConfig(ctx context.Context, fields []string, is *ekstypes.Nodegroup, want groupSpec) error {
	put := map[string]string{}
	var remove []string
	for _, b := range []struct {
		field, key string
		names      func() []string
	}{
		{driftLabels, tagOurLabels, func() []string {
			_, gone := want.labelChanges(is)
			return append(session.SortedKeys(want.labels), gone...)
		}},
		{driftTaints, tagOurTaints, func() []string {
			_, gone := want.taintChanges(is)
			return append(taintNames(want.taints), taintNames(gone)...)
		}},
	} {
		if !slices.Contains(fields, b.field) {
			continue
		}
		switch text := session.Marks(b.names()); text {
		case is.Tags[b.key]:
		case "":
			remove = append(remove, b.key)
		default:
			put[b.key] = text
		}
	}
	return p.retag(ctx, is, put, remove)
}

// retag changes tags of the node group itself: first what goes, then what comes.
func (p *pass) retag(ctx context.Context, is *ekstypes.Nodegroup, put map[string]string, remove []string) error {
	if len(remove) > 0 {
		p.memory.touchedGroup()
		_, err := p.c.EKS.UntagResource(ctx, &eks.UntagResourceInput{ResourceArn: is.NodegroupArn, TagKeys: remove})
		if err != nil {
			return session.Refusal(err, p.now)
		}
	}
	if len(put) > 0 {
		p.memory.touchedGroup()
		_, err := p.c.EKS.TagResource(ctx, &eks.TagResourceInput{ResourceArn: is.NodegroupArn, Tags: put})
		return session.Refusal(err, p.now)
	}
	return nil
}

// updateTags repairs the tags of the node group, of the group behind it, and of instances that were launched before that had any:
// EKS passes tags on to nothing.
func (p *pass) updateTags(ctx context.Context, is *ekstypes.Nodegroup, want groupSpec) error {
	behind, members := p.memory.behind.is, p.memory.members.untagged(p.memory.behind, want)
	put, remove := want.tagChanges(is)
	if err := p.retag(ctx, is, put, remove); err != nil {
		return err
	}
	if behind == nil {
		return nil
	}
	name := session.Deref(behind.AutoScalingGroupName)
	put, remove = want.passedChanges(behind)
	p.memory.touchedGroup()
	if len(remove) > 0 {
		gone := map[string]string{}
		for _, key := range remove {
			gone[key] = ""
		}
		if _, err := p.c.AutoScaling.DeleteTags(ctx, &autoscaling.DeleteTagsInput{Tags: session.GroupTags(name, gone, bookkeeping)}); err != nil {
			return session.Refusal(err, p.now)
		}
	}
	if len(put) > 0 {
		_, err := p.c.AutoScaling.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: session.GroupTags(name, put, bookkeeping)})
		if err != nil {
			return session.Refusal(err, p.now)
		}
	}
	return p.tagMembers(ctx, members, want)
}

// tagMost is how many instances one call may tag.
const tagMost = 1000

// tagMembers tags instances themselves.
func (p *pass) tagMembers(ctx context.Context, ids []string, want groupSpec) error {
	tags := withoutBooks(want.passed)
	for some := range slices.Chunk(ids, tagMost) {
		_, err := p.c.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: some, Tags: session.EC2Tags(tags)})
		if err = session.Refusal(err, p.now); err != nil {
			return session.ListChanged(err)
		}
		for _, id := range some {
			p.memory.members.tagged(id, tags)
		}
	}
	return nil
}

// resize asks for more instances, or for fewer of which not as many exist: what was never launched needs no drain. A maximum that is in
// the way and that the specification leaves open is raised with it.
func (p *pass) resize(ctx context.Context, s pool.Step) error {
	is, err := p.existing(ctx)
	if err != nil {
		return err
	}
	size := int32(s.Size)
	if size < p.memory.size() {
		if err := p.removesNone(ctx, size); err != nil {
			return err
		}
	}
	scaling := &ekstypes.NodegroupScalingConfig{DesiredSize: &size}
	if size > session.Deref(scalingOf(is).MaxSize) {
		scaling.MaxSize = &size
		if s := p.t.pool.Scaling; s != nil && s.MaxSize != nil && *s.MaxSize > size {
			scaling.MaxSize = s.MaxSize
		}
	}
	p.memory.resized = p.now
	err = p.updateConfig(ctx, &eks.UpdateNodegroupConfigInput{ScalingConfig: scaling})
	p.memory.asked.Note(s.Size, p.now, err)
	return err
}

// removesNone makes sure, by a look right before the write, that a lower size removes no machine.
func (p *pass) removesNone(ctx context.Context, size int32) error {
	if err := p.upToDate(); err != nil {
		return err
	}
	p.memory.touchedGroup()
	if _, err := p.existing(ctx); err != nil {
		return err
	}
	there := int32(0)
	if behind := p.memory.behind.is; behind != nil {
		there = int32(asg.Members(behind))
	}
	if there <= size {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "SizeNotShown", Message: fmt.Sprintf(
		"node group %s has %d machines and was to get a size of %d: EKS would choose those that go", p.t.name, there, size)}
}

// nothingToDo reports whether the service refused because everything is as it was asked for already.
func nothingToDo(err error) bool {
	return cloud.CodeOf(err) != "" && strings.Contains(strings.ToLower(err.Error()), "no changes needed")
}

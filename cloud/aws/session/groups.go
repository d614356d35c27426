package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// groupsAtOnce is the number of names in one DescribeAutoScalingGroups, as its documentation has it: 50, and up to MaxRecords, which is
	// 100 at most.
	groupsAtOnce = 100
	// instancesAtOnce bounds the instances of the groups that are read along although no pass waits for them: the service warns that it
	// may throttle calls for groups with many instances.
	instancesAtOnce = 1000
)

const (
	// SameMoment is the maximum age of a look at a group that counts as fresh right after a write by Muster that did not concern
	// the group.
	SameMoment = 2 * time.Second
	// VisibleWithin is the time after a write during which a read may still show a group as it was before: the services' reads are eventually
	// consistent.
	VisibleWithin = 10 * time.Second
)

// groups are the Auto Scaling groups of a session's region, read for all pools together.
type groups struct {
	client *autoscaling.Client
	now    func() time.Time
}

// newGroups makes the sweep over the groups of a region.
func newGroups(client *autoscaling.Client, now func() time.Time) *sweep.Sweep[*asgtypes.AutoScalingGroup] {
	g := groups{client: client, now: now}
	return sweep.New(sweep.Options[*asgtypes.AutoScalingGroup]{
		Some: g.named, All: g.ours, Chunk: groupsAtOnce, Now: now,
		Weight: func(is *asgtypes.AutoScalingGroup) int { return len(is.Instances) }, MaxWeight: instancesAtOnce,
	})
}

// named reads groups by name.
func (g groups) named(ctx context.Context, names []string, found func(string, *asgtypes.AutoScalingGroup)) error {
	in := &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: names}
	if len(names) > 1 {
		in.MaxRecords = new(int32(groupsAtOnce))
	}
	_, err := g.read(ctx, in, found)
	return err
}

// ours lists the groups that carry an owner tag.
func (g groups) ours(ctx context.Context, found func(string, *asgtypes.AutoScalingGroup)) (int, error) {
	return g.read(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
		Filters: []asgtypes.Filter{{Name: new("tag-key"), Values: []string{TagOwner}}}, MaxRecords: new(int32(groupsAtOnce)),
	}, found)
}

// read reads all pages of an answer.
func (g groups) read(ctx context.Context, in *autoscaling.DescribeAutoScalingGroupsInput,
	found func(string, *asgtypes.AutoScalingGroup)) (int, error) {
	pages := autoscaling.NewDescribeAutoScalingGroupsPaginator(g.client, in)
	ctx, _ = wire.Paged(ctx, 1)
	count := 0
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return count, Refusal(err, g.now())
		}
		count++
		for k := range page.AutoScalingGroups {
			// A pointer into the page would keep the groups of a hundred pools for as long as one of them.
			is := new(page.AutoScalingGroups[k])
			found(ptr.Deref(is.AutoScalingGroupName, ""), is)
		}
	}
	return count, nil
}

// Group returns an Auto Scaling group with its instances, nil if there is none, and when it was read. maxAge is as in cloud.Target. The
// group is shared and must not be changed.
func (s *Session) Group(ctx context.Context, name string, maxAge time.Duration) (*asgtypes.AutoScalingGroup, time.Time, error) {
	answer, err := s.groups.Get(ctx, name, maxAge)
	if err != nil {
		return nil, time.Time{}, err
	}
	return answer.Value, answer.At, nil
}

const (
	// TagBehind is the tag by which EKS's groups name their node group.
	TagBehind = "eks:nodegroup-name"
	// TagBehindCluster is the tag by which they name its EKS cluster.
	TagBehindCluster = "eks:cluster-name"
	// ownersAtOnce bounds the owners that one search names. No limit of the values of a filter is documented.
	ownersAtOnce = 50
)

// newTagged makes the sweep over the groups whose tags name an object: keys are those of owners.
func newTagged(client *autoscaling.Client, now func() time.Time) *sweep.Sweep[[]*asgtypes.AutoScalingGroup] {
	return sweep.New(sweep.Options[[]*asgtypes.AutoScalingGroup]{Some: groups{client: client, now: now}.tagged, Chunk: ownersAtOnce, Now: now})
}

// tagged lists the groups whose tags name one of several objects.
func (g groups) tagged(ctx context.Context, keys []string, found func(string, []*asgtypes.AutoScalingGroup)) error {
	tags := []string{TagCluster, TagNamespace, TagPool}
	values := make([][]string, len(tags))
	for _, key := range keys {
		for k, part := range strings.SplitN(key, "/", len(tags)) {
			values[k] = append(values[k], part)
		}
	}
	in := &autoscaling.DescribeAutoScalingGroupsInput{IncludeInstances: new(false), MaxRecords: new(int32(groupsAtOnce))}
	for k, tag := range tags {
		in.Filters = append(in.Filters, asgtypes.Filter{Name: new("tag:" + tag), Values: Unique(values[k])})
	}
	all := map[string][]*asgtypes.AutoScalingGroup{}
	_, err := g.read(ctx, in, func(_ string, is *asgtypes.AutoScalingGroup) {
		var o cloud.Owner
		for _, t := range is.Tags {
			switch ptr.Deref(t.Key, "") {
			case TagCluster:
				o.Cluster = ptr.Deref(t.Value, "")
			case TagNamespace:
				o.Namespace = ptr.Deref(t.Value, "")
			case TagPool:
				o.Name = ptr.Deref(t.Value, "")
			}
		}
		all[o.Key()] = append(all[o.Key()], is)
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		found(key, all[key])
	}
	return nil
}

// GroupsTagged returns the Auto Scaling groups whose tags name the owner's object, whatever its owner ID is, without their instances. Those
// behind node groups are among them. They are shared and must not be changed.
func (s *Session) GroupsTagged(ctx context.Context, o cloud.Owner, maxAge time.Duration) ([]*asgtypes.AutoScalingGroup, error) {
	answer, err := s.tagged.Get(ctx, o.Key(), maxAge)
	return answer.Value, err
}

// TouchGroup is called before and after a write that concerns a group: what was read of it before is out of date.
func (s *Session) TouchGroup(name string) { s.groups.Touch(name) }

// Recent is when this process last put each of several named things on a group: its tags, its lifecycle hooks. A read may show neither
// them nor the bookkeeping that names them for as long as reads are behind; to drop that bookkeeping would leave what is no longer wanted
// for ever.
type Recent map[string]time.Time

// Note records that the names are put now.
func (r *Recent) Note(now time.Time, names ...string) {
	if *r == nil {
		*r = Recent{}
	}
	for _, name := range names {
		(*r)[name] = now
	}
}

// Names returns what was put so recently that reads may not show it, in order.
func (r Recent) Names(now time.Time) []string {
	var names []string
	for name, at := range r {
		if now.Sub(at) < VisibleWithin {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

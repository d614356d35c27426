package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// unowned returns the group that has the pool's name and lacks its owner tag, nil if there is none, with what its adoption depends on.
func unowned(p *pass) *pool.Unowned {
	out := ownership(p).Unowned(p.t.group)
	if out == nil {
		return nil
	}
	is := p.memory.group.is
	out.OtherCluster = session.OtherCluster(groupTags(is), p.t.Owner.Cluster, p.t.cluster.EKSClusterName)
	if region, name := p.t.groupNamed(); name != "" && name != p.t.group || region != "" && p.t.cluster.Region != "" && region != p.t.cluster.Region {
		out.NamedInstead = p.t.GroupID
	}
	template, conflict := p.launch.Unowned()
	if out.TemplateConflict = conflict; template != "" {
		out.Resources = append(out.Resources, fmt.Sprintf("launch template %s (%s)", p.t.template, template))
	}
	if n := len(is.Instances); n > 0 {
		out.Resources = append(out.Resources, fmt.Sprintf("%d instances", n))
	}
	out.Resources = append(out.Resources, out.Group)
	return out
}

func groupTags(is *asgtypes.AutoScalingGroup) map[string]string {
	tags := make(map[string]string, len(is.Tags))
	for _, t := range is.Tags {
		tags[session.Deref(t.Key)] = session.Deref(t.Value)
	}
	return tags
}

// followTemplate makes the launch template that an unowned group launches from the pool's, if the object asks to adopt the group: another
// one in its place would replace every instance. The name is remembered.
func followTemplate(p *pass) {
	is := p.memory.group.is
	if !p.t.Adopt || is == nil || tagOf(is, session.TagOwner) != "" {
		return
	}
	from := launchedFrom(is)
	if from == nil || session.Deref(from.LaunchTemplateName) == "" || session.Deref(from.LaunchTemplateName) == p.t.template {
		return
	}
	p.t.template = *from.LaunchTemplateName
	p.launch.Source.Name = p.t.template
	p.t.Remembered = maps.Clone(p.t.Remembered)
	if p.t.Remembered == nil {
		p.t.Remembered = map[string]string{}
	}
	p.t.Remembered[cloud.AdoptedTemplate] = p.t.template
}

// adopt writes the owner tags to the launch template, to the instances and, last, to the group: a group that has them is the pool's, with
// all that belongs to it.
func adopt(ctx context.Context, p *pass) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	if is := p.memory.group.is; is != nil && p.ours(is) {
		return nil
	}
	if err := ownership(p).Adoptable(unowned(p)); err != nil {
		return err
	}
	if err := launch.Adopt(ctx, p.launch); err != nil {
		return err
	}
	var ids []string
	for _, i := range p.memory.group.is.Instances {
		ids = append(ids, session.Deref(i.InstanceId))
	}
	tags := session.OwnerTags(p.t.Owner)
	for some := range slices.Chunk(ids, tagMost) {
		_, err := p.c.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: some, Tags: session.EC2Tags(tags)})
		if err = session.Refusal(err, p.now); err != nil {
			return session.ListChanged(err)
		}
	}
	p.memory.touchedGroup()
	return p.putTags(ctx, tags)
}

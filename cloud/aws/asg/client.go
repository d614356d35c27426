package asg

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// Client sends requests about one Auto Scaling group.
type Client struct {
	Session *session.Session
	// Name is the group's name.
	Name string
	Now  time.Time
}

// maxTagged bounds how many resources one call may tag, or remove a tag from.
const maxTagged = 1000

// PutTags puts tags on the group. Those that bookkeeping selects are not propagated to instances. Without tags it sends nothing.
func (c Client) PutTags(ctx context.Context, tags map[string]string, bookkeeping func(key string) bool) error {
	if len(tags) == 0 {
		return nil
	}
	_, err := c.Session.AutoScaling.CreateOrUpdateTags(ctx,
		&autoscaling.CreateOrUpdateTagsInput{Tags: session.GroupTags(c.Name, tags, bookkeeping)})
	return session.Refusal(err, c.Now)
}

// DeleteTags removes tags from the group. Without keys it sends nothing.
func (c Client) DeleteTags(ctx context.Context, keys []string, bookkeeping func(key string) bool) error {
	if len(keys) == 0 {
		return nil
	}
	tags := map[string]string{}
	for _, key := range keys {
		tags[key] = ""
	}
	_, err := c.Session.AutoScaling.DeleteTags(ctx, &autoscaling.DeleteTagsInput{Tags: session.GroupTags(c.Name, tags, bookkeeping)})
	return session.Refusal(err, c.Now)
}

// TagInstances puts tags on instances, and calls done with those of each request that succeeded.
func (c Client) TagInstances(ctx context.Context, ids []string, tags map[string]string, done func(ids []string)) error {
	for some := range slices.Chunk(ids, maxTagged) {
		_, err := c.Session.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: some, Tags: session.EC2Tags(tags)})
		if err = session.Refusal(err, c.Now); err != nil {
			return session.ListChanged(err)
		}
		done(some)
	}
	return nil
}

// UntagInstances removes tags with exactly these values from instances, and calls done with those of each request that succeeded.
func (c Client) UntagInstances(ctx context.Context, ids []string, tags map[string]string, done func(ids []string)) error {
	for some := range slices.Chunk(ids, maxTagged) {
		_, err := c.Session.EC2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: some, Tags: session.EC2Tags(tags)})
		if err = session.Refusal(err, c.Now); err != nil {
			return session.ListChanged(err)
		}
		done(some)
	}
	return nil
}

// BeingDeleted reports whether a request was refused because the group is being deleted.
func BeingDeleted(err error) bool {
	return cloud.CodeOf(err) == "ValidationError" && strings.Contains(err.Error(), "pending delete")
}

// Deleting reports whether the group is being deleted.
func Deleting(is *asgtypes.AutoScalingGroup) bool {
	return strings.HasPrefix(ptr.Deref(is.Status, ""), statusDeleting)
}

// Tag returns the value of one of the group's tags; empty if it has none.
func Tag(is *asgtypes.AutoScalingGroup, key string) string {
	for _, t := range is.Tags {
		if ptr.Deref(t.Key, "") == key {
			return ptr.Deref(t.Value, "")
		}
	}
	return ""
}

// Tags returns the group's tags by key.
func Tags(is *asgtypes.AutoScalingGroup) map[string]string {
	tags := make(map[string]string, len(is.Tags))
	for _, t := range is.Tags {
		tags[ptr.Deref(t.Key, "")] = ptr.Deref(t.Value, "")
	}
	return tags
}

// LaunchedFrom returns the launch template that the group launches from; nil if it has none.
func LaunchedFrom(is *asgtypes.AutoScalingGroup) *asgtypes.LaunchTemplateSpecification {
	if m := is.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		return m.LaunchTemplate.LaunchTemplateSpecification
	}
	return is.LaunchTemplate
}

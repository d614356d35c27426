package ec2

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// taggable is anything of EC2 that carries tags.
type taggable struct {
	kind  string
	tags  map[string]string
	touch func()
}

// find is the tagged thing of that ID.
func (r *Tags) find(id string) (taggable, error) {
	kind, _, _ := strings.Cut(id, "-")
	switch kind {
	case "lt":
		if t := r.Templates.Rows.Get(id); t != nil {
			return taggable{"launch-template", t.Tags, func() { r.Templates.Rows.Touch(id) }}, nil
		}
		return taggable{}, templateGone(id)
	case "i":
		if i := r.Instances.Rows.Get(id); i != nil {
			return taggable{"instance", i.Tags, func() { r.Instances.Rows.Touch(id) }}, nil
		}
		return taggable{}, wire.Refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	case "subnet":
		if s := r.Network.Subnets.Get(id); s != nil {
			return taggable{"subnet", s.Tags, func() { r.Network.Subnets.Touch(id) }}, nil
		}
		return taggable{}, wire.Refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
	case "vpc":
		if v := r.Network.VPCs.Get(id); v != nil {
			return taggable{"vpc", v.Tags, func() { r.Network.VPCs.Touch(id) }}, nil
		}
		return taggable{}, wire.Refuse("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
	case "sg":
		if g := r.Network.SecurityGroups.Get(id); g != nil {
			return taggable{"security-group", g.Tags, func() { r.Network.SecurityGroups.Touch(id) }}, nil
		}
		return taggable{}, wire.Refuse("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
	}
	return taggable{}, wire.Refuse("InvalidID", "The ID '%s' is not valid", id)
}

func (r *Tags) createTags(in *ec2.CreateTagsInput) (*ec2.CreateTagsOutput, error) {
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	things, err := r.findAll(in.Resources)
	if err != nil {
		return nil, err
	}
	for _, t := range things {
		merged := maps.Clone(t.tags)
		for _, tag := range in.Tags {
			merged[shapes.Str(tag.Key)] = shapes.Str(tag.Value)
		}
		if len(merged) > account.MaxTags {
			return nil, wire.Refuse("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
		}
		maps.Copy(t.tags, merged)
		t.touch()
	}
	return &ec2.CreateTagsOutput{}, nil
}

func (r *Tags) findAll(ids []string) ([]taggable, error) {
	var out []taggable
	for _, id := range ids {
		t, err := r.find(id)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// deleteTags removes a tag by its key, and where a value is given only if it has that value.
func (r *Tags) deleteTags(in *ec2.DeleteTagsInput) (*ec2.DeleteTagsOutput, error) {
	things, err := r.findAll(in.Resources)
	if err != nil {
		return nil, err
	}
	for _, t := range things {
		if len(in.Tags) == 0 {
			clear(t.tags)
		}
		for _, tag := range in.Tags {
			if tag.Value == nil || t.tags[shapes.Str(tag.Key)] == *tag.Value {
				delete(t.tags, shapes.Str(tag.Key))
			}
		}
		t.touch()
	}
	return &ec2.DeleteTagsOutput{}, nil
}

func (r *Tags) describeTags(in *ec2.DescribeTagsInput) (*ec2.DescribeTagsOutput, error) {
	size, err := pageSize(in.MaxResults, 5, 1000, 1000, nil)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, keys := range []iter.Seq[string]{
		maps.Keys(maps.Collect(r.Templates.Rows.All())), maps.Keys(maps.Collect(r.Instances.Rows.All())),
		maps.Keys(maps.Collect(r.Network.Subnets.All())),
		maps.Keys(maps.Collect(r.Network.VPCs.All())), maps.Keys(maps.Collect(r.Network.SecurityGroups.All())),
	} {
		ids = slices.AppendSeq(ids, keys)
	}
	var found []ec2.TagDescription
	for _, id := range slices.Sorted(slices.Values(ids)) {
		t, err := r.find(id)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(t.tags)) {
			ok, err := matchFilters(in.Filters, attributes{"resource-id": {id}, "resource-type": {t.kind}, "key": {key},
				"value": {t.tags[key]}}, t.tags)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, ec2.TagDescription{ResourceId: new(id), ResourceType: t.kind, Key: new(key), Value: new(t.tags[key])})
			}
		}
	}
	key := func(d ec2.TagDescription) string { return shapes.Str(d.ResourceId) + "\x00" + shapes.Str(d.Key) }
	page, next, err := account.Paged(r.Core, found, key,
		in.NextToken, r.Page(size))
	return &ec2.DescribeTagsOutput{Tags: page, NextToken: next}, err
}

// tagsOf are tags as EC2 shows them, in the order of their keys.
func tagsOf(tags map[string]string) []ec2.Tag {
	out := make([]ec2.Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, ec2.Tag{Key: new(k), Value: new(tags[k])})
	}
	return out
}

// checkTags refuses what AWS refuses of tags.
func checkTags(tags []ec2.Tag) error {
	if len(tags) > account.MaxTags {
		return wire.Refuse("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
	}
	seen := map[string]bool{}
	for _, t := range tags {
		k, v := shapes.Str(t.Key), shapes.Str(t.Value)
		switch {
		case k == "" || len(k) > 128:
			return wire.Refuse("InvalidParameterValue", "Tag key exceeds the maximum length of 128 characters or is empty")
		case len(v) > 256:
			return wire.Refuse("InvalidParameterValue", "Tag value exceeds the maximum length of 256 characters")
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return wire.Refuse("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		case seen[k]:
			return wire.Refuse("InvalidParameterValue", "Duplicate tag key '%s' specified.", k)
		}
		seen[k] = true
	}
	return nil
}

// arn is the ARN of something of EC2, by its ID.
func (r *Service) arn(kind, id string) string {
	account := r.Account
	if kind == "image" {
		account = ""
	}
	return "arn:aws:ec2:" + r.Region + ":" + account + ":" + kind + "/" + id
}

// ec2Kinds are the kinds of things by the beginnings of their IDs.
var ec2Kinds = []struct{ prefix, kind string }{
	{"lt-", "launch-template"}, {"i-", "instance"}, {"ami-", "image"}, {"subnet-", "subnet"}, {"sg-", "security-group"}, {"vpc-", "vpc"},
	{"key-", "key-pair"},
}

func ec2Kind(id string) string {
	for _, k := range ec2Kinds {
		if strings.HasPrefix(id, k.prefix) {
			return k.kind
		}
	}
	return "unknown"
}

// tagsOfID are the tags of something of EC2.
func (r *Tags) tagsOfID(id string) map[string]string {
	if t := r.Templates.Rows.Get(id); t != nil {
		return t.Tags
	}
	if i := r.Instances.Rows.Get(id); i != nil {
		return i.Tags
	}
	if s := r.Network.Subnets.Get(id); s != nil {
		return s.Tags
	}
	if g := r.Network.SecurityGroups.Get(id); g != nil {
		return g.Tags
	}
	return nil
}

func tagMap(tags []ec2.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[shapes.Str(t.Key)] = shapes.Str(t.Value)
	}
	return out
}

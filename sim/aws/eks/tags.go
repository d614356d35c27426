package eks

import (
	"maps"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
)

// tagged are the tags of the resource that an ARN names, as they can be changed in place.
func (r *Clusters) tagged(arn *string) (*map[string]string, func(), error) {
	for name, c := range r.Rows.All() {
		if shapes.Str(c.Shape.Arn) == shapes.Str(arn) {
			return &c.Shape.Tags, func() { r.Rows.Touch(name) }, nil
		}
	}
	for _, n := range r.nodegroups.Rows.All() {
		if shapes.Str(n.Shape.NodegroupArn) == shapes.Str(arn) {
			return &n.Shape.Tags, func() { r.nodegroups.TouchNodegroup(n) }, nil
		}
	}
	if !strings.HasPrefix(shapes.Str(arn), "arn:") {
		return nil, nil, wire.Refuse("BadRequestException", "Invalid ARN: %s", shapes.Str(arn))
	}
	return nil, nil, &wire.APIError{Code: "NotFoundException", Message: "Resource not found: " + shapes.Str(arn), Status: 404}
}

func (r *Clusters) tagResource(in *eks.TagResourceInput) (*eks.TagResourceOutput, error) {
	tags, touch, err := r.tagged(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	next := maps.Clone(*tags)
	if next == nil {
		next = map[string]string{}
	}
	maps.Copy(next, in.Tags)
	if err := checkEKSTags(next); err != nil {
		return nil, err
	}
	*tags = next
	touch()
	return &eks.TagResourceOutput{}, nil
}

func (r *Clusters) untagResource(in *eks.UntagResourceInput) (*eks.UntagResourceOutput, error) {
	tags, touch, err := r.tagged(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	next := maps.Clone(*tags)
	for _, k := range in.TagKeys {
		delete(next, k)
	}
	*tags = next
	touch()
	return &eks.UntagResourceOutput{}, nil
}

func (r *Clusters) listEKSTags(in *eks.ListTagsForResourceInput) (*eks.ListTagsForResourceOutput, error) {
	tags, _, err := r.tagged(in.ResourceArn)
	if err != nil {
		return nil, err
	}
	return &eks.ListTagsForResourceOutput{Tags: orEmpty(*tags)}, nil
}

// orEmpty returns the map, or an empty one for nil: EKS sends labels and tags also where there are none.
func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

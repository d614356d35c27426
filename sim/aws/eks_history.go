package aws

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

func (r *realm) listUpdates(in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	prefix, err := r.historyOf(in.Name, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, u := range r.updates.Under(prefix) {
		ids = append(ids, str(u.Id))
	}
	// The newest first, as they are asked for.
	slices.Reverse(ids)
	size := eksPage
	if in.MaxResults != nil {
		size = int(*in.MaxResults)
	}
	if size < 1 || size > eksPage {
		return nil, badParameter("maxResults must be between 1 and %d: %d", eksPage, size)
	}
	order := func(id string) string { return versionKey("", int64(slices.Index(ids, id))) }
	page, next, err := paged(ids, order, in.NextToken, r.page(size))
	if err != nil {
		return nil, badParameter("%s", errorMessage(err))
	}
	if page == nil {
		page = []string{}
	}
	return &eks.ListUpdatesOutput{UpdateIds: page, NextToken: next}, nil
}

// historyOf is where the updates of a cluster, or of one of its node groups, are kept.
func (r *realm) historyOf(clusterName, group *string) (string, error) {
	if str(group) == "" {
		_, err := r.findCluster(clusterName)
		return str(clusterName) + "//", err
	}
	n, err := r.findNodegroup(clusterName, group)
	if err != nil {
		return "", err
	}
	return n.key() + "/", nil
}

func (r *realm) findUpdate(clusterName, group, id *string) (*update, error) {
	prefix, err := r.historyOf(clusterName, group)
	if err != nil {
		return nil, err
	}
	for _, u := range r.updates.Under(prefix) {
		if str(u.Id) == str(id) {
			return u, nil
		}
	}
	return nil, notFound("No update found for ID: %s", str(id))
}

func (r *realm) describeUpdate(in *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error) {
	u, err := r.findUpdate(in.Name, in.NodegroupName, in.UpdateId)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeUpdateOutput{Update: ptr(u.Update)}, nil
}

// cancelUpdate is refused: "Currently, this is supported for VersionRollback update types on EKS Auto Mode clusters".
func (r *realm) cancelUpdate(in *eks.CancelUpdateInput) (*eks.CancelUpdateOutput, error) {
	if _, err := r.findCluster(in.Name); err != nil {
		return nil, err
	}
	for _, u := range r.updates.Under(str(in.Name) + "/") {
		if str(u.Id) == str(in.UpdateId) {
			return nil, refuse("InvalidRequestException", "Update %s of type %s cannot be cancelled.", str(u.Id), u.Type)
		}
	}
	return nil, notFound("No update found for ID: %s", str(in.UpdateId))
}

// tagged are the tags of the resource that an ARN names, as they can be changed in place.
func (r *realm) tagged(arn *string) (*map[string]string, func(), error) {
	for name, c := range r.clusters.All() {
		if str(c.Shape.Arn) == str(arn) {
			return &c.Shape.Tags, func() { r.clusters.Touch(name) }, nil
		}
	}
	for _, n := range r.nodegroups.All() {
		if str(n.Shape.NodegroupArn) == str(arn) {
			return &n.Shape.Tags, func() { r.touchNodegroup(n) }, nil
		}
	}
	if !strings.HasPrefix(str(arn), "arn:") {
		return nil, nil, refuse("BadRequestException", "Invalid ARN: %s", str(arn))
	}
	return nil, nil, &apiError{Code: "NotFoundException", Message: "Resource not found: " + str(arn), Status: 404}
}

func (r *realm) tagResource(in *eks.TagResourceInput) (*eks.TagResourceOutput, error) {
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

func (r *realm) untagResource(in *eks.UntagResourceInput) (*eks.UntagResourceOutput, error) {
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

func (r *realm) listEKSTags(in *eks.ListTagsForResourceInput) (*eks.ListTagsForResourceOutput, error) {
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

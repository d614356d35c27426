package eks

import (
	"slices"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/aws/wire"
)

func (r *Updates) listUpdates(in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	prefix, err := r.historyOf(in.Name, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, u := range r.Rows.Under(prefix) {
		ids = append(ids, shapes.Str(u.Id))
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
	order := func(id string) string { return ec2.VersionKey("", int64(slices.Index(ids, id))) }
	page, next, err := account.Paged(r.Core, ids, order, in.NextToken, r.Page(size))
	if err != nil {
		return nil, badParameter("%s", wire.ErrorMessage(err))
	}
	if page == nil {
		page = []string{}
	}
	return &eks.ListUpdatesOutput{UpdateIds: page, NextToken: next}, nil
}

// historyOf is where the updates of a cluster, or of one of its node groups, are kept.
func (r *Updates) historyOf(clusterName, group *string) (string, error) {
	if shapes.Str(group) == "" {
		_, err := r.clusters.findCluster(clusterName)
		return shapes.Str(clusterName) + "//", err
	}
	n, err := r.nodegroups.FindNodegroup(clusterName, group)
	if err != nil {
		return "", err
	}
	return n.key() + "/", nil
}

func (r *Updates) findUpdate(clusterName, group, id *string) (*Update, error) {
	prefix, err := r.historyOf(clusterName, group)
	if err != nil {
		return nil, err
	}
	for _, u := range r.Rows.Under(prefix) {
		if shapes.Str(u.Id) == shapes.Str(id) {
			return u, nil
		}
	}
	return nil, notFound("No update found for ID: %s", shapes.Str(id))
}

func (r *Updates) describeUpdate(in *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error) {
	u, err := r.findUpdate(in.Name, in.NodegroupName, in.UpdateId)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeUpdateOutput{Update: new(u.Update)}, nil
}

// cancelUpdate is refused: "Currently, this is supported for VersionRollback update types on EKS Auto Mode clusters".
func (r *Updates) cancelUpdate(in *eks.CancelUpdateInput) (*eks.CancelUpdateOutput, error) {
	if _, err := r.clusters.findCluster(in.Name); err != nil {
		return nil, err
	}
	for _, u := range r.Rows.Under(shapes.Str(in.Name) + "/") {
		if shapes.Str(u.Id) == shapes.Str(in.UpdateId) {
			return nil, wire.Refuse("InvalidRequestException", "Update %s of type %s cannot be cancelled.", shapes.Str(u.Id), u.Type)
		}
	}
	return nil, notFound("No update found for ID: %s", shapes.Str(in.UpdateId))
}

package ec2

import (
	"slices"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/core"
)

// The status codes of a spot request, from "Get the status of a Spot Instance request". A recommendation is in none of them: it is
// told to the instance itself and to EventBridge alone.
const (
	spotFulfilled  = "fulfilled"
	spotMarked     = "marked-for-termination"
	spotTaken      = "instance-terminated-no-capacity"
	spotTerminated = "instance-terminated-by-user"
)

func (r *Instances) spotStatus(i *Instance) string {
	switch {
	case !i.Alive() && i.ReasonCode == bySpotCode:
		return spotTaken
	case !i.Alive():
		return spotTerminated
	case core.Due(i.ReclaimAt, r.Now):
		return spotMarked
	}
	return spotFulfilled
}

func (r *Instances) describeSpotInstanceRequests(in *ec2.DescribeSpotInstanceRequestsInput) (*ec2.DescribeSpotInstanceRequestsOutput,
	error) {
	size, err := pageSize(in.MaxResults, 5, instancePage, instancePage, in.SpotInstanceRequestIds)
	if err != nil {
		return nil, err
	}
	var found []*Instance
	for _, i := range r.ByLaunch() {
		if !i.Spot || len(in.SpotInstanceRequestIds) > 0 && !slices.Contains(in.SpotInstanceRequestIds, spotRequest(i)) {
			continue
		}
		ok, err := matchFilters(in.Filters, attributes{
			"instance-id": {i.ID}, "status-code": {r.spotStatus(i)}, "state": {spotState(i)}, "spot-instance-request-id": {spotRequest(i)},
			"launched-availability-zone": {i.Zone}, "type": {"one-time"},
		}, nil)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, i)
		}
	}
	page, next, err := account.Paged(r.Core, found, instanceKey, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSpotInstanceRequestsOutput{NextToken: next}
	for _, i := range page {
		out.SpotInstanceRequests = append(out.SpotInstanceRequests, ec2.SpotInstanceRequest{
			SpotInstanceRequestId: new(spotRequest(i)), InstanceId: new(i.ID), State: spotState(i), Type: "one-time",
			CreateTime:               shapes.Stamp(i.Launch),
			LaunchedAvailabilityZone: new(i.Zone), InstanceInterruptionBehavior: "terminate",
			Status: &ec2.SpotInstanceStatus{Code: new(r.spotStatus(i)), UpdateTime: shapes.Stamp(i.Since)},
		})
	}
	return out, nil
}

func spotState(i *Instance) string {
	if i.Alive() {
		return "active"
	}
	return "closed"
}

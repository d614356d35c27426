package aws

import (
	"slices"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// rebalance lets a group that is asked to care about spot interruptions care, as "Use Capacity Rebalancing to handle Amazon EC2 Spot
// interruptions" has it: an instance whose replacement is recommended goes once another serves, one that has its final notice
// goes through its hooks at once. Neither keeps EC2 from taking it when its two minutes are over, whatever waits for a hook.
// A group that is not asked to learns of an interruption from its health check, when the instance has ended.
func (r *realm) rebalance(g *group, m *member, i *instance) {
	if i == nil || !val(g.Spec.CapacityRebalance) || m.State != memberInService {
		return
	}
	switch {
	case due(i.NoticeAt, r.now) && !g.suspended("Terminate"):
		g.Cause = ""
		r.dismiss(g, m, "", "an instance was taken out of service in response to an EC2 spot instance interruption notice")
		r.wake(g)
	case due(i.RecommendedAt, r.now) && m.AtRisk == "":
		m.AtRisk = "an instance was taken out of service in response to an EC2 instance rebalance recommendation"
		r.members.Touch(memberKey(g.name(), m.Instance))
		r.wake(g)
	}
}

// The status codes of a spot request, from "Get the status of a Spot Instance request". A recommendation is in none of them: it is
// told to the instance itself and to EventBridge alone.
const (
	spotFulfilled  = "fulfilled"
	spotMarked     = "marked-for-termination"
	spotTaken      = "instance-terminated-no-capacity"
	spotTerminated = "instance-terminated-by-user"
)

func (r *realm) spotStatus(i *instance) string {
	switch {
	case !i.alive() && i.ReasonCode == bySpotCode:
		return spotTaken
	case !i.alive():
		return spotTerminated
	case due(i.NoticeAt, r.now):
		return spotMarked
	}
	return spotFulfilled
}

func (r *realm) describeSpotInstanceRequests(in *ec2.DescribeSpotInstanceRequestsInput) (*ec2.DescribeSpotInstanceRequestsOutput, error) {
	size, err := pageSize(in.MaxResults, 5, instancePage, instancePage, in.SpotInstanceRequestIds)
	if err != nil {
		return nil, err
	}
	var found []*instance
	for _, i := range r.byLaunch() {
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
	page, next, err := paged(found, instanceKey, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSpotInstanceRequestsOutput{NextToken: next}
	for _, i := range page {
		out.SpotInstanceRequests = append(out.SpotInstanceRequests, ec2.SpotInstanceRequest{
			SpotInstanceRequestId: ptr(spotRequest(i)), InstanceId: ptr(i.ID), State: spotState(i), Type: "one-time", CreateTime: stamp(i.Launch),
			LaunchedAvailabilityZone: ptr(i.Zone), InstanceInterruptionBehavior: "terminate",
			Status: &ec2.SpotInstanceStatus{Code: ptr(r.spotStatus(i)), UpdateTime: stamp(i.Since)},
		})
	}
	return out, nil
}

func spotState(i *instance) string {
	if i.alive() {
		return "active"
	}
	return "closed"
}

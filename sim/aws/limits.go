package aws

import (
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

// Limits are the throttling buckets by name. A service's action has the bucket "<service>:<action>" where there is one of that
// Name, and otherwise that of its class: "ec2:read", "ec2:list" (unfiltered and unpaged), "ec2:write", "autoscaling", "ssm",
// "sts", "iam", "eks". "ec2:resource:<action>" is charged by the number of instances. A name that is missing is not limited.
type Limits map[string]core.Rate

// DocumentedLimits are the buckets that AWS documents for EC2, and for the others, whose sizes are not published, sizes that are
// assumed: Auto Scaling one bucket for all its actions.
func DocumentedLimits() Limits {
	return Limits{
		"ec2:read":                        {Size: 100, Refill: 20},
		"ec2:list":                        {Size: 50, Refill: 10},
		"ec2:write":                       {Size: 50, Refill: 5},
		"ec2:CreateLaunchTemplateVersion": {Size: 100, Refill: 5},
		"ec2:ModifyLaunchTemplate":        {Size: 100, Refill: 5},
		"ec2:CreateTags":                  {Size: 100, Refill: 10},
		"ec2:DeleteTags":                  {Size: 100, Refill: 10},
		"ec2:RunInstances":                {Size: 5, Refill: 2},
		"ec2:TerminateInstances":          {Size: 100, Refill: 5},
		"ec2:resource:RunInstances":       {Size: 1000, Refill: 2},
		"ec2:resource:TerminateInstances": {Size: 1000, Refill: 20},
		"autoscaling":                     {Size: 100, Refill: 10},
		"ssm":                             {Size: 40, Refill: 40},
		"sts":                             {Size: 100, Refill: 50},
		"iam":                             {Size: 100, Refill: 20},
		"eks":                             {Size: 100, Refill: 20},
	}
}

// Throttle takes the request's tokens, or refuses it.
func (x *exchange) Throttle() error {
	name := x.Service + ":" + x.Action
	rate, ok := x.server.Limit(name)
	if !ok {
		class := x.class()
		rate, _ = x.server.Limit(class)
		if x.Service != wire.ServiceEC2 {
			name = class // one bucket for the whole service
		}
	}
	scope := x.account + "/" + x.identity.Region + "/"
	if !x.server.buckets.Take(scope+name, rate, 1, x.Began) {
		return x.throttled()
	}
	if rate, ok := x.server.Limit(x.Service + ":resource:" + x.Action); ok {
		if !x.server.buckets.Take(scope+"resource:"+x.Action, rate, float64(instancesAsked(x)), x.Began) {
			return x.throttled()
		}
	}
	return nil
}

func (x *exchange) class() string {
	switch {
	case x.Service != wire.ServiceEC2:
		return x.Service
	case x.operation.Mutating:
		return "ec2:write"
	case x.operation.List && unbounded(x):
		return "ec2:list"
	default:
		return "ec2:read"
	}
}

// unbounded is a list without filter, page or IDs.
func unbounded(x *exchange) bool {
	for name := range x.Params {
		if name == "MaxResults" || strings.HasPrefix(name, "Filter.") || strings.Contains(name, "Id.") {
			return false
		}
	}
	return true
}

func instancesAsked(x *exchange) int {
	n := 0
	for name := range x.Params {
		if strings.HasPrefix(name, "InstanceId.") {
			n++
		}
	}
	if v := x.Params.Get("MaxCount"); v != "" && n == 0 {
		n = shapes.Atoi(v)
	}
	return max(1, n)
}

// Throttled is the refusal of a fault that throttles.
func (x *exchange) Throttled(sim.Fault) error { return x.throttled() }

// throttled is the refusal for too many requests.
func (x *exchange) throttled() *wire.APIError {
	switch x.Service {
	case wire.ServiceEC2:
		return &wire.APIError{Code: "RequestLimitExceeded", Message: "Request limit exceeded.", Status: http.StatusServiceUnavailable}
	case wire.ServiceSSM:
		return wire.Refuse("ThrottlingException", "Rate exceeded")
	case wire.ServiceS3:
		return &wire.APIError{Code: "SlowDown", Message: "Please reduce your request rate.", Status: http.StatusServiceUnavailable}
	case wire.ServiceEKS:
		return &wire.APIError{Code: "ThrottlingException", Message: "Rate exceeded", Status: http.StatusTooManyRequests}
	default:
		return wire.Refuse("Throttling", "Rate exceeded")
	}
}

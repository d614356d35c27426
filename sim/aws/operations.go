package aws

import (
	"maps"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/s3"
	"github.com/muster-project/muster/sim/aws/ssm"
	"github.com/muster-project/muster/sim/aws/wire"
)

// request is a request to what an account has in a region.
type request struct {
	region   *region
	exchange *exchange
}

// operations are all actions that are answered, by service.
var operations = map[string]map[string]account.Operation[request]{
	wire.ServiceEC2:         account.Of(func(q request) *ec2.Service { return q.region.EC2 }, ec2.Operations),
	wire.ServiceAutoScaling: account.Of(func(q request) *autoscaling.Service { return q.region.AutoScaling }, autoscaling.Operations),
	wire.ServiceSSM:         account.Of(func(q request) *ssm.Service { return q.region.SSM }, ssm.Operations),
	wire.ServiceIAM:         account.Of(func(q request) *iam.Service { return q.region.IAM }, iam.Operations),
	wire.ServiceS3:          account.Of(func(q request) *s3.Service { return q.region.S3 }, s3.Operations),
	wire.ServiceEKS:         account.Of(func(q request) *eks.Service { return q.region.EKS }, eks.Operations),
	wire.ServiceSTS: {
		"GetCallerIdentity": {Run: getCallerIdentity},
		"AssumeRole":        {Run: assumeRole, Mutating: true},
	},
}

// asker returns what an action asks of the caller's policies.
type asker func(r *region, x *exchange, name string) ([]iam.Ask, error)

// asking are the actions that are about a resource, by service and action. The empty action stands for all others that write.
var asking = map[string]map[string]asker{
	wire.ServiceEC2:         asksFor(func(r *region) *ec2.Service { return r.EC2 }, ec2.Asks),
	wire.ServiceAutoScaling: asksFor(func(r *region) *autoscaling.Service { return r.AutoScaling }, autoscaling.Asks),
	wire.ServiceSSM:         asksFor(func(r *region) *ssm.Service { return r.SSM }, ssm.Asks),
	wire.ServiceIAM:         asksFor(func(r *region) *iam.Service { return r.IAM }, iam.Asks),
	wire.ServiceS3:          asksFor(func(r *region) *s3.Service { return r.S3 }, s3.Asks),
	wire.ServiceEKS:         asksFor(func(r *region) *eks.Service { return r.EKS }, eks.Asks),
	wire.ServiceSTS:         {"AssumeRole": askRole},
}

// asksFor returns the askers of a service as those of a region.
func asksFor[S any](service func(*region) S, askers map[string]iam.Asker[S]) map[string]asker {
	out := make(map[string]asker, len(askers))
	for action, f := range askers {
		out[action] = func(r *region, x *exchange, name string) ([]iam.Ask, error) { return f(service(r), x.Call, name) }
	}
	return out
}

// known are the names that the rules of faults can match.
func known() sim.Known {
	out := sim.Known{Actions: map[string][]string{}}
	for service, of := range operations {
		out.Actions[service] = slices.Collect(maps.Keys(of))
	}
	for region := range account.Regions {
		out.Zones = append(out.Zones, account.ZonesOf(region)...)
	}
	slices.Sort(out.Zones)
	return out
}

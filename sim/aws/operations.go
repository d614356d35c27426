package aws

import (
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/s3"
	"github.com/muster-project/muster/sim/aws/ssm"
	"github.com/muster-project/muster/sim/aws/wire"
)

// operation is how one action is answered.
type operation struct {
	run func(*region, *exchange) (any, error)
	// mutating actions write; list actions are charged more when they request everything at once.
	mutating, list bool
}

// operations are all actions that are answered, by service.
var operations = map[string]map[string]operation{
	wire.ServiceEC2:         of(func(r *region) *ec2.Service { return r.EC2 }, ec2.Operations),
	wire.ServiceAutoScaling: of(func(r *region) *autoscaling.Service { return r.AutoScaling }, autoscaling.Operations),
	wire.ServiceSSM:         of(func(r *region) *ssm.Service { return r.SSM }, ssm.Operations),
	wire.ServiceIAM:         of(func(r *region) *iam.Service { return r.IAM }, iam.Operations),
	wire.ServiceS3:          of(func(r *region) *s3.Service { return r.S3 }, s3.Operations),
	wire.ServiceEKS:         of(func(r *region) *eks.Service { return r.EKS }, eks.Operations),
	wire.ServiceSTS: {
		"GetCallerIdentity": {run: getCallerIdentity},
		"AssumeRole":        {run: assumeRole, mutating: true},
	},
}

// of returns the operations of a service as those of a region.
func of[S any](service func(*region) S, operations map[string]account.Operation[S]) map[string]operation {
	out := make(map[string]operation, len(operations))
	for action, o := range operations {
		out[action] = operation{
			run:      func(r *region, x *exchange) (any, error) { return o.Run(service(r), x.Call) },
			mutating: o.Mutating, list: o.List,
		}
	}
	return out
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

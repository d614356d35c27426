// Package asg is AWSMachinePool, whose machines are an Auto Scaling group's.
package asg

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/wire"
	adapter "github.com/muster-project/muster/providers/aws/awsmachinepool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name:   "asg",
	Claims: func(uint64) bool { return true }, // what no other kind claims
	Salt:   0x6d757374,
	Drawn:  drawn,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: []string{"Describe*"}, Refusals: aws.Refusals(), Denial: "AccessDenied",
		Zones:     aws.Zones(),
		Follow:    follow,
		Secondary: func(script.Scenario) string { return "DescribeScalingActivities" },
		Switches:  evidence.Switches(core.Beliefs(), autoscaling.Beliefs()),
		Ignorable: func(script.Scenario) []sim.Fault { return aws.Ignorable(false) },
	},
	Golden: golden,

	Schemes:     []func(*runtime.Scheme) error{awsv1.AddToScheme},
	Objects:     []client.Object{&awsv1.AWSMachinePool{}},
	Indexes:     adapter.Adapter{}.Kind().Indexes,
	Definitions: aws.Definitions(),
	Version:     "v1.25.0", // one that the simulated account has images for
	BadType:     aws.BadType,

	OwnerTag: aws.TagOwner, ClusterTag: aws.TagCluster, TheirPolicy: aws.TheirPolicy,
	TheirID:   "arn:aws:autoscaling:eu-west-1:000000000000:autoScalingGroup:x:autoScalingGroupName/" + world.TheirGroup,
	AdoptName: adoptedGroup,
	Reshapes:  []script.What{HandRefresh},
	Another:   func(*script.Scenario) {},
}}

// pool is the pool in its account.
type pool struct{ *aws.Account }

func newPool(w *world.World) *world.Pool {
	p := &pool{aws.New(w)}
	out := &world.Pool{
		Account: p.Account.Account(),
		Object: world.Object{
			New: func() client.Object { return &awsv1.AWSMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: bounds, SetBounds: setBounds, Rolls: rolls, SetRollout: setRollout,
			Place: func() world.Place { return world.Place{InfraCluster: "AWSCluster", Object: aws.Cluster()} },
			SetUp: func() {
				if w.Scenario.Brought {
					p.Bring()
				}
			},
		},
		Edits: p.edits(),
		OutOfBand: world.OutOfBand{
			Change: p.change, Resize: p.resize, Tag: p.tag, Drop: p.drop, Foreign: p.foreign, ForAnother: p.forAnother,
		},
		Rest:        world.Rest{Unjoined: w.Group.Unjoined, Want: p.want, Is: p.is},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
	out.Annotate = func(call wire.Call, _ string, sent *oracle.Write) {
		sent.Rolls = call.Operation == "StartInstanceRefresh"
	}
	return out
}

// driver returns the kind's driver with the given transport. Requests are sequential, so that a scenario can be replayed.
func (p *pool) driver(base http.RoundTripper) cloud.Driver[*awsv1.MachinePoolSource] {
	d, err := driver.New(driver.Options{Config: p.Settings, Base: base, AtOnce: 1})
	p.World.Must(err, "make the driver")
	return d
}

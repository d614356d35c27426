// Package nodegroup is AWSManagedMachinePool, whose machines are a managed node group's.
package nodegroup

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/wire"
	adapter "github.com/muster-project/muster/providers/aws/awsmanaged"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// theirID is the spec.providerID of the node group of another tool. No look-up uses its UUID.
const theirID = "arn:aws:eks:" + simaws.Region + ":" + simaws.AccountID + ":nodegroup/" + eksCluster + "/" + world.TheirGroup +
	"/00000000-0000-0000-0000-000000000000"

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name:   "nodegroup",
	Claims: func(seed uint64) bool { return seed%20 < 16 && seed%4 == 0 },
	Salt:   0x6d757374,
	Drawn:  drawn,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: []string{"Describe*"}, Refusals: aws.Refusals(), Denial: "AccessDenied",
		Zones:     aws.Zones(),
		Follow:    follow,
		Switches:  evidence.Switches(core.Beliefs(), autoscaling.Beliefs(), eks.Beliefs()),
		Ignorable: func(script.Scenario) []sim.Fault { return aws.Ignorable(true) },
	},
	Golden: golden,

	Schemes:     []func(*runtime.Scheme) error{awsv1.AddToScheme},
	Objects:     []client.Object{&awsv1.AWSManagedMachinePool{}},
	Indexes:     adapter.Adapter{}.Kind().Indexes,
	Definitions: aws.Definitions(),
	Version:     "v" + world.Minor(world.FirstMinor) + ".0",
	BadType:     aws.BadType,
	Bootstrap: func(token string) string { // what machines of EKS's images run is in parts, and such a machine needs no token
		return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n" +
			"#!/bin/bash\necho token: " + token + "\n\n--//--\n"
	},

	OwnerTag: aws.TagOwner, ClusterTag: aws.TagCluster, TheirPolicy: aws.TheirPolicy,
	TheirID: theirID,
	GroupOf: func(id string) string {
		_, path, _ := strings.Cut(id, ":nodegroup/")
		return strings.Split(path+"/", "/")[1]
	},
	AdoptName:  adoptedName,
	NamesGroup: true,
	Reshapes:   []script.What{HandBreak},
	Another:    func(*script.Scenario) {},
}}

// Own holds the parameters that exist only in scenarios of node groups.
type Own struct {
	// Bare pools have no launch template.
	Bare bool
	// Roles lets the controller make the role of nodes; otherwise a user has made one.
	Roles bool
}

func own(s script.Scenario) Own { return s.Own.(Own) }

// pool is the pool in its account.
type pool struct {
	*aws.Account
	// minor is the Kubernetes version of the control plane.
	minor int
	// theirLabel is true while the label tier is another provider's.
	theirLabel bool
	outOfBand  *outOfBand
	rest       *rest
}

func newPool(w *world.World) *world.Pool {
	p := &pool{Account: aws.New(w), minor: world.FirstMinor}
	p.outOfBand, p.rest = &outOfBand{pool: p}, &rest{pool: p}
	out := &world.Pool{
		Account: p.Account.Account(),
		Object: world.Object{
			New: func() client.Object { return &awsv1.AWSManagedMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: bounds, SetBounds: setBounds, SetRollout: setRollout,
			Place: func() world.Place {
				return world.Place{InfraCluster: "AWSManagedCluster", Object: p.controlPlane(), ControlPlane: true}
			},
			SetUp: p.putCluster,
		},
		Edits: p.edits(),
		OutOfBand: world.OutOfBand{
			Change: p.outOfBand.change, Tag: p.outOfBand.tag, Drop: p.outOfBand.drop, Foreign: p.outOfBand.foreign,
			DropForeign: p.outOfBand.dropForeign,
			ForAnother:  p.outOfBand.forAnother,
		},
		Rest: world.Rest{
			ClearBlockers: p.outOfBand.clearBlockers, Settle: p.rest.settle, Unjoined: w.Group.Unjoined, Busy: p.rest.busy,
			Want: p.rest.want, Is: p.rest.is, Forgive: p.rest.forgive, Fragile: p.rest.fragile,
		},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
	out.Accepted = p.accepted
	out.Annotate = func(call wire.Call, text string, sent *oracle.Write) {
		sent.Rolls = call.Operation == "UpdateNodegroupVersion"
		sent.Forces = sent.Rolls && strings.Contains(text, `"force":true`)
	}
	return out
}

// driver returns the kind's driver with the given transport. Requests are sequential, so that a scenario can be replayed.
func (p *pool) driver(base http.RoundTripper) cloud.Driver[*awsv1.ManagedMachinePoolSource] {
	d, err := driver.New(driver.Options{
		Options:   session.Options{Config: p.Settings, Base: base, AtOnce: 1},
		EnableIAM: own(p.World.Scenario).Roles,
	})
	p.World.Must(err, "make the driver")
	return d
}

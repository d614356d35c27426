// Package instancegroup is GCPMachinePool, whose machines are a managed instance group's, of one zone or of several.
package instancegroup

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/gcp/instancegroup"
	adapter "github.com/muster-project/muster/providers/gcp/gcpmachinepool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/machinecontroller"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

const salt = 0x676365

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name:   "instancegroup",
	Claims: script.OneIn(8, salt),
	Salt:   salt,
	Drawn:  drawn,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: gcp.Reads, Refusals: gcp.Refusals(), Denial: gcp.Denial, Zones: gcp.Zones,
		Follow:    gcp.Follow,
		Secondary: func(script.Scenario) string { return "machineTypes.get" },
		Switches:  evidence.Switches(core.Beliefs(), compute.Beliefs()),
		Ignorable: ignorable,
	},
	Golden: golden,

	Schemes: []func(*runtime.Scheme) error{gcpv1.AddToScheme},
	Objects: []client.Object{&gcpv1.GCPMachinePool{}, &gcpv1.GCPMachine{}},
	Indexes: adapter.Adapter{}.Kind().Indexes,
	Definitions: []script.Definition{
		{Name: "gcpclusters.infrastructure", Version: "v1beta1"}, {Name: "gcpmachinepools.infrastructure", Version: "v1beta1"},
		{Name: "gcpmachines.infrastructure", Version: "v1beta1"}, {Name: "gcpmachinetemplates.infrastructure", Version: "v1beta1"},
		{Name: "gcpclustertemplates.infrastructure", Version: "v1beta1"},
	},
	Machines:     machines,
	HaveMachines: func(s script.Scenario) bool { return own(s).Machines },
	Places:       true,

	Version:  gcp.Version,
	BadType:  gcp.BadType,
	Restarts: true, // a group restarts instances by the policy that another client has set

	OwnerTag: gcp.LabelOwner, ClusterTag: gcp.LabelCluster, SurgeTag: gcp.LabelSurge,
	TheirID:   groupID("zones/"+gcp.Zones[0], world.TheirGroup),
	AdoptName: theirName,
	Reshapes:  []script.What{HandRoll, HandDropUnused},
	Another:   func(*script.Scenario) {},
}}

// theirName is the name that the ecosystem's provider gives the group of a pool.
var theirName = world.ClusterName + "-" + world.InfraKey.Name

// Own holds the parameters that exist only in scenarios of managed instance groups.
type Own struct {
	// Regional groups are in all zones of gcp.Zones, others in the first one.
	Regional bool
	// Heals is true if the group recreates instances that fail a health check.
	Heals bool
	// Machines is true if each instance has a Machine.
	Machines bool
}

func own(s script.Scenario) Own { return s.Own.(Own) }

// machines describes the objects for single instances.
var machines = &machinecontroller.Infra{
	New:        func() client.Object { return &gcpv1.GCPMachine{} },
	List:       func() client.ObjectList { return &gcpv1.GCPMachineList{} },
	ProviderID: func(o client.Object) string { return o.(*gcpv1.GCPMachine).Spec.ProviderID },
	Provisioned: func(o client.Object) bool {
		p := o.(*gcpv1.GCPMachine).Status.Initialization.Provisioned
		return p != nil && *p
	},
}

// zones returns the zones of a scenario's group, location the path of its location in requests.
func (o Own) zones() []string {
	if o.Regional {
		return gcp.Zones
	}
	return gcp.Zones[:1]
}

func (o Own) location() string {
	if o.Regional {
		return "regions/" + gcp.Region
	}
	return "zones/" + gcp.Zones[0]
}

// ignorable returns the rules of what Compute Engine may accept and ignore: of groups of the scenario's kind.
func ignorable(s script.Scenario) []sim.Fault {
	var list []sim.Fault
	for _, f := range simgcp.Ignorable() {
		if f.Service == "compute" && regional(f.Action) == own(s).Regional {
			list = append(list, f)
		}
	}
	return list
}

// pool is the pool in its account.
type pool struct{ *gcp.Account }

func newPool(w *world.World) *world.Pool {
	p := &pool{gcp.New(w)}
	return &world.Pool{
		Account: world.Account{Cloud: p.Cloud, Arrange: p.Arrange, Describe: p.describe, Annotate: p.annotate},
		Object: world.Object{
			New: func() client.Object { return &gcpv1.GCPMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: func(client.Object) (least, most int32) { return 0, world.Plenty }, SetBounds: func(client.Object, int32, int32) {},
			SetRollout: setRollout,
			Place:      func() world.Place { return world.Place{InfraCluster: "GCPCluster", Object: gcp.Cluster()} },
			SetUp:      p.setUp,
		},
		Edits:       p.edits(),
		OutOfBand:   world.OutOfBand{Change: p.change, Foreign: p.foreign, ForAnother: p.forAnother},
		Rest:        world.Rest{ClearBlockers: p.clearBlockers, Unjoined: w.Group.Unjoined, Busy: w.Group.Busy, Want: p.want, Is: p.is},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
}

// driver returns the kind's driver with the given transport.
func (p *pool) driver(base http.RoundTripper) cloud.Driver[*gcpv1.MachinePoolSource] {
	d, err := driver.New(driver.Options{Listing: p.World.Scenario.Seed%2 == 0, Endpoint: gcp.Endpoint, Base: base})
	p.World.Must(err, "make the driver")
	return d
}

// Package gkenodepool are the node pools of GKE, of a GCPManagedMachinePool.
package gkenodepool

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/gcp/nodepool"
	"github.com/muster-project/muster/cloud/wire"
	adapter "github.com/muster-project/muster/providers/gcp/gcpmanaged"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

const salt = 0x676b65

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name:   "gke",
	Claims: script.OneIn(8, salt),
	Salt:   salt,
	Drawn:  drawn,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: reads, Refusals: refusals(), Denial: gcp.Denial, Zones: gcp.Zones,
		Follow:    gcp.Follow,
		Secondary: secondary,
		Switches:  evidence.Switches(core.Beliefs(), compute.Beliefs(), container.Beliefs()),
		Ignorable: ignorable,
	},
	Golden: golden,

	Schemes: []func(*runtime.Scheme) error{gcpv1.AddToScheme},
	Objects: []client.Object{&gcpv1.GCPManagedMachinePool{}},
	Indexes: adapter.Adapter{}.Kind().Indexes,
	Definitions: []script.Definition{
		{Name: "gcpmanagedmachinepools.infrastructure", Version: "v1beta1"}, {Name: "gcpmanagedcontrolplanes.infrastructure", Version: "v1beta1"},
		{Name: "gcpmanagedclusters.infrastructure", Version: "v1beta1"},
	},
	Version:  "v" + world.Minor(world.FirstMinor) + patch,
	BadType:  gcp.BadType,
	Restarts: true, // groups restart instances that were stopped

	OpensNodes: true, OwnName: true, LosesTag: true, OwnerTag: gcp.LabelOwner, ClusterTag: gcp.LabelCluster,
	TheirID:   poolID(world.TheirGroup),
	AdoptName: world.InfraKey.Name, // a node pool has the name of the object
	Another:   func(*script.Scenario) {},
}}

// Own holds the parameters that exist only in scenarios of node pools.
type Own struct {
	// Zones is the number of zones of the node pool.
	Zones int
	// Upgrades selects the upgrade settings, as an index into the list of them.
	Upgrades int
}

func own(s script.Scenario) Own { return s.Own.(Own) }

// ignorable lists the settings that GKE can accept without effect, and those of Compute Engine for the groups of node pools.
func ignorable(script.Scenario) []sim.Fault {
	ofGroups := []string{"instanceGroupManagers.resize", "instanceGroupManagers.deleteInstances"}
	list := slices.DeleteFunc(simgcp.Ignorable(), func(f sim.Fault) bool {
		return f.Service != "container" && !slices.Contains(ofGroups, f.Action)
	})
	slices.SortFunc(list, func(x, y sim.Fault) int {
		return cmp.Or(cmp.Compare(x.Action, y.Action), cmp.Compare(x.Field, y.Field))
	})
	return list
}

// pool is the pool in its account. External ones are sized by GKE's own autoscaler.
type pool struct {
	*gcp.Account
	outOfBand *outOfBand
	plane     *plane
	rest      *rest
}

func newPool(w *world.World) *world.Pool {
	p := &pool{Account: gcp.New(w)}
	p.outOfBand, p.plane, p.rest = &outOfBand{pool: p}, newPlane(p), &rest{pool: p}
	return &world.Pool{
		Account: world.Account{
			Cloud: p.Cloud, Describe: p.describe, Annotate: annotate,
		},
		Object: world.Object{
			New: func() client.Object { return &gcpv1.GCPManagedMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: bounds, SetBounds: bound, SetRollout: p.setRollout,
			Place: func() world.Place {
				return world.Place{InfraCluster: gcpv1.ManagedClusterKind, Object: p.plane.Object(), ControlPlane: true,
					Infrastructure: managedCluster()}
			},
			SetUp: p.plane.SetUp,
		},
		Edits: p.edits(),
		OutOfBand: world.OutOfBand{
			Change: p.outOfBand.change, DropForeign: p.outOfBand.dropForeign, ForAnother: p.outOfBand.forAnother,
		},
		Rest: world.Rest{
			ClearBlockers: p.rest.clearBlockers, Unjoined: w.Group.Unjoined, Busy: p.rest.busy, Want: p.rest.want, Is: p.rest.is,
		},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
}

// annotate tells the oracles about effects of a write that the state does not show.
func annotate(call wire.Call, _ string, sent *oracle.Write) {
	sent.Shrinks = true
	if strings.HasSuffix(call.Operation, "operations.cancel") {
		sent.Reopened()
	}
}

// driver returns the kind's driver with the given transport.
func (p *pool) driver(base http.RoundTripper) cloud.Driver[*gcpv1.ManagedMachinePoolSource] {
	d, err := driver.New(driver.Options{Listing: p.World.Scenario.Seed%2 == 0, Endpoint: gcp.Endpoint, Base: base})
	p.World.Must(err, "make the driver")
	return d
}

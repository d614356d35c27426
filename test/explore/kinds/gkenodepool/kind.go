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
		Happenings: happenings, Actions: actions, Reads: reads, Refusals: refusals(), Denial: gcp.Denial, Zones: gcp.Zones,
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

// Own is what only scenarios of node pools have.
type Own struct {
	// Zones is how many zones the node pool has.
	Zones int
	// Upgrades are the settings by which GKE replaces nodes, by their place in the list of them.
	Upgrades int
}

func own(s script.Scenario) Own { return s.Own.(Own) }

// ignorable are the rules of what GKE may accept and ignore, and Compute Engine of the groups of node pools.
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
	hands *hands
	plane *plane
	rest  *rest
}

func newPool(w *world.World) *world.Pool {
	p := &pool{Account: gcp.New(w)}
	p.hands, p.plane, p.rest = &hands{pool: p}, newPlane(p), &rest{pool: p}
	return &world.Pool{
		Account: world.Account{
			Cloud: p.Cloud, Asked: p.asked, Judged: judged,
		},
		Object: world.Object{
			New: func() client.Object { return &gcpv1.GCPManagedMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: bounds, SetBounds: bound, Asks: p.asks,
			Place: func() world.Place {
				return world.Place{InfraCluster: gcpv1.ManagedClusterKind, Object: p.plane.Object(), ControlPlane: true, Beside: managedCluster()}
			},
			Furnish: p.plane.Furnish,
		},
		Edits: p.edits(),
		Hands: world.Hands{
			Change: p.hands.change, DropForeign: p.hands.dropForeign, ForAnother: p.hands.forAnother,
		},
		Rest:        world.Rest{Appease: p.rest.appease, Unjoined: w.Group.Unjoined, Busy: p.rest.busy, Want: p.rest.want, Is: p.rest.is},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
}

// judged tells the oracles what they need to know of a write beside what it changed.
func judged(call wire.Call, _ string, sent *oracle.Write) {
	sent.Shrinks = true
	if strings.HasSuffix(call.Operation, "operations.cancel") {
		sent.Reopened()
	}
}

// driver is the kind's, whose requests take the given way.
func (p *pool) driver(base http.RoundTripper) cloud.Driver[*gcpv1.ManagedMachinePoolSource] {
	d, err := driver.New(driver.Options{Listing: p.World.Scenario.Seed%2 == 0, Endpoint: gcp.Endpoint, Base: base})
	p.World.Must(err, "make the driver")
	return d
}

// Package agentpool are the agent pools of AKS, of an AzureManagedMachinePool or of an AzureASOManagedMachinePool.
package agentpool

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/azure/agentpool"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/azuremanaged"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/world"
)

// Kind is the kind.
var Kind = &world.Kind{
	Name:   "aks",
	Claims: world.OneIn(8, 0x616b7300),
	Salt:   0x616b73,
	Drawn:  drawn,
	Odds: world.Odds{
		Happenings: happenings, Actions: actions, Reads: azure.Reads, Refusals: azure.Refusals(), Denial: azure.Denial, Zones: azure.Zones,
		Follow:    follow,
		Secondary: func(world.Scenario) string { return "Operations_Get" },
		Ignorable: func(world.Scenario) []sim.Fault { return simazure.IgnorableOfPools() },
	},
	Golden: golden,

	Schemes: []func(*runtime.Scheme) error{azurev1.AddToScheme, aksv1.AddToScheme},
	Objects: []client.Object{&aksv1.AzureManagedMachinePool{}, &aksv1.AzureASOManagedMachinePool{}},
	Indexes: func() []watch.Index {
		return append(azuremanaged.Managed{}.Kind().Indexes(), azuremanaged.ASO{}.Kind().Indexes()...)
	},
	Definitions: []world.Definition{
		{Name: "azuremanagedmachinepools.infrastructure", Version: "v1beta1"},
		{Name: "azuremanagedcontrolplanes.infrastructure", Version: "v1beta1"},
		{Name: "azureasomanagedmachinepools.infrastructure", Version: "v1beta1"},
		{Name: "azureasomanagedcontrolplanes.infrastructure", Version: "v1beta1"},
	},
	Version:  "v" + world.Minor(world.FirstMinor) + patch,
	BadType:  azure.BadType,
	Restarts: true, // machines that it had deallocated

	OneEach: "VirtualMachineScaleSetVMs.Update",
	Make:    newPool,
}

// Own is what only scenarios of agent pools have.
type Own struct {
	// Manifest is true for an AzureASOManagedMachinePool, which is a manifest of Azure Service Operator.
	Manifest bool
	// System pools are created with their managed cluster, and adopted.
	System bool
	// VMs are pools whose machines are virtual machines by themselves.
	VMs bool
}

func own(s world.Scenario) Own { return s.Own.(Own) }

// pool is the pool in its account. External ones are sized by AKS's own autoscaler.
type pool struct {
	*azure.Account
	hands *hands
	plane *plane
	rest  *rest
}

func newPool(w *world.World) *world.Pool {
	a := &pool{Account: azure.New(w, false)}
	a.hands, a.plane, a.rest = &hands{pool: a}, &plane{pool: a, minor: world.FirstMinor}, &rest{pool: a}
	return &world.Pool{
		Account: world.Account{
			Cloud: a.Cloud, Snapshot: a.snapshot, Asked: a.asked,
			Judged: func(_ wire.Call, _ string, sent *oracle.Write) { sent.Shrinks = true },
		},
		Object: world.Object{
			New: a.newObject, Applied: a.applied,
			Status: func(o client.Object) *common.Status { return agents(o).status() },
			Bounds: func(o client.Object) (least, most int32) { return agents(o).bounds() },
			SetBounds: func(o client.Object, least, most int32) {
				agents(o).bound(least, most)
			},
			Asks: a.asks,
			Place: func() world.Place {
				return world.Place{InfraCluster: "AzureManagedCluster", Object: a.plane.object(), ControlPlane: true}
			},
			Furnish: a.plane.furnish,
		},
		Edits: a.edits(),
		Hands: world.Hands{
			Change: a.hands.change, Own: a.hands.own, DropForeign: a.hands.dropForeign,
			Foreign: func(int) {}, // it is there before the control plane is ready
		},
		Rest:       world.Rest{Appease: a.rest.appease, Unjoined: a.rest.unjoined, Busy: a.rest.busy, Want: a.rest.want, Is: a.rest.is},
		Reconciler: a.reconciler,
		Planner:    a.planner,
	}
}

// driver is the kind's, whose requests take the given way.
func (a *pool) driver(base http.RoundTripper) cloud.Driver[*aksv1.AgentPoolSource] {
	d, err := driver.New(driver.Options{Endpoint: azure.Endpoint, Base: base, Credential: azure.AnyToken})
	a.World.Must(err, "make the driver")
	return d
}

func (a *pool) reconciler(base http.RoundTripper, o infrapool.Options) world.Reconcile {
	d := world.Counted(a.World, a.driver(base))
	if own(a.World.Scenario).Manifest {
		return infrapool.New(azuremanaged.ASO{}, d, o).Reconcile
	}
	return infrapool.New(azuremanaged.Managed{}, d, o).Reconcile
}

func (a *pool) planner(base http.RoundTripper, o infrapool.Options) world.Look {
	if own(a.World.Scenario).Manifest {
		return infrapool.NewPlanner(azuremanaged.ASO{}, a.driver(base), o).Look
	}
	return infrapool.NewPlanner(azuremanaged.Managed{}, a.driver(base), o).Look
}

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
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/providers/azure/azuremanaged"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name:   "aks",
	Claims: script.OneIn(8, 0x616b7300),
	Salt:   0x616b73,
	Drawn:  drawn,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: azure.Reads, Refusals: azure.Refusals(), Denial: azure.Denial, Zones: azure.Zones,
		Follow:    follow,
		Secondary: func(script.Scenario) string { return "Operations_Get" },
		Switches:  evidence.Switches(core.Beliefs(), compute.Beliefs(), containerservice.Beliefs()),
		Ignorable: func(script.Scenario) []sim.Fault { return simazure.IgnorableOfPools() },
	},
	Golden: golden,

	Schemes: []func(*runtime.Scheme) error{azurev1.AddToScheme, aksv1.AddToScheme},
	Objects: []client.Object{&aksv1.AzureManagedMachinePool{}, &aksv1.AzureASOManagedMachinePool{}},
	Indexes: func() []watch.Index {
		return append(azuremanaged.Managed{}.Kind().Indexes(), azuremanaged.ASO{}.Kind().Indexes()...)
	},
	Definitions: []script.Definition{
		{Name: "azuremanagedmachinepools.infrastructure", Version: "v1beta1"},
		{Name: "azuremanagedcontrolplanes.infrastructure", Version: "v1beta1"},
		{Name: "azureasomanagedmachinepools.infrastructure", Version: "v1beta1"},
		{Name: "azureasomanagedcontrolplanes.infrastructure", Version: "v1beta1"},
	},
	Version:  "v" + world.Minor(world.FirstMinor) + patch,
	BadType:  azure.BadType,
	Restarts: true, // machines that it had deallocated

	OpensNodes: true, OwnName: true, LosesTag: true, OwnerTag: azure.TagOwner, ClusterTag: azure.TagCluster,
	OneEach: "VirtualMachineScaleSetVMs.Update",
	Another: another,
}}

// Own holds the parameters that exist only in scenarios of agent pools.
type Own struct {
	// Manifest is true for an AzureASOManagedMachinePool, which is a manifest of Azure Service Operator.
	Manifest bool
	// System pools are created with their managed cluster, and adopted.
	System bool
	// VMs are pools whose machines are virtual machines by themselves.
	VMs bool
	// Spot pools have a label and a taint of AKS's.
	Spot bool
	// NoResize is true where the subscription has not registered the feature by which AKS changes the size of a pool's machines.
	NoResize bool
}

// another draws the scenario of an additional agent pool: in mode User, of the same kind.
func another(s *script.Scenario) {
	of := own(*s)
	of.System, of.VMs, of.Spot = false, false, false
	s.Own, s.Least = of, max(1, s.Least)
	s.Most, s.Replicas = max(s.Most, s.Least+1), max(1, s.Replicas)
	if s.Strategy = nil; s.Replicas%2 == 0 {
		s.Strategy = &script.Limits{Surge: "1", Unavailable: "0"}
	}
}

func own(s script.Scenario) Own { return s.Own.(Own) }

// pool is the pool in its account. External ones are sized by AKS's own autoscaler.
type pool struct {
	*azure.Account
	outOfBand *outOfBand
	plane     *plane
	rest      *rest
}

func newPool(w *world.World) *world.Pool {
	a := &pool{Account: azure.New(w, simazure.Options{})}
	if !own(w.Scenario).NoResize {
		w.Must(a.Cloud.AKS.RegisterFeature(containerservice.FeatureResize), "register a feature")
	}
	a.outOfBand, a.plane, a.rest = &outOfBand{pool: a}, newPlane(a), &rest{pool: a}
	return &world.Pool{
		Account: world.Account{
			Cloud: a.Cloud, Describe: a.describe,
			Annotate: func(_ wire.Call, _ string, sent *oracle.Write) { sent.Shrinks = true },
		},
		Object: world.Object{
			New: a.newObject, Applied: a.applied,
			Status: func(o client.Object) *common.Status { return agents(o).status() },
			Bounds: func(o client.Object) (least, most int32) { return agents(o).bounds() },
			SetBounds: func(o client.Object, least, most int32) {
				agents(o).bound(least, most)
			},
			SetRollout: a.setRollout,
			Place: func() world.Place {
				return world.Place{InfraCluster: "AzureManagedCluster", Object: a.plane.Object(), ControlPlane: true}
			},
			SetUp: a.plane.SetUp,
		},
		Edits:     a.edits(),
		OutOfBand: world.OutOfBand{Change: a.outOfBand.change, DropForeign: a.outOfBand.dropForeign},
		Rest: world.Rest{
			ClearBlockers: a.rest.clearBlockers, Unjoined: w.Group.Unjoined, Busy: a.rest.busy, Want: a.rest.want, Is: a.rest.is,
		},
		Controllers: a.controllers(),
	}
}

// driver returns the kind's driver with the given transport.
func (a *pool) driver(base http.RoundTripper) cloud.Driver[*aksv1.AgentPoolSource] {
	d, err := driver.New(driver.Options{Endpoint: azure.Endpoint, Base: base, Credential: azure.AnyToken})
	a.World.Must(err, "make the driver")
	return d
}

func (a *pool) controllers() world.Controllers {
	if own(a.World.Scenario).Manifest {
		return world.Control(a.World, azuremanaged.ASO{}, a.driver)
	}
	return world.Control(a.World, azuremanaged.Managed{}, a.driver)
}

// Package scaleset is AzureMachinePool, whose machines are a scale set's, in Uniform or in Flexible mode.
package scaleset

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/cloud/wire"
	adapter "github.com/muster-project/muster/providers/azure/azuremachinepool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/machinecontroller"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name:   "scaleset",
	Claims: func(seed uint64) bool { return seed%20 < 16 && seed%4 > 1 },
	Salt:   0x6d757374,
	Drawn:  drawn,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: azure.Reads, Refusals: azure.Refusals(), Denial: azure.Denial, Zones: azure.Zones,
		Follow:    azure.Follow,
		Secondary: secondary,
		Switches:  evidence.Switches(core.Beliefs(), compute.Beliefs()),
		Ignorable: func(script.Scenario) []sim.Fault { return simazure.Ignorable() },
	},
	Golden: golden,

	Schemes: []func(*runtime.Scheme) error{azurev1.AddToScheme, aksv1.AddToScheme},
	Objects: []client.Object{&azurev1.AzureMachinePool{}, &azurev1.AzureMachinePoolMachine{}},
	Indexes: adapter.Adapter{}.Kind().Indexes,
	Definitions: []script.Definition{
		{Name: "azureclusters.infrastructure", Version: "v1beta1"}, {Name: "azuremachinepools.infrastructure", Version: "v1beta1"},
		{Name: "azuremachinepoolmachines.infrastructure", Version: "v1beta1"}, {Name: "azuremachines.infrastructure", Version: "v1beta1"},
		{Name: "azuremachinetemplates.infrastructure", Version: "v1beta1"}, {Name: "azureclustertemplates.infrastructure", Version: "v1beta1"},
		{Name: "azureclusteridentities.infrastructure", Version: "v1beta1"},
	},
	Machines: &machinecontroller.Infra{
		New:  func() client.Object { return &azurev1.AzureMachinePoolMachine{} },
		List: func() client.ObjectList { return &azurev1.AzureMachinePoolMachineList{} },
		ProviderID: func(o client.Object) string {
			return o.(*azurev1.AzureMachinePoolMachine).Spec.ProviderID
		},
		Provisioned: func(o client.Object) bool {
			p := o.(*azurev1.AzureMachinePoolMachine).Status.Initialization.Provisioned
			return p != nil && *p
		},
	},
	Version:    version,
	BadType:    azure.BadType,
	FreesNames: true,

	OwnName: true, OwnerTag: azure.TagOwner, ClusterTag: azure.TagCluster, SurgeTag: tagSurge,
	TheirID:   "azure://" + setPath(world.TheirGroup),
	AdoptName: world.InfraKey.Name, // a scale set has the name of the object
	OneEach:   "VirtualMachineScaleSetVMs.Update",
	Another:   func(*script.Scenario) {},
}}

// Own holds the parameters that exist only in scenarios of scale sets.
type Own struct {
	// Mode is the orchestration mode.
	Mode azurev1.OrchestrationModeType
	// Evicts is the eviction policy of spot machines.
	Evicts azurev1.SpotEvictionPolicy
}

func own(s script.Scenario) Own { return s.Own.(Own) }

// secondary returns a read that may fail without keeping the rest of a pool from being observed.
func secondary(s script.Scenario) string {
	if own(s).Mode == azurev1.FlexibleOrchestrationMode {
		return "VirtualMachineScaleSetVMs_List"
	}
	return ""
}

// pool is the pool in its account.
type pool struct{ *azure.Account }

func newPool(w *world.World) *world.Pool {
	p := &pool{azure.New(w, simazure.Options{})}
	return &world.Pool{
		Account: world.Account{
			Cloud: p.Cloud, Describe: p.describe,
			Annotate: func(_ wire.Call, _ string, sent *oracle.Write) { sent.Shrinks = true },
		},
		Object: world.Object{
			New: func() client.Object { return &azurev1.AzureMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: func(client.Object) (least, most int32) { return 0, world.Plenty }, SetBounds: func(client.Object, int32, int32) {},
			SetRollout: setRollout,
			Place:      func() world.Place { return world.Place{InfraCluster: "AzureCluster", Object: place()} },
		},
		Edits: p.edits(),
		OutOfBand: world.OutOfBand{
			Change: p.change, Resize: p.resize, Tag: p.tag, Drop: p.drop, Foreign: p.foreign, ForAnother: p.forAnother,
		},
		Rest:        world.Rest{ClearBlockers: p.ClearBlockers, Unjoined: w.Group.Unjoined, Busy: w.Group.Busy, Want: p.want, Is: p.is},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
}

// driver returns the kind's driver with the given transport.
func (p *pool) driver(base http.RoundTripper) cloud.Driver[*azurev1.MachinePoolSource] {
	d, err := driver.New(driver.Options{Listing: p.World.Scenario.Seed%2 == 0, Endpoint: azure.Endpoint, Base: base,
		Credential: azure.AnyToken})
	p.World.Must(err, "make the driver")
	return d
}

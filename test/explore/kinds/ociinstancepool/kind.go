// Package ociinstancepool is OCIMachinePool, whose machines are those of an instance pool of Oracle Cloud.
package ociinstancepool

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/oci/instancepool"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/wire"
	adapter "github.com/muster-project/muster/providers/oci/ocimachinepool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	simoci "github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/test/explore/kinds/oci"
	"github.com/muster-project/muster/test/explore/kinds/shelf"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name: "ociinstancepool", Salt: 0x6f6369, Drawn: drawn, Golden: golden,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: oci.Reads, Denial: oci.Denial, Zones: simoci.Domains(), Refusals: oci.Refusals(),
		Secondary: func(script.Scenario) string { return "ListShapes" },
		Switches:  evidence.Switches(slices.Concat(core.Beliefs(), rest.Beliefs(), compute.Beliefs())),
		Ignorable: ignorable,
	},
	Schemes:     []func(*runtime.Scheme) error{ociv1.AddToScheme},
	Objects:     []client.Object{&ociv1.OCIMachinePool{}, &ociv1.OCIMachinePoolMachine{}},
	Indexes:     adapter.Adapter{}.Kind().Indexes,
	Definitions: oci.Definitions("ocimachinepools", "ociclusters"), Machines: oci.Machines(),
	Version: version, BadType: oci.BadShape, OwnerTag: oci.OwnerTag, ClusterTag: oci.ClusterTag, SurgeTag: launch.TagSurge,
	Reshapes: []script.What{HandPoint, HandDropUnused},
}}

// ignorable leaves out the release of held instances, which is repeated until it has an effect: the hook's time bounds it.
func ignorable(script.Scenario) []sim.Fault {
	return slices.DeleteFunc(simoci.IgnorableOfGroups(), func(f sim.Fault) bool {
		return f.Action == "TerminationProceedInstancePoolInstance"
	})
}

// version is the one of all machines.
const version = "v1.34.2"

// own reports whether the machines of a scenario are in one availability domain.
func own(s script.Scenario) bool { return s.Own.(bool) }

// grouped is the tenancy with what can be done to instance pools.
type grouped struct {
	world.Simulator
	can func() sim.Capabilities
}

// Capabilities are those of instance pools.
func (g grouped) Capabilities() sim.Capabilities { return g.can() }

// pool is the pool in its tenancy.
type pool struct {
	world *world.World
	sim   *simoci.Cloud
	// shelves are the instance configurations.
	shelves *shelf.Shelves
}

// arrange leaves out the machines that a user has detached, which are the user's, and has an empty pool that can't launch count as failed:
// it takes no change.
func (p *pool) arrange(is sim.Snapshot, c *oracle.Cloud) {
	p.shelves.Arrange(is, c)
	c.Instances = slices.DeleteFunc(c.Instances, func(i oracle.Instance) bool { return i.Group == "" })
	for i := range c.Groups {
		c.Groups[i].Failed = c.Groups[i].Failed || len(c.Groups[i].Members) == 0 && is.Group(c.Groups[i].Name).State == "SCALING"
	}
}

func newPool(w *world.World) *world.Pool {
	p := &pool{world: w, sim: oci.New(w), shelves: shelf.New(oci.OwnerTag)}
	return &world.Pool{
		Account: world.Account{Cloud: grouped{p.sim, p.sim.GroupCapabilities}, Describe: p.describe, Annotate: annotate, Arrange: p.arrange},
		Object: world.Object{
			New: func() client.Object { return &ociv1.OCIMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: func(client.Object) (least, most int32) { return 0, world.Plenty }, SetBounds: func(client.Object, int32, int32) {},
			SetRollout: setRollout, SetUp: func() { oci.SetUp(w) },
			Place: func() world.Place {
				return world.Place{InfraCluster: ociv1.ClusterKind, Object: oci.Cluster(ociv1.ClusterKind)}
			},
		},
		Edits:       p.edits(),
		OutOfBand:   world.OutOfBand{Change: p.change},
		Rest:        world.Rest{ClearBlockers: p.clearBlockers, Unjoined: w.Group.Unjoined, Busy: w.Group.Busy, Want: p.want, Is: p.is},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
}

func (p *pool) driver(base http.RoundTripper) cloud.Driver[*ociv1.MachinePoolSource] {
	d, err := driver.New(driver.Options{Endpoint: oci.Endpoint, Base: base})
	p.world.Must(err, "make the driver")
	return d
}

// request holds the fields of a request that the trace shows. Bootstrap data are secret.
type request struct {
	DisplayName             string          `json:"displayName,omitempty"`
	Size                    *int            `json:"size,omitempty"`
	InstanceConfigurationID string          `json:"instanceConfigurationId,omitempty"`
	PlacementConfigurations json.RawMessage `json:"placementConfigurations,omitempty"`
	LifecycleManagement     json.RawMessage `json:"lifecycleManagement,omitempty"`
	FreeformTags            json.RawMessage `json:"freeformTags,omitempty"`
	InstanceID              string          `json:"instanceId,omitempty"`
	IsDecrementSize         *bool           `json:"isDecrementSize,omitempty"`
	IsAutoTerminate         *bool           `json:"isAutoTerminate,omitempty"`
}

// describe describes a request without its secrets, and returns the machines that it names: nil for all.
func (p *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	var sent request
	_ = json.Unmarshal(body, &sent) // a request without a body names nothing
	shown, err := json.Marshal(sent)
	if err != nil {
		return "", nil, err
	}
	text = strings.Join([]string{req.Method, req.URL.Path, string(shown)}, " ")
	g := p.world.Group.Now()
	switch at := req.URL.Path; {
	case strings.HasSuffix(at, "/detachInstance"), strings.HasSuffix(at, "/terminationProceed"):
		return text, []string{sent.InstanceID}, nil
	case req.Method == http.MethodDelete && strings.Contains(at, "/instancePools/"), strings.HasSuffix(at, "/stop"):
		return text, nil, nil
	case sent.Size != nil && g != nil && *sent.Size < len(g.Staying()) && req.Method == http.MethodPut:
		return text, nil, nil
	}
	return text, []string{}, nil
}

// annotate tells the oracles whether a removal lowers the size.
func annotate(_ wire.Call, text string, sent *oracle.Write) {
	sent.Shrinks = !strings.Contains(text, `"isDecrementSize":false`)
}

// object returns an infrastructure object as what it is.
func object(o client.Object) *ociv1.OCIMachinePool { return o.(*ociv1.OCIMachinePool) }

// strategy returns the strategy in the form of the object. There always is one, because admission sets the default.
func strategy(l *script.Limits) common.Strategy {
	if l == nil {
		l = &script.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"}
	}
	return *l.Spec()
}

// decimal returns a number in the form of the object.
func decimal(n string) *ociv1.Decimal { return ptr.To(ociv1.Decimal(n)) }

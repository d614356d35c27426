// Package okenodepool is OCIManagedMachinePool, whose nodes are those of a node pool of OKE.
package okenodepool

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/oci/nodepool"
	"github.com/muster-project/muster/cloud/wire"
	adapter "github.com/muster-project/muster/providers/oci/ocimanaged"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/evidence"
	simoci "github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/containerengine"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/test/explore/kinds/oci"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name: "okenodepool", Salt: 0x6f6b65, Drawn: drawn, Golden: golden,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: oci.Reads, Denial: oci.Denial, Zones: simoci.Domains(), Refusals: oci.Refusals(),
		Switches:  evidence.Switches(slices.Concat(core.Beliefs(), rest.Beliefs(), containerengine.Beliefs())),
		Ignorable: func(script.Scenario) []sim.Fault { return simoci.Ignorable() },
	},
	Schemes:     []func(*runtime.Scheme) error{ociv1.AddToScheme},
	Objects:     []client.Object{&ociv1.OCIManagedMachinePool{}, &ociv1.OCIMachinePoolMachine{}},
	Indexes:     adapter.Adapter{}.Kind().Indexes,
	Definitions: oci.Definitions("ocimanagedmachinepools", "ocimanagedcontrolplanes", "ocimanagedclusters"), Machines: oci.Machines(),
	Version: "v" + world.Minor(world.FirstMinor) + oci.Patch, BadType: oci.BadShape, OwnName: true,
	LosesTag: true, OwnerTag: oci.OwnerTag, ClusterTag: oci.ClusterTag, AdoptName: world.InfraKey.Name,
}}

// own returns what only scenarios of node pools have: the place of the settings of cycling in the list of them.
func own(s script.Scenario) int { return s.Own.(int) }

// pool is the pool in its tenancy.
type pool struct {
	world *world.World
	sim   *simoci.Cloud
	// minor is the minor version that the control plane is to have.
	minor int
}

func newPool(w *world.World) *world.Pool {
	p := &pool{world: w, sim: oci.New(w), minor: world.FirstMinor}
	return &world.Pool{
		Account: world.Account{Cloud: p.sim, Describe: p.describe, Annotate: annotate, Arrange: boundless},
		Object: world.Object{
			New: func() client.Object { return &ociv1.OCIManagedMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: func(client.Object) (least, most int32) { return 0, world.Plenty }, SetBounds: func(client.Object, int32, int32) {},
			SetRollout: setRollout, SetUp: p.setUp,
			Place: func() world.Place {
				return world.Place{InfraCluster: ociv1.ManagedClusterKind, Object: p.controlPlane(), ControlPlane: true,
					Infrastructure: oci.Cluster(ociv1.ManagedClusterKind)}
			},
		},
		Edits:       p.edits(),
		OutOfBand:   world.OutOfBand{Change: p.change, Foreign: p.foreign, ForAnother: p.forAnother},
		Rest:        world.Rest{ClearBlockers: p.clearBlockers, Unjoined: w.Group.Unjoined, Busy: w.Group.Busy, Want: p.want, Is: p.is},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
}

func (p *pool) driver(base http.RoundTripper) cloud.Driver[*ociv1.ManagedMachinePoolSource] {
	d, err := driver.New(driver.Options{Endpoint: oci.Endpoint, Base: base})
	p.world.Must(err, "make the driver")
	return d
}

// describe describes a request, and returns the nodes that it names: nil if OKE chooses them. A token of a retry is not part of it.
func (p *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	var sent struct {
		NodeConfigDetails struct{ Size *int }
	}
	_ = json.Unmarshal(body, &sent) // a request without a body names nothing
	text = strings.Join([]string{req.Method, req.URL.RequestURI(), string(body)}, " ")
	parts, g := strings.Split(req.URL.Path, "/"), p.world.Group.Now()
	switch size := sent.NodeConfigDetails.Size; {
	case req.Method == http.MethodDelete && parts[len(parts)-2] == "node":
		return text, parts[len(parts)-1:], nil
	case req.Method == http.MethodDelete, size != nil && g != nil && *size < len(g.Staying()):
		return text, nil, nil
	}
	return text, []string{}, nil
}

// annotate tells the oracles whether a removal lowers the size.
func annotate(_ wire.Call, text string, sent *oracle.Write) {
	sent.Shrinks = !strings.Contains(text, "isDecrementSize=false")
}

// boundless leaves out the bounds of a pool, which OKE has none of.
func boundless(_ sim.Snapshot, c *oracle.Cloud) {
	for i := range c.Groups {
		c.Groups[i].Max = world.Plenty
	}
}

func (p *pool) controlPlane() *unstructured.Unstructured {
	return oci.Object(ociv1.ManagedControlPlaneKind, map[string]any{"version": "v" + p.version(), "clusterType": "ENHANCED_CLUSTER",
		"clusterPodNetworkOptions": []any{map[string]any{"cniType": string(ociv1.CNINative)}}})
}

func (p *pool) version() string { return world.Minor(p.minor) + oci.Patch }

// setUp makes the credentials, and the cluster once its objects are there.
func (p *pool) setUp() {
	oci.SetUp(p.world)
	p.world.At(time.Now().Add(time.Second), p.provide)
}

// provide does for the control plane what its own provider does, one minor version at a time.
func (p *pool) provide() {
	is, err := p.sim.PutCluster(simoci.Access{Name: world.ClusterName, Version: p.version(), Server: "https://oke.example", CA: []byte("CA"),
		Token: p.world.Workload.Tokens.Last()})
	p.world.Must(err, "put the cluster")
	if is["kubernetesVersion"] != "v"+p.version() || is["lifecycleState"] != "ACTIVE" {
		p.world.At(time.Now().Add(5*time.Second), p.provide)
		return
	}
	plane := p.controlPlane()
	p.world.Must(p.world.Objects.User.Get(p.world.Context(), world.ClusterKey, plane), "read the control plane")
	p.world.Must(unstructured.SetNestedField(plane.Object, document.Text(is, "id"), "spec", "id"), "set the ID")
	status := map[string]any{"version": "v" + p.version(), "ready": true, "initialization": map[string]any{"controlPlaneInitialized": true}}
	p.world.Must(unstructured.SetNestedMap(plane.Object, status, "status"), "set the status")
	p.world.Must(p.world.Objects.User.Update(p.world.Context(), plane), "tell that the control plane is ready")
}

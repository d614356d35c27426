// Package scaleway is ScalewayManagedMachinePool, whose nodes are those of a pool of Kapsule.
package scaleway

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/scaleway/kapsule"
	"github.com/muster-project/muster/cloud/wire"
	adapter "github.com/muster-project/muster/providers/scaleway/scalewaymanaged"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	simscaleway "github.com/muster-project/muster/sim/scaleway"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

const (
	endpoint = "http://127.0.0.1:9"
	// patch is the patch of each minor version that control planes and pools run.
	patch = ".2"
	// badType is a node type whose nodes never join: pools keep the type that they have.
	badType    = "COPARM1-2C-8G"
	secretName = "scaleway-credentials"
)

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name: "scaleway", Salt: 0x736377, Drawn: drawn, Golden: golden,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: []string{"Get*", "List*"}, Denial: "permissions_denied",
		Zones: []string{simscaleway.Region + "-1"},
		Refusals: []script.Refusal{{}, {}, {Code: "permissions_denied", Status: 403}, {Code: "transient_state", Status: 409},
			{Code: "quotas_exceeded", Status: 403}, {Code: "out_of_stock", Status: 503}, {Code: "precondition_failed", Status: 412},
			{Code: "invalid_arguments", Status: 400}, {Code: simscaleway.ProxyPage, Status: 502}},
		Switches:  evidence.Switches(slices.Concat(core.Beliefs(), simscaleway.Beliefs())),
		Ignorable: func(script.Scenario) []sim.Fault { return simscaleway.Ignorable() },
	},
	Schemes: []func(*runtime.Scheme) error{scalewayv1.AddToScheme}, Objects: []client.Object{&scalewayv1.ScalewayManagedMachinePool{}},
	Indexes: adapter.Adapter{}.Kind().Indexes,
	Definitions: []script.Definition{
		{Name: "scalewaymanagedmachinepools.infrastructure", Version: "v1alpha2"},
		{Name: "scalewaymanagedcontrolplanes.infrastructure", Version: "v1alpha2"},
		{Name: "scalewaymanagedclusters.infrastructure", Version: "v1alpha2"},
	},
	Version: "v" + world.Minor(world.FirstMinor) + patch, BadType: badType, OwnName: true,
	LosesTag: true, OwnerTag: driver.Spelling.Key(cloud.TagOwner), ClusterTag: driver.Spelling.Key(cloud.TagCluster),
	TheirID: poolID(world.TheirGroup), AdoptName: world.InfraKey.Name,
}}

// own returns what only scenarios of Kapsule have: the place of the upgrade policy in the list of them.
func own(s script.Scenario) int { return s.Own.(int) }

func poolID(name string) string {
	return "scaleway:///projects/" + simscaleway.ProjectID + "/regions/" + simscaleway.Region + "/clusters/" + world.ClusterName + "/pools/" +
		name
}

// pool is the pool in its account. External ones are sized by Kapsule's autoscaler.
type pool struct {
	world *world.World
	sim   *simscaleway.Cloud
	// minor is the minor version that the control plane is to have.
	minor int
}

func newPool(w *world.World) *world.Pool {
	made, err := simscaleway.New(simscaleway.Options{Seed: w.Scenario.Seed, Speed: w.Scenario.Speed, MachineHost: w.Workload,
		Switches: w.Scenario.Switches})
	w.Must(err, "make the simulator")
	p := &pool{world: w, sim: made, minor: world.FirstMinor}
	return &world.Pool{
		Account: world.Account{Cloud: made, Describe: p.describe, Annotate: annotate, Arrange: boundless},
		Object: world.Object{
			New: func() client.Object { return &scalewayv1.ScalewayManagedMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status.Status },
			Bounds: bounds, SetBounds: setBounds, SetRollout: setRollout, SetUp: p.setUp,
			Place: func() world.Place {
				return world.Place{InfraCluster: scalewayv1.ManagedClusterKind, Object: p.controlPlane(), ControlPlane: true, Infrastructure: cluster()}
			},
		},
		Edits:       p.edits(),
		OutOfBand:   world.OutOfBand{Change: p.change, Foreign: p.foreign, ForAnother: p.forAnother},
		Rest:        world.Rest{ClearBlockers: p.clearBlockers, Unjoined: w.Group.Unjoined, Busy: w.Group.Busy, Want: p.want, Is: p.is},
		Controllers: world.Control(w, adapter.Adapter{}, p.driver),
	}
}

func (p *pool) driver(base http.RoundTripper) cloud.Driver[*scalewayv1.ManagedMachinePoolSource] {
	d, err := driver.New(driver.Options{Endpoint: endpoint, Base: base})
	p.world.Must(err, "make the driver")
	return d
}

// sizing holds the fields of a request body that concern the size of a pool.
type sizing struct {
	Size        *int
	Autoscaling *bool
	MaxSize     *int `json:"max_size"`
}

// takes reports whether the request has Kapsule choose nodes to delete. It does if the new size is below the number of nodes, or the new
// maximum below the size that the autoscaler chose: Kapsule then lowers that size.
func (s sizing) takes(g *sim.Group) bool {
	switch {
	case g == nil:
		return false
	case s.Size != nil && *s.Size < len(g.Staying()):
		return true
	}
	return ptr.Deref(s.Autoscaling, g.Autoscaled) && s.MaxSize != nil && *s.MaxSize < g.Size
}

// describe describes a request, and returns the nodes that it names: nil if Kapsule chooses them.
func (p *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	var sent sizing
	_ = json.Unmarshal(body, &sent) // a request without a body names nothing
	text = strings.Join([]string{req.Method, req.URL.Path, string(body)}, " ")
	switch parts := strings.Split(req.URL.Path, "/"); {
	case req.Method == http.MethodDelete && parts[len(parts)-2] == "nodes":
		return text, parts[len(parts)-1:], nil
	case req.Method == http.MethodDelete, sent.takes(p.world.Group.Now()):
		return text, nil, nil
	}
	return text, []string{}, nil
}

// annotate tells the oracles that a removal lowers the size.
func annotate(_ wire.Call, _ string, sent *oracle.Write) { sent.Shrinks = true }

// boundless leaves out the bounds of a pool: they are those of the cloud's autoscaler, and not of a rollout or of a user.
func boundless(_ sim.Snapshot, c *oracle.Cloud) {
	for i := range c.Groups {
		c.Groups[i].Max = world.Plenty
	}
}

// kindOf returns an object of another provider as a user applies it.
func kindOf(kind string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": scalewayv1.GroupVersion.String(), "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
	}}
}

func cluster() *unstructured.Unstructured {
	return kindOf(scalewayv1.ManagedClusterKind, map[string]any{"region": simscaleway.Region, "projectID": simscaleway.ProjectID,
		"scalewaySecretName": secretName})
}

func (p *pool) controlPlane() *unstructured.Unstructured {
	return kindOf(scalewayv1.ManagedControlPlaneKind, map[string]any{"clusterName": world.ClusterName, "version": "v" + p.version()})
}

func (p *pool) version() string { return world.Minor(p.minor) + patch }

// setUp makes the credentials, and the cluster once its objects are there.
func (p *pool) setUp() {
	p.world.Must(p.world.Objects.User.Create(p.world.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: world.Namespace, Name: secretName},
		Data: map[string][]byte{adapter.KeyAccessKey: []byte(simscaleway.AccessKey),
			adapter.KeySecretKey: []byte(simscaleway.SecretKey)},
	}), "make the credentials")
	p.world.At(time.Now().Add(time.Second), p.provide)
}

// provide does for the control plane what its own provider does, one minor version at a time.
func (p *pool) provide() {
	is, err := p.sim.PutCluster(simscaleway.Access{Name: world.ClusterName, Version: p.version(), Server: "https://kapsule.example",
		CA: []byte("CA"), Token: p.world.Workload.Tokens.Last()})
	p.world.Must(err, "put the cluster")
	if is["version"] != p.version() || is["status"] != "ready" && is["status"] != "pool_required" {
		p.world.At(time.Now().Add(5*time.Second), p.provide)
		return
	}
	plane := p.controlPlane()
	p.world.Must(p.world.Objects.User.Get(p.world.Context(), world.ClusterKey, plane), "read the control plane")
	status := map[string]any{"version": "v" + p.version(), "initialization": map[string]any{"controlPlaneInitialized": true}}
	p.world.Must(unstructured.SetNestedMap(plane.Object, status, "status"), "set the status")
	p.world.Must(p.world.Objects.User.Update(p.world.Context(), plane), "tell that the control plane is ready")
}

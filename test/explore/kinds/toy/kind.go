// Package toy is the kind of pools of the toy cloud. It shows how little a kind takes where its simulator returns a snapshot.
package toy

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	driver "github.com/muster-project/muster/cloud/toy"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/managed"
	simtoy "github.com/muster-project/muster/sim/toy"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

const (
	endpoint = "http://127.0.0.1:9"
	// patch is the patch of each minor version that control planes and pools run.
	patch = ".2"
	// badType is a machine type whose nodes never join.
	badType   = "arm"
	adoptName = "of-another-tool"
)

// Kind is the kind.
var Kind = &world.Kind{Make: newPool, Kind: &script.Kind{
	Name: "toy", Salt: 0x746f79, Drawn: drawn, Golden: golden,
	Odds: script.Odds{
		Events: events, Actions: actions, Reads: []string{"Get*", "List*"}, Denial: "Forbidden", Zones: simtoy.Zones(),
		Refusals: []script.Refusal{{}, {}, {Code: "Forbidden", Status: 403}, {Code: "Busy", Status: 409}, {Code: "PreconditionFailed",
			Status: 412}, {Code: "Internal", Status: 503}, {Code: "InvalidField", Status: 400}},
		Secondary: func(script.Scenario) string { return "GetMachineType" },
		Switches:  evidence.Switches(core.Beliefs()),
		Ignorable: func(script.Scenario) []sim.Fault { return simtoy.Ignorable() },
	},
	Schemes: []func(*runtime.Scheme) error{addToScheme}, Objects: []client.Object{&ToyMachinePool{}}, Indexes: adapter{}.Kind().Indexes,
	Definitions: []script.Definition{
		{Name: "toymachinepools.infrastructure", Version: "v1beta1"}, {Name: "toycontrolplanes.infrastructure", Version: "v1beta1"},
	},
	Version: "v" + world.Minor(world.FirstMinor) + patch, BadType: badType,
	LosesTag: true, OwnerTag: cloud.TagDomain + "/" + cloud.TagOwner, ClusterTag: cloud.TagDomain + "/" + cloud.TagCluster,
	TheirID: poolID(world.TheirGroup), AdoptName: adoptName,
}}

func poolID(name string) string { return "toy:///clusters/" + world.ClusterName + "/pools/" + name }

// pool is the pool in its account. External ones are sized by the cloud's autoscaler.
type pool struct {
	world *world.World
	sim   *simtoy.Cloud
	// minor is the minor version that the control plane is to have.
	minor int
}

func newPool(w *world.World) *world.Pool {
	made, err := simtoy.New(simtoy.Options{Seed: w.Scenario.Seed, Speed: w.Scenario.Speed, MachineHost: w.Workload,
		Switches: w.Scenario.Switches})
	w.Must(err, "make the simulator")
	p := &pool{world: w, sim: made, minor: world.FirstMinor}
	return &world.Pool{
		Account: world.Account{Cloud: made, Describe: p.describe, Annotate: annotate, Arrange: boundless},
		Object: world.Object{
			New: func() client.Object { return &ToyMachinePool{} }, Applied: p.applied,
			Status: func(o client.Object) *common.Status { return &object(o).Status },
			Bounds: bounds, SetBounds: setBounds, SetRollout: setRollout, SetUp: p.provide,
			Place: func() world.Place {
				return world.Place{InfraCluster: "ToyCluster", Object: p.controlPlane(), ControlPlane: true}
			},
		},
		Edits:       p.edits(),
		OutOfBand:   world.OutOfBand{Change: p.change, Foreign: p.foreign, ForAnother: p.forAnother},
		Rest:        world.Rest{ClearBlockers: p.clearBlockers, Unjoined: w.Group.Unjoined, Busy: w.Group.Busy, Want: p.want, Is: p.is},
		Controllers: world.Control(w, adapter{}, newDriver),
	}
}

func newDriver(base http.RoundTripper) cloud.Driver[*driver.Source] {
	return driver.New(driver.Options{Endpoint: endpoint, Token: "any", Base: base})
}

// describe describes a request, and returns the nodes that it names: nil if the cloud chooses them.
func (p *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	var sent struct {
		Nodes []string
		Count *int
	}
	_ = json.Unmarshal(body, &sent) // a request without a body names nothing
	text = strings.Join([]string{req.Method, req.URL.Path, string(body)}, " ")
	g := p.world.Group.Now()
	if req.Method == http.MethodDelete || g != nil && sent.Count != nil && *sent.Count < len(g.Staying()) {
		return text, nil, nil
	}
	return text, append([]string{}, sent.Nodes...), nil
}

// annotate tells the oracles that a removal lowers the size, unless others are to come, and that a cancelled upgrade uncordons the nodes
// whose drain it had begun.
func annotate(call wire.Call, text string, sent *oracle.Write) {
	sent.Shrinks = !strings.Contains(text, `"replace":true`)
	if call.Operation == "CancelOperation" {
		sent.Reopened()
	}
}

// boundless leaves out the bounds of a pool: they are those of the cloud's autoscaler, and not of a rollout or of a user.
func boundless(_ sim.Snapshot, c *oracle.Cloud) {
	for i := range c.Groups {
		c.Groups[i].Max = world.Plenty
	}
}

// controlPlane returns the control plane as a user applies it.
func (p *pool) controlPlane() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": groupVersion.String(), "kind": kindControlPlane,
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
		"spec":     map[string]any{"version": "v" + p.version()},
	}}
}

func (p *pool) version() string { return world.Minor(p.minor) + patch }

// provide does for the control plane what its own provider does, one minor version at a time.
func (p *pool) provide() {
	want := managed.Cluster{Key: world.ClusterName, Name: world.ClusterName, Version: p.version(), Server: "https://toy.example",
		CA: []byte("CA"), Token: p.world.Workload.Tokens.Last()}
	is, err := p.sim.Console.PutCluster(want)
	p.world.Must(err, "put the cluster")
	if is.State != managed.Running || is.Version != want.Version {
		p.world.At(time.Now().Add(5*time.Second), p.provide)
		return
	}
	plane := p.controlPlane()
	p.world.Must(p.world.Objects.User.Get(p.world.Context(), world.ClusterKey, plane), "read the control plane")
	status := map[string]any{"ready": true, "version": "v" + is.Version}
	p.world.Must(unstructured.SetNestedMap(plane.Object, status, "status"), "set the status")
	p.world.Must(p.world.Objects.User.Update(p.world.Context(), plane), "tell that the control plane is ready")
}

// upgrade has the control plane brought to the next minor version, and the pool to that of its control plane.
func (p *pool) upgrade(e script.Event) {
	if p.minor < world.LastMinor && e.N%3 > 0 {
		p.minor++
		p.provide()
	}
	if e.M%3 > 0 {
		p.world.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + p.version() })
	}
}

// applied returns a pool as a user applies it.
func (p *pool) applied() client.Object {
	o := &ToyMachinePool{}
	o.Namespace, o.Name = world.InfraKey.Namespace, world.InfraKey.Name
	o.Spec.Spec = driver.Spec{MachineType: "medium", Image: "standard", Labels: map[string]string{"tier": "a"},
		Tags: map[string]string{"team": "a"}, Upgrade: upgrades[own(p.world.Scenario)]}
	if p.world.Scenario.External {
		o.Spec.Autoscaling = &driver.Autoscaling{Min: p.world.Scenario.Least, Max: p.world.Scenario.Most}
	}
	return o
}

// upgrades are settings by which the cloud replaces nodes. A scenario's own part is the place of one of them.
var upgrades = []driver.Upgrade{{}, {MaxSurge: "2", MaxUnavailable: "1"}, {MaxSurge: "0", MaxUnavailable: "1"}, {MaxSurge: "50%"}}

func own(s script.Scenario) int { return s.Own.(int) }

// setRollout sets how nodes are to be replaced: by the cloud after a change, by Muster for a restart.
func setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	desired.Deleting = desired.Deleting || mp != nil && !mp.DeletionTimestamp.IsZero()
	desired.ReplacedByMuster = true
	if o != nil {
		s := object(o).Spec.Spec
		l := limits(s).Spec().RollingUpdate
		desired.External = desired.External || s.Autoscaling != nil
		desired.Surge, desired.Unavailable = world.Share(l.MaxSurge), world.Share(l.MaxUnavailable)
	}
	if desired.External { // Muster adds no node to a size that an autoscaler owns: only the cloud's own rollout does
		desired.Unavailable.N = max(desired.Unavailable.N, 1)
	}
}

// edits returns the changes that users make to the object.
func (p *pool) edits() world.Edits {
	machine := func(o client.Object, name, image string) {
		object(o).Spec.MachineType, object(o).Spec.Image = name, image
	}
	back := func(o client.Object) { machine(o, "medium", "standard") }
	return world.Edits{
		Template: func(o client.Object, n int) {
			machine(o, []string{"medium", "large", "small"}[n%3], []string{"standard", "hardened"}[n/3%2])
		},
		Bad: func(o client.Object) { object(o).Spec.MachineType = badType }, Back: back,
		Type:  func(o client.Object) string { return object(o).Spec.MachineType },
		Group: func(o client.Object, n, m int) { edit(&object(o).Spec.Spec, n, m) }, Upgrade: p.upgrade,
	}
}

// edit changes one field that no node is replaced for.
func edit(s *driver.Spec, n, m int) {
	switch n % 5 {
	case 0:
		s.Labels = []map[string]string{nil, {"tier": "b"}, {"tier": "a", "team": "x"}}[m%3]
	case 1:
		s.Taints = [][]driver.Taint{nil, {{Key: "dedicated", Value: "x", Effect: "NoSchedule"}}}[m%2]
	case 2:
		s.Tags = []map[string]string{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 3:
		s.Autoscaling = []*driver.Autoscaling{nil, {Min: n % 2, Max: 3 + m}}[m%2]
	default:
		s.Upgrade = upgrades[m%len(upgrades)]
	}
	*s = s.Clone()
}

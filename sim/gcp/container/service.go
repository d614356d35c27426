// Package container simulates Google Kubernetes Engine: clusters and their node pools, as Google's published API description,
// documentation and recorded traffic show them. The nodes of a node pool are zonal managed instance groups of package compute; they join
// the cluster by themselves.
//
// An operation takes time, and a cluster has one at a time: another request is refused until it has ended or was cancelled. Upgrades of
// nodes create, cordon, drain and delete machines as the node pool's upgrade settings say: with surge, or blue-green.
//
// Not simulated, and refused: Autopilot, node auto-provisioning and queued provisioning. The cluster autoscaler moves the groups of a node
// pool that it scales by Console.
package container

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/gcp/shapes"
	"github.com/muster-project/muster/sim/state"
)

// bodies are what requests may hold.
var bodies = shapes.ReadShapes(shapes.Container)

// Service is GKE with all that it holds. Its operations run one at a time.
type Service struct {
	*project.Core
	compute *compute.Service
	groups  compute.Managers

	clusters   *sim.Table[Cluster]
	pools      *sim.Table[Pool]
	operations *sim.Table[operation]

	masters *masters
	agents  *agents
	life    *lifecycle
	rolls   *rolls
	nodes   *nodes
	views   *views
}

// The parts of the service, by what they decide. Each embeds the Service, which holds the tables.
type (
	// masters are the operations on clusters, agents those on node pools.
	masters struct{ *Service }
	agents  struct{ *Service }
	// lifecycle is what goes on over time: operations, and node pools that are brought to their size. rolls are upgrades of nodes.
	lifecycle struct{ *Service }
	rolls     struct{ *Service }
	// nodes are the machines of node pools.
	nodes struct{ *Service }
	// views are clusters, node pools and operations as clients see them.
	views struct{ *Service }
)

// New returns the empty service.
func New(core *project.Core, c *compute.Service) *Service {
	w := &Service{
		Core: core, compute: c, groups: c.Managers(),
		clusters: sim.NewTable[Cluster]("gke-cluster/"), pools: sim.NewTable[Pool]("gke-pool/"),
		operations: sim.NewTable[operation]("gke-operation/"),
	}
	w.masters, w.agents, w.life, w.rolls = &masters{w}, &agents{w}, &lifecycle{w}, &rolls{w}
	w.nodes, w.views = &nodes{w}, &views{w}
	c.NodeOf = w.nodes.nodeOf
	return w
}

// Tables returns the tables of the service.
func (w *Service) Tables() state.Tables { return state.Tables{w.clusters, w.pools, w.operations} }

// Tick brings the service to the present and returns when something is due next; the zero time means never.
func (w *Service) Tick() time.Time {
	var next time.Time
	for _, c := range w.clusters.All() {
		next = state.Earliest(next, w.life.tickCluster(c))
	}
	for _, p := range w.pools.All() {
		next = state.Earliest(next, w.life.tickPool(p))
	}
	for _, op := range w.operations.All() {
		next = state.Earliest(next, w.life.tickOperation(op))
	}
	return next
}

// Idle reports whether there is no cluster, so that nothing can be due.
func (w *Service) Idle() bool { return w.clusters.Len() == 0 && w.operations.Len() == 0 }

// read decodes the body of a request that must be of the shape.
func read(x *project.Call, shape string) (document.Object, error) {
	d, err := bodies.Read(x.Body, shape)
	if err != nil {
		return nil, badRequest(err.Error())
	}
	return d, nil
}

// lost reports whether a location can't be reached.
func (w *Service) lost(location string) bool { return w.Outages.Get(scopeOf(location)) != nil }

// scopeOf is a location as a scope: zones/z or regions/r.
func scopeOf(location string) string {
	if project.RegionOf(location) != "" {
		return "zones/" + location
	}
	return "regions/" + location
}

// listed returns what a list of a location shows, or of all of them, and names the locations that can't be reached and may be missing.
func (w *Service) listed(x *project.Call, member string, all map[string][]any) (*project.Answer, error) {
	d, missing := document.Object{}, []string{}
	var shown []any
	for _, location := range slices.Sorted(maps.Keys(all)) {
		if !w.lost(location) {
			shown = append(shown, all[location]...)
		}
	}
	for scope := range w.Outages.All() {
		if name := named(scope, ""); x.Vars["location"] == everywhere || x.Vars["location"] == name {
			missing = append(missing, name)
		}
	}
	put(d, member, shown)
	put(d, "missingZones", document.List(missing))
	return project.OK(d), nil
}

// cluster finds the cluster that a request is about.
func (w *Service) cluster(x *project.Call) (*Cluster, error) {
	if location := x.Vars["location"]; w.lost(location) {
		return nil, project.Unreachable(scopeOf(location))
	}
	c := w.clusters.Get(clusterKey(x.Vars["project"], x.Vars["location"], x.Vars["cluster"]))
	if c == nil {
		return nil, notFound(placed(x.Vars["project"], x.Vars["location"]) + "/clusters/" + x.Vars["cluster"])
	}
	return c, nil
}

// pool finds the cluster and the node pool that a request is about.
func (w *Service) pool(x *project.Call) (*Cluster, *Pool, error) {
	c, err := w.cluster(x)
	if err != nil {
		return nil, nil, err
	}
	p := w.pools.Get(poolKey(c.key(), x.Vars["nodePool"]))
	if p == nil {
		return c, nil, notFound(c.path() + "/nodePools/" + x.Vars["nodePool"])
	}
	return c, p, nil
}

// poolsOf returns the node pools of a cluster by name.
func (w *Service) poolsOf(c *Cluster) []*Pool {
	var out []*Pool
	for _, p := range w.pools.Under(c.key() + "/nodePools/") {
		out = append(out, p)
	}
	return out
}

func (w *Service) touchCluster(c *Cluster) {
	c.Version++
	w.clusters.Touch(c.key())
}

func (w *Service) touchPool(p *Pool) {
	p.Version++
	w.pools.Touch(p.key())
}

// openPool refuses an operation on a node pool while another one runs on its cluster, and one that is not for the blue-green upgrade that
// was paused.
func (w *Service) openPool(c *Cluster, p *Pool) error {
	if err := w.open(c); err != nil {
		return err
	}
	if p.paused() {
		return precondition("Node pool %s has a blue-green upgrade that is not complete: resume it, or roll it back.", p.Name)
	}
	return nil
}

// paused reports whether a blue-green upgrade of the node pool was cancelled or has failed, and can go on.
func (p *Pool) paused() bool { return p.Op == "" && p.Roll != nil && p.Roll.Blue != nil }

// open refuses an operation on a cluster or its node pools while another one runs.
func (w *Service) open(c *Cluster) error {
	if c.Op != "" {
		return busy(c.Op)
	}
	return nil
}

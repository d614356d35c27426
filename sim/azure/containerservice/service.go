// Package containerservice simulates Microsoft.ContainerService: managed clusters and their agent pools, as Microsoft's published
// specification and recorded traffic show them. The machines of a pool are a scale set of package compute in the cluster's node resource
// group, or virtual machines by themselves; they join the cluster by themselves.
//
// An operation takes time, and a pool or a cluster has one at a time: another request is refused until it has ended or was aborted.
// Upgrades add surge nodes, cordon and drain old ones within the budgets of the pods, wait for the soak time and delete them.
//
// Not simulated, and refused: pools of type AvailabilitySet, pools of type VirtualMachines with several sizes, snapshots, maintenance
// windows, and commands that run in a cluster. The cluster autoscaler of AKS moves the count of a pool when its owner lets it, by Portal.
package containerservice

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/shapes"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/state"
)

// bodies are what requests may hold.
var bodies = withLater(arm.ReadShapes(shapes.ContainerService))

// withLater adds the members of versions that are later than the SDK's.
func withLater(s arm.Shapes) arm.Shapes {
	if s["AgentPoolUpgradeSettings"] == nil {
		return s
	}
	for member, kind := range map[string]string{"maxUnavailable": "string", "undrainableNodeBehavior": "=Cordon|Schedule",
		"maxBlockedNodes": "string"} {
		s["AgentPoolUpgradeSettings"][member] = kind
	}
	for _, shape := range []string{"ManagedClusterAgentPoolProfileProperties", "ManagedClusterAgentPoolProfile"} {
		s[shape]["type"] = "=AvailabilitySet|" + typeScaleSets + "|" + typeVMs
		s[shape]["virtualMachinesProfile"], s[shape]["virtualMachineNodesStatus"] = "VirtualMachinesProfile", "!any"
	}
	s["VirtualMachinesProfile"] = map[string]string{"scale": "ScaleProfile"}
	s["ScaleProfile"] = map[string]string{"manual": "[]ManualScaleProfile"}
	s["ManualScaleProfile"] = map[string]string{"size": "string", "count": "int"}
	return s
}

// Service is Microsoft.ContainerService with all that it holds. Its operations run one at a time.
type Service struct {
	*arm.Core
	compute *compute.Service

	clusters   *sim.Table[Cluster]
	pools      *sim.Table[Pool]
	operations *sim.Table[operation]
	releases   *sim.Table[releaseRow]

	managed *managedClusters
	agents  *agentPools
	life    *lifecycle
	nodes   *nodes
	views   *views
}

// The parts of the service, by what they decide. Each embeds the Service, which holds the tables.
type (
	// managedClusters and agentPools are the operations on clusters and on pools.
	managedClusters struct{ *Service }
	agentPools      struct{ *Service }
	// lifecycle is what goes on over time: operations and rolls.
	lifecycle struct{ *Service }
	// nodes are the machines of pools.
	nodes struct{ *Service }
	// views are clusters and pools as clients see them.
	views struct{ *Service }
)

// New returns the empty service.
func New(core *arm.Core, c *compute.Service) *Service {
	w := &Service{
		Core: core, compute: c,
		clusters: sim.NewTable[Cluster]("aks-cluster/"), pools: sim.NewTable[Pool]("aks-pool/"),
		operations: sim.NewTable[operation]("aks-operation/"), releases: sim.NewTable[releaseRow]("aks-release/"),
	}
	w.managed, w.agents, w.life, w.nodes, w.views = &managedClusters{w}, &agentPools{w}, &lifecycle{w}, &nodes{w}, &views{w}
	c.NodeOf = w.nodes.nodeOf
	return w
}

// Tables returns the tables of the service.
func (w *Service) Tables() state.Tables {
	return state.Tables{w.clusters, w.pools, w.operations, w.releases}
}

// Tick brings the service to the present and returns when something is due next; the zero time means never.
func (w *Service) Tick() time.Time {
	var next time.Time
	for _, c := range w.clusters.All() {
		next = state.Earliest(next, w.life.tickCluster(c))
	}
	for _, p := range w.pools.All() {
		next = state.Earliest(next, w.life.tickPool(p))
	}
	for id, op := range w.operations.All() {
		if op.Forgotten(w.Now) {
			w.operations.Delete(id)
		}
	}
	return next
}

// Idle reports whether there is no cluster, so that nothing can be due.
func (w *Service) Idle() bool { return w.clusters.Len() == 0 && w.operations.Len() == 0 }

// Remember keeps an operation about which nothing is done, so that it can be read, and returns it under an ID of its own.
func (w *Service) Remember(op arm.Operation) *arm.Operation {
	op.ID = w.UUID("operation")
	kept := &operation{Operation: op}
	w.operations.Put(op.ID, kept)
	return &kept.Operation
}

// Tagged finds the cluster at a scope: its ID, its tags, and how they are replaced. It returns an empty ID for none.
func (w *Service) Tagged(scope string) (id string, tags map[string]string, put func(map[string]string)) {
	c := w.clusters.Get(strings.ToLower(scope))
	if c == nil {
		return "", nil, nil
	}
	return c.ID, document.Pairs(c.Doc, "tags"), func(t map[string]string) {
		c.Doc["tags"] = document.OfStrings(t)
		w.touchCluster(c)
	}
}

// cluster finds the cluster that a request is about; the error is ARM's.
func (w *Service) cluster(x *arm.Call) (*Cluster, error) {
	c := w.clusters.Get(clusterKey(x.Vars["sub"], x.Vars["rg"], x.Vars["cluster"]))
	if c == nil {
		return nil, arm.NotFound(clusterKind, x.Vars["cluster"], x.Vars["rg"])
	}
	return c, nil
}

// pool finds the cluster and the pool that a request is about; the error is AKS's for a pool.
func (w *Service) pool(x *arm.Call) (*Cluster, *Pool, error) {
	c, err := w.cluster(x)
	if err != nil {
		return nil, nil, err
	}
	p := w.pools.Get(poolKey(c.key(), x.Vars["pool"]))
	if p == nil {
		return c, nil, refuse(404, "NotFound", "Agent pool %s not found.", x.Vars["pool"])
	}
	return c, p, nil
}

// poolsOf returns the pools of a cluster by name.
func (w *Service) poolsOf(c *Cluster) []*Pool {
	var out []*Pool
	for _, p := range w.pools.Under(c.key() + "|") {
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

// refuse makes an error in the form of AKS, which has no envelope.
func refuse(status int, code, format string, args ...any) *arm.Error {
	e := arm.Refuse(status, code, format, args...)
	e.Plain = true
	return e
}

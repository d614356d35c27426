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
	"net/http"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/shapes"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// bodies are the types of requests.
var bodies = shapes.ContainerService().Types.With(later)

// Service is Microsoft.ContainerService with its state. Its operations run one at a time.
type Service struct {
	core    *arm.Core
	rows    *rows
	compute *compute.Service

	releases *core.Table[releaseRow]
	features *core.Table[featureRow]

	managed    *managedClusters
	agentPools *agentPools
	life       *lifecycle
	models     *models
	nodes      *managed.Nodes
}

// The parts of the service. Each holds the parts and the tables that it uses.
type (
	// finder finds the objects of a request.
	finder struct{ rows *rows }
	// managedClusters handles the operations on clusters, agentPools those on pools.
	managedClusters struct {
		core       *arm.Core
		rows       *rows
		find       *finder
		agentPools *agentPools
		life       *lifecycle
		views      *views
	}
	agentPools struct {
		core     *arm.Core
		rows     *rows
		find     *finder
		compute  *compute.Service
		releases *core.Table[releaseRow]
		features *core.Table[featureRow]
		nodes    *managed.Nodes
		life     *lifecycle
		models   *models
		views    *views
	}
	// views are clusters and pools as clients see them.
	views struct {
		core    *arm.Core
		rows    *rows
		compute *compute.Service
	}
)

// lifecycle advances operations and rolls over time.
type lifecycle struct {
	core    *arm.Core
	rows    *rows
	compute *compute.Service
	models  *models
	nodes   *managed.Nodes
}

// models derives the models of the pools' machines, and the settings that the machines and their nodes get from AKS.
type models struct {
	rows    *rows
	compute *compute.Service
	nodes   *managed.Nodes
}

// New returns the empty service.
func New(base *arm.Core, c *compute.Service) *Service {
	stored := &rows{
		clusters: core.NewTable[Cluster]("aks-cluster/"), pools: core.NewTable[Pool]("aks-pool/"),
		operations: core.NewTable[operation]("aks-operation/"),
	}
	nodes := managed.NewNodes(base.State)
	made := &models{stored, c, nodes}
	life := &lifecycle{base, stored, c, made, nodes}
	releases, features := core.NewTable[releaseRow]("aks-release/"), core.NewTable[featureRow]("aks-feature/")
	find, shown := &finder{stored}, &views{base, stored, c}
	pools := &agentPools{base, stored, find, c, releases, features, nodes, life, made, shown}
	w := &Service{
		core: base, rows: stored, compute: c, releases: releases, features: features, nodes: nodes, models: made, life: life, agentPools: pools,
		managed: &managedClusters{base, stored, find, pools, life, shown},
	}
	c.NodeOf = w.models.nodeOf
	return w
}

// Tables returns the tables of the service.
func (w *Service) Tables() core.Tables {
	return core.Tables{w.rows.clusters, w.rows.pools, w.rows.operations, w.releases, w.features}
}

// Tick brings the service to the present and returns when something is due next; the zero time means never.
func (w *Service) Tick() time.Time {
	var next time.Time
	for _, c := range w.rows.clusters.All() {
		next = core.Earliest(next, w.life.tickCluster(c))
	}
	for _, p := range w.rows.pools.All() {
		next = core.Earliest(next, w.life.tickPool(p))
	}
	for id, op := range w.rows.operations.All() {
		if op.Forgotten(w.core.Now) {
			w.rows.operations.Delete(id)
		}
	}
	return next
}

// Idle reports whether there is no cluster, so that nothing can be due.
func (w *Service) Idle() bool { return w.rows.clusters.Len() == 0 && w.rows.operations.Len() == 0 }

// Remember keeps an operation about which nothing is done, so that it can be read, and returns it under an ID of its own.
func (w *Service) Remember(op arm.Operation) *arm.Operation {
	op.ID = w.core.UUID("operation")
	kept := &operation{Operation: op}
	w.rows.operations.Put(op.ID, kept)
	return &kept.Operation
}

// Tagged finds the cluster at a scope: its ID, its tags, and how they are replaced. It returns an empty ID for none.
func (w *Service) Tagged(scope string) (id string, tags map[string]string, put func(map[string]string)) {
	c := w.rows.clusters.Get(strings.ToLower(scope))
	if c == nil {
		return "", nil, nil
	}
	return c.ID, document.Pairs(c.Doc, "tags"), func(t map[string]string) {
		c.Doc["tags"] = document.OfStrings(t)
		w.rows.touchCluster(c)
	}
}

// cluster finds the cluster that a request is about; the error is ARM's.
func (w *finder) cluster(x *arm.Call) (*Cluster, error) {
	c := w.rows.clusters.Get(clusterKey(x.Vars["sub"], x.Vars["rg"], x.Vars["cluster"]))
	if c == nil {
		return nil, arm.NotFound(clusterKind, x.Vars["cluster"], x.Vars["rg"])
	}
	return c, nil
}

// pool finds the cluster and the pool that a request is about; the error is AKS's for a pool.
func (w *finder) pool(x *arm.Call) (*Cluster, *Pool, error) {
	c, err := w.cluster(x)
	if err != nil {
		return nil, nil, err
	}
	p := w.rows.pools.Get(poolKey(c.key(), x.Vars["pool"]))
	if p == nil {
		return c, nil, absent("agentpool", "GetAgentPool_NotFound")
	}
	return c, p, nil
}

// absent is the error for what a managed cluster does not have. AKS names the kind of object and not the object.
func absent(kind, subcode string) *arm.Error {
	e := refuse(http.StatusNotFound, "NotFound", "Could not find the %s", kind)
	e.Subcode = subcode
	e.Details = []arm.Detail{{Code: "Unspecified", Message: "rpc error: code = NotFound desc = " + e.Message}}
	return e
}

// refuse makes an error in the form of AKS, which has no envelope.
func refuse(status int, code, format string, args ...any) *arm.Error {
	e := arm.Refuse(status, code, format, args...)
	e.NoEnvelope = true
	return e
}

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
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/gcp/shapes"
	"github.com/muster-project/muster/sim/managed"
)

var dialect = project.Dialect(badRequest)

// Service is GKE with its state. Its operations run one at a time.
type Service struct {
	core   *project.Core
	rows   *rows
	find   *finder
	groups groups

	clusters  *clusters
	nodePools *nodePools
	life      *lifecycle
	rolls     *rolls
	models    *models
	nodes     *managed.Nodes
	views     *views
}

// The parts of the service, by what they decide. Each holds the parts that it uses.
type (
	// finder finds the objects of a request.
	finder struct {
		core *project.Core
		rows *rows
	}
	// clusters handles the operations on clusters, nodePools those on node pools.
	clusters struct {
		core      *project.Core
		rows      *rows
		find      *finder
		nodePools *nodePools
		life      *lifecycle
		views     *views
	}
	nodePools struct {
		core   *project.Core
		rows   *rows
		find   *finder
		life   *lifecycle
		models *models
		rolls  *rolls
		views  *views
	}
	// views are clusters, node pools and operations as clients see them.
	views struct {
		core   *project.Core
		rows   *rows
		groups groups
	}
)

// lifecycle advances operations over time, and brings node pools to their size.
type lifecycle struct {
	core   *project.Core
	rows   *rows
	groups groups
	nodes  *managed.Nodes
	models *models
	rolls  *rolls
}

// rolls are upgrades of nodes.
type rolls struct {
	core   *project.Core
	rows   *rows
	groups groups
	nodes  *managed.Nodes
	models *models
	life   *lifecycle
}

// models derives the templates of the node pools' machines, and the settings that the machines and their nodes get from GKE.
type models struct {
	core    *project.Core
	rows    *rows
	compute *compute.Service
	groups  groups
	nodes   *managed.Nodes
}

// New returns the empty service.
func New(base *project.Core, c *compute.Service) *Service {
	stored := &rows{
		clusters: core.NewTable[Cluster]("gke-cluster/"), pools: core.NewTable[Pool]("gke-pool/"),
		operations: core.NewTable[operation]("gke-operation/"),
	}
	beneath, nodes := groups{c.Managers()}, managed.NewNodes(base.State)
	made := &models{base, stored, c, beneath, nodes}
	rolls := &rolls{core: base, rows: stored, groups: beneath, nodes: nodes, models: made}
	rolls.life = &lifecycle{base, stored, beneath, nodes, made, rolls}
	find, shown := &finder{base, stored}, &views{base, stored, beneath}
	pools := &nodePools{base, stored, find, rolls.life, made, rolls, shown}
	w := &Service{
		core: base, rows: stored, find: find, groups: beneath, clusters: &clusters{base, stored, find, pools, rolls.life, shown},
		nodePools: pools,
		life:      rolls.life, rolls: rolls, models: made, nodes: nodes, views: shown,
	}
	c.NodeOf = w.models.nodeOf
	return w
}

// Tables returns the tables of the service.
func (w *Service) Tables() core.Tables {
	return core.Tables{w.rows.clusters, w.rows.pools, w.rows.operations}
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
	for _, op := range w.rows.operations.All() {
		next = core.Earliest(next, w.life.tickOperation(op))
	}
	return next
}

// Idle reports whether there is no cluster, so that nothing can be due.
func (w *Service) Idle() bool { return w.rows.clusters.Len() == 0 && w.rows.operations.Len() == 0 }

// read decodes the body of a request that must be of a type.
func read(x *project.Call, typ string) (document.Object, error) {
	return shapes.Container().Types.Read(x.Body, typ, dialect)
}

// lost reports whether a location can't be reached.
func (w *finder) lost(location string) bool { return w.core.Outages.Get(scopeOf(location)) != nil }

// scopeOf is a location as a scope: zones/z or regions/r.
func scopeOf(location string) string {
	if project.RegionOf(location) != "" {
		return "zones/" + location
	}
	return "regions/" + location
}

// listed returns what a list of a location shows, or of all of them, and names the locations that can't be reached and may be missing.
func (w *finder) listed(x *project.Call, member string, all map[string][]any) (*project.Answer, error) {
	d, missing := document.Object{}, []string{}
	var shown []any
	for _, location := range slices.Sorted(maps.Keys(all)) {
		if !w.lost(location) {
			shown = append(shown, all[location]...)
		}
	}
	for scope := range w.core.Outages.All() {
		if name := named(scope, ""); x.Vars["location"] == everywhere || x.Vars["location"] == name {
			missing = append(missing, name)
		}
	}
	put(d, member, shown)
	put(d, "missingZones", document.List(missing))
	return project.OK(d), nil
}

// cluster finds the cluster that a request is about.
func (w *finder) cluster(x *project.Call) (*Cluster, error) {
	if location := x.Vars["location"]; w.lost(location) {
		return nil, project.Unreachable(scopeOf(location))
	}
	c := w.rows.clusters.Get(clusterKey(x.Vars["project"], x.Vars["location"], x.Vars["cluster"]))
	if c == nil {
		return nil, notFound(placed(x.Vars["project"], x.Vars["location"]) + "/clusters/" + x.Vars["cluster"])
	}
	return c, nil
}

// pool finds the cluster and the node pool that a request is about.
func (w *finder) pool(x *project.Call) (*Cluster, *Pool, error) {
	c, err := w.cluster(x)
	if err != nil {
		return nil, nil, err
	}
	p := w.rows.pools.Get(poolKey(c.key(), x.Vars["nodePool"]))
	if p == nil {
		return c, nil, notFound(fmt.Sprintf("node pool %q not found", x.Vars["nodePool"]))
	}
	return c, p, nil
}

// openPool refuses an operation on a node pool while another one runs on its cluster, and one that is not for the blue-green upgrade that
// was paused.
func openPool(w *project.Core, c *Cluster, p *Pool) error {
	if err := open(w, c); err != nil {
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
func open(w *project.Core, c *Cluster) error {
	if c.Op != "" {
		return busy(w, c.Op)
	}
	return nil
}

package container

import (
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// States of clusters and node pools, as GKE names them.
const (
	provisioning     = "PROVISIONING"
	running          = "RUNNING"
	runningWithError = "RUNNING_WITH_ERROR"
	reconciling      = "RECONCILING"
	stopping         = "STOPPING"
	failed           = "ERROR"
)

// Cluster is a cluster.
type Cluster struct {
	Project, Location, Name string
	// Doc is the requested description with defaults, without the node pools and the members that only the service sets.
	Doc        document.Object
	Status     string
	Conditions []Condition
	// Master is the version of its control plane.
	Master string
	// Access describes the access to its API server. Only the endpoint and the CA are shown.
	Access Access
	ID     string
	// Address and CA are shown by a cluster without an API server.
	Address string
	CA      []byte
	// Hash is in the names of its instance groups and nodes.
	Hash    string
	Version int64
	Created time.Time
	// Op is the running operation that excludes all others, "" for none; Until is the time at which its own part ends.
	Op    string
	Until time.Time
	// Goal is the target version of an upgrade of the control plane.
	Goal string
}

// Access describes the access to the API server of a cluster, set by the owner of the server.
type Access struct {
	// Endpoint is its URL, CA its certificate authority in PEM, Token the bootstrap token with which nodes join.
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"certificateAuthority"`
	Token    string `json:"token"`
}

// Condition is a reason for the state of a cluster or a node pool.
type Condition struct {
	Code, Canonical, Message string
}

// Pool is a node pool.
type Pool struct {
	// Cluster is the key of its cluster.
	Cluster, Name string
	// Doc is its description, as it was requested and with defaults: without what only the service sets.
	Doc        document.Object
	Status     string
	Conditions []Condition
	// Current is the version of its nodes after the last upgrade, Wanted the one of the current generation.
	Current, Wanted string
	// Size is the last requested number of nodes per zone. Changes of the groups do not affect it.
	Size int
	// Generation is the desired generation of nodes, Last the newest one so far. Revision counts all changes of the settings of new nodes.
	Generation, Last, Revision int
	// Number distinguishes the pool from earlier ones of its name: names of groups and templates are never reused.
	Number int64
	// Groups are its instance groups, Templates the instance templates that it has had.
	Groups    []*group
	Templates map[string]made
	Version   int64
	managed.Work
	Roll *roll
	// Ending is set while the surge nodes of a cancelled or failed upgrade are removed.
	Ending *ending
	// Repair is the name of the node that is being repaired, "" for none; Broken is the ID of its machine, once that is recreated.
	Repair, Broken string
	// Former is the pool's state before the running or failed upgrade, nil for none: a rollback restores it.
	Former *former
}

// group is an instance group of a node pool.
type group struct {
	Zone, Name string
	// Want is the size to which the running operation leads, nil if it leaves the size alone.
	Want *int
	// Green is true for a group of the second set of a blue-green upgrade.
	Green bool
}

// made describes the instances of a template. Machine distinguishes their machines, in addition to labels and metadata.
type made struct {
	Generation       int
	Version, Machine string
}

// former is the state of a node pool before an upgrade.
type former struct {
	Doc        document.Object
	Wanted     string
	Generation int
}

// roll is an upgrade of a node pool's nodes.
type roll struct {
	// Version is the target version, Surge the number of nodes allowed beyond the size, Missing the number that may be missing from it.
	Version        string
	Surge, Missing int
	// Blue is set for a blue-green upgrade.
	Blue *blueGreen
	// Back is true for a rollback.
	Back bool
}

// blueGreen is a blue-green upgrade.
type blueGreen struct {
	Phase string
	// Since is the time at which the phase, or the last batch of machines, started to wait, Deletion the end of the soak time.
	Since, Deletion time.Time
	// Complete is true once the user has requested the end of the soak time.
	Complete bool
}

// ending is the end of an upgrade that does not replace all nodes.
type ending struct {
	// Conditions are the reasons of the failure, nil for a cancelled upgrade.
	Conditions []Condition
}

// operation is a long-running operation on a cluster or one of its node pools.
type operation struct {
	Project, Location, Name, Type string
	// Cluster is the key of the cluster, Pool the name of the node pool or "".
	Cluster, Pool string
	Status        string
	// Begins is the end of its pending time.
	Start, Begins, End time.Time
	// Conditions are the reasons of the failure, Code is the canonical code as a number.
	Conditions []Condition
	Code       int
	// From and To are the versions of an upgrade of nodes to another one, Automatic is true for one that GKE began by itself.
	From, To  string
	Automatic bool
	// Done and Total are the nodes that an upgrade has replaced and those that it replaces.
	Done, Total int
	// Until is the end of an operation that does not exclude others; zero for exclusive ones.
	Until time.Time
}

// rows are the clusters, their node pools and their operations.
type rows struct {
	clusters   *core.Table[Cluster]
	pools      *core.Table[Pool]
	operations *core.Table[operation]
}

// poolsOf returns the node pools of a cluster by name.
func (r *rows) poolsOf(c *Cluster) []*Pool { return r.pools.List(c.key() + "/nodePools/") }

func (r *rows) touchCluster(c *Cluster) {
	c.Version++
	r.clusters.Touch(c.key())
}

func (r *rows) touchPool(p *Pool) {
	p.Version++
	r.pools.Touch(p.key())
}

func clusterKey(id, location, name string) string {
	return "projects/" + id + "/locations/" + location + "/clusters/" + name
}

func (c *Cluster) key() string { return clusterKey(c.Project, c.Location, c.Name) }

func poolKey(cluster, name string) string { return cluster + "/nodePools/" + name }

func (p *Pool) key() string { return poolKey(p.Cluster, p.Name) }

func (o *operation) key() string {
	return "projects/" + o.Project + "/locations/" + o.Location + "/operations/" + o.Name
}

func (p *Pool) autoscaled() bool { return document.Truth(p.Doc, "autoscaling.enabled") }

func (p *Pool) zones() []string { return document.Texts(p.Doc, "locations") }

// number returns the whole number at a path of a document, 0 for none.
func number(d document.Object, path string) int {
	n, _ := document.Number(d, path)
	return n
}

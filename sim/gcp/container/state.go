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
	// Doc is what it is, as it was requested and with defaults: without its node pools and what only the service sets.
	Doc        document.Object
	Status     string
	Conditions []Condition
	// Master is the version of its control plane.
	Master string
	// Access is how its API server is reached. Only the endpoint and the CA are shown.
	Access Access
	ID     string
	// Address and CA are what a cluster shows that has no API server.
	Address string
	CA      []byte
	// Hash is in the names of its instance groups and nodes.
	Hash    string
	Version int64
	Created time.Time
	// Op is the operation that runs and lets no other begin, "" for none; Until is when its own part is done.
	Op    string
	Until time.Time
	// Goal is the version that an upgrade of the control plane leads to.
	Goal string
}

// Access is how the API server of a cluster is reached, as its owner makes it known.
type Access struct {
	// Endpoint is its URL, CA the certificates by which it is trusted, in PEM, Token the bootstrap token by which nodes are let in.
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"certificateAuthority"`
	Token    string `json:"token"`
}

// Condition is why a cluster or a node pool is in its state.
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
	// Current is the version that its nodes have after the last upgrade, Wanted the one that nodes of the current generation have.
	Current, Wanted string
	// Size is the number of nodes that it was given last for each zone. What the groups have since become does not change it.
	Size int
	// Generation is that of the nodes that the pool is to have, Last the newest that there was. Revision counts all changes of what nodes
	// are created with.
	Generation, Last, Revision int
	// Number tells the pool from earlier ones of its name: names of groups and templates are never used again.
	Number int64
	// Groups are its instance groups, Templates the instance templates that it has had.
	Groups    []*group
	Templates map[string]made
	Version   int64
	managed.Work
	Roll *roll
	// Ending is set while an upgrade that was cancelled or has failed gives its surge back.
	Ending *ending
	// Repair is the name of the node that is being repaired, "" for none; Broken is the ID of the machine that it had, once that is created
	// anew.
	Repair, Broken string
	// Former is what the pool was before the upgrade that runs or did not succeed, nil for none: a rollback leads back to it.
	Former *former
}

// group is an instance group of a node pool.
type group struct {
	Zone, Name string
	// Want is the size that the operation that runs leads to, nil if it leaves the size alone.
	Want *int
	// Green is true for a group of the second set of a blue-green upgrade.
	Green bool
}

// made is what the instances of a template are. Machine is what tells their machines apart, beside labels and metadata.
type made struct {
	Generation       int
	Version, Machine string
}

// former is what a node pool was before an upgrade.
type former struct {
	Doc        document.Object
	Wanted     string
	Generation int
}

// roll is an upgrade of a node pool's nodes.
type roll struct {
	// Version is what the nodes get, Surge how many nodes there may be beyond the size, Missing how many may be missing from it.
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
	// Since is when the phase, or the last batch of machines, began to wait, Deletion when the soak time ends.
	Since, Deletion time.Time
	// Complete is true once the user has asked to end the soak time.
	Complete bool
}

// ending is how an upgrade ends that does not replace all nodes.
type ending struct {
	// Conditions are why it failed, nil for one that was cancelled.
	Conditions []Condition
}

// operation is a long-running operation on a cluster or one of its node pools.
type operation struct {
	Project, Location, Name, Type string
	// Cluster is the key of the cluster, Pool the name of the node pool or "".
	Cluster, Pool string
	Status        string
	// Begins is until when it is pending.
	Start, Begins, End time.Time
	// Conditions are why it failed, Code is the canonical code as a number.
	Conditions []Condition
	Code       int
	// From and To are the versions of an upgrade of nodes to another one, Automatic is true for one that GKE began by itself.
	From, To  string
	Automatic bool
	// Done and Total are the nodes that an upgrade has replaced and those that it replaces.
	Done, Total int
	// Until is when an operation ends that other operations run beside; the zero time for those that have the cluster to themselves.
	Until time.Time
}

// rows are the clusters, their node pools and their operations.
type rows struct {
	clusters   *core.Table[Cluster]
	pools      *core.Table[Pool]
	operations *core.Table[operation]
}

// poolsOf returns the node pools of a cluster by name.
func (r *rows) poolsOf(c *Cluster) []*Pool {
	var out []*Pool
	for _, p := range r.pools.Under(c.key() + "/nodePools/") {
		out = append(out, p)
	}
	return out
}

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

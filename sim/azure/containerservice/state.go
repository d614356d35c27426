package containerservice

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// Provisioning states, as AKS names them.
const (
	stateCreating         = "Creating"
	stateUpdating         = "Updating"
	stateScaling          = "Scaling"
	stateUpgrading        = "Upgrading"
	stateImage            = "UpgradingNodeImageVersion"
	stateDeletingMachines = "DeletingMachines"
	stateStarting         = "Starting"
	stateStopping         = "Stopping"
	stateDeleting         = "Deleting"
	stateSucceeded        = "Succeeded"
	stateFailed           = "Failed"
	stateCanceled         = "Canceled"

	powerRunning = "Running"
	powerStopped = "Stopped"

	modeSystem = "System"
	modeUser   = "User"

	clusterKind = "Microsoft.ContainerService/managedClusters"
)

// Cluster is a managed cluster.
type Cluster struct {
	// ID is the resource's ID in the case in which it was made; the names are taken from it.
	ID, Sub, Group, Name, Location string
	// Doc is the requested description with defaults, without the pools and without the members that only the service sets.
	Doc          document.Object
	State, Power string
	// Current is the version of the control plane, Goal the target of an upgrade.
	Current, Goal string
	// Endpoint is the URL of its API server, CA its certificate authority in PEM, Token the bootstrap token with which nodes join, Kubeconfig
	// the user credentials. Only the last is shown.
	Endpoint, Token string
	CA, Kubeconfig  []byte
	UID             string
	Version         int64
	Created         time.Time
	// Trouble is why the last operation failed, nil where it did not.
	Trouble *arm.Trouble
	// Op is the running operation, "" for none; Until is the time at which its own part ends, or, after a failure, at which it is repeated.
	Op    string
	Until time.Time
}

// Pool is an agent pool.
type Pool struct {
	// Cluster is the key of its cluster.
	Cluster, Name string
	// Doc is its properties, as they were requested and with defaults.
	Doc          document.Object
	State, Power string
	// Set is the name of its scale set, Current the version of its nodes after the last success, Image their node image version.
	Set, Current, Image string
	Version             int64
	// Trouble is why the last operation failed, nil where it did not.
	Trouble *arm.Trouble
	managed.Work
	// PartOf is the operation of the cluster that the last one is or was a part of, "" for none.
	PartOf string
	Roll   *roll
	// Woken are the machines that were started again after they had been deallocated, by instance, until their nodes take pods again.
	Woken map[string]bool
	// Modeled is true once the scale set has the model that the operation wants.
	Modeled bool
}

// roll is an upgrade of the version, the node image or the size of a pool's nodes.
type roll struct {
	// Surge is the number of nodes allowed beyond the count, Missing the number that may be missing from it.
	Surge, Missing int
	// Blocked are the instances that could not be drained and are kept, cordoned.
	Blocked map[string]bool
	// Broken are those that were not Ready when it began, until they are renewed.
	Broken map[string]bool
}

// operation is a long-running operation of a cluster or one of its pools.
type operation struct {
	arm.Operation
	// Cluster is the key of the cluster, Pool the name of the pool or "".
	Cluster, Pool string
}

// featureRow is a feature of previews that the subscription has registered.
type featureRow struct{}

// releaseRow is a node image that was published after the simulator's own.
type releaseRow struct{ Image string }

// rows are the clusters, their pools and their operations.
type rows struct {
	clusters   *core.Table[Cluster]
	pools      *core.Table[Pool]
	operations *core.Table[operation]
}

// poolsOf returns the pools of a cluster by name.
func (r *rows) poolsOf(c *Cluster) []*Pool { return r.pools.List(c.key() + "|") }

func (r *rows) touchCluster(c *Cluster) {
	c.Version++
	r.clusters.Touch(c.key())
}

func (r *rows) touchPool(p *Pool) {
	p.Version++
	r.pools.Touch(p.key())
}

func (c *Cluster) key() string { return strings.ToLower(c.ID) }

func (c *Cluster) nodeGroup() string { return document.Text(c.Doc, "properties.nodeResourceGroup") }

func (p *Pool) key() string { return poolKey(p.Cluster, p.Name) }

func (p *Pool) count() int {
	n, _ := document.Number(p.Doc, "count")
	return n
}

// stopped reports whether a pool was stopped by itself, or is being stopped.
func (p *Pool) stopped() bool { return document.Text(p.Doc, "powerState.code") == powerStopped }

func (p *Pool) system() bool { return document.Text(p.Doc, "mode") == modeSystem }

func (p *Pool) autoscaled() bool { return document.Truth(p.Doc, "enableAutoScaling") }

func clusterKey(sub, group, name string) string {
	return strings.ToLower(arm.ResourceID(sub, group, clusterKind, name))
}

func poolKey(cluster, name string) string { return cluster + "|" + strings.ToLower(name) }

// groupKey is the key of a resource group.
func groupKey(sub, group string) string {
	return strings.ToLower("/subscriptions/" + sub + "/resourceGroups/" + group)
}

package eks

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/managed"
)

// Statuses of clusters, node groups and updates, as EKS names them.
const (
	StatusCreating     = "CREATING"
	StatusActive       = "ACTIVE"
	StatusUpdating     = "UPDATING"
	StatusDeleting     = "DELETING"
	StatusCreateFailed = "CREATE_FAILED"
	StatusDeleteFailed = "DELETE_FAILED"
	StatusDegraded     = "DEGRADED"

	updateInProgress = "InProgress"
	updateSuccessful = "Successful"
	updateFailed     = "Failed"

	configUpdate  = "ConfigUpdate"
	versionUpdate = "VersionUpdate"
)

// Cluster is an EKS cluster.
type Cluster struct {
	// Shape is the description that EKS returns.
	Shape eks.Cluster
	// CA are the certificates by which its API server is trusted, in PEM, Token the bootstrap token by which nodes are let in. The
	// token is never shown.
	CA    []byte
	Token string
	// Until is when its creation or deletion is done, Goal the version that an update leads to.
	Until time.Time
	Goal  string
}

// Nodegroup is a managed node group. The group behind it is a group like any other.
type Nodegroup struct {
	// Shape is the description that EKS returns. Its health holds what was set out of band or found at the resources.
	Shape eks.Nodegroup
	// Behind is the Auto Scaling group, Template the launch template that EKS keeps for it; both "" before they are made.
	Behind, Template string
	// Launched are the specifications of machines by the version of that template that they come from.
	Launched map[string]machineSpec
	// Until is when the creation or the deletion that goes on has to be done; Next is when something is looked at again.
	Until, Next time.Time
	// Update is the number of the update that is under way, 0 for none; Change what a change of the configuration will put.
	Update int64
	Change *eks.UpdateNodegroupConfigInput
	Roll   *nodeRoll
	// Drains are the instances that drain before they go.
	Drains managed.Departures
	// Issues are set by hand and stay until they are taken back; Stuck is why a deletion will fail, "" for no reason.
	Issues []eks.Issue
	Stuck  string
}

// machineSpec describes the machines of one version of EKS's template.
type machineSpec struct {
	// Image is what they launch from, Own that it is the user's.
	Image string
	Own   bool
	// Source and SourceVersion are the user's launch template, "" for none.
	Source, SourceVersion string
	Version, Release      string
}

// nodeRoll is an update of the version that is under way.
type nodeRoll struct {
	Phase string
	// To is the version of EKS's template that is wanted, From the one from before.
	To, From string
	// Min, Max and Desired are those from before; Extra is by how much the group is larger meanwhile.
	Min, Max, Desired, Extra int32
	Force                    bool
	// Until is when the phase has to be done.
	Until time.Time
	// Goal describes the machines after a success.
	Goal machineSpec
}

// Update is one change that was asked for.
type Update struct {
	Cluster, Nodegroup string
	// Number orders the updates of a region.
	Number int64
	// Done is when a change of the configuration takes effect.
	Done time.Time
	eks.Update
}

func (c *Cluster) name() string { return shapes.Str(c.Shape.Name) }

// Name returns the name of the node group.
func (n *Nodegroup) Name() string { return shapes.Str(n.Shape.NodegroupName) }

// Cluster returns the name of the node group's cluster.
func (n *Nodegroup) Cluster() string { return shapes.Str(n.Shape.ClusterName) }

func (n *Nodegroup) key() string { return n.Cluster() + "/" + n.Name() }

// find notes what is wrong with the node group. What was shown before is written while this goes on: it is left as it is.
func (n *Nodegroup) find(issues []eks.Issue) {
	if issues == nil {
		issues = []eks.Issue{}
	}
	n.Shape.Health = &eks.NodegroupHealth{Issues: issues}
}

// UpdateKey returns the key of an update of a node group, or of a cluster where no node group is named.
func UpdateKey(Cluster, nodegroup string, number int64) string {
	return fmt.Sprintf("%s/%s/%012d", Cluster, nodegroup, number)
}

// TouchNodegroup marks the node group as changed.
func (r *Nodegroups) TouchNodegroup(n *Nodegroup) { r.Rows.Touch(n.key()) }

// eksClusterTag and eksNodegroupTag are the tags by which instances and groups name their node group.
const (
	eksClusterTag   = "eks:cluster-name"
	eksNodegroupTag = "eks:nodegroup-name"
)

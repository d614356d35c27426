package aws

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// Statuses of clusters, node groups and updates, as EKS names them.
const (
	eksCreating     = "CREATING"
	eksActive       = "ACTIVE"
	eksUpdating     = "UPDATING"
	eksDeleting     = "DELETING"
	eksCreateFailed = "CREATE_FAILED"
	eksDeleteFailed = "DELETE_FAILED"
	eksDegraded     = "DEGRADED"

	updateInProgress = "InProgress"
	updateSuccessful = "Successful"
	updateFailed     = "Failed"

	configUpdate  = "ConfigUpdate"
	versionUpdate = "VersionUpdate"
)

// cluster is an EKS cluster.
type cluster struct {
	// Shape is what EKS shows of it.
	Shape eks.Cluster
	// CA are the certificates by which its API server is trusted, in PEM, Token the bootstrap token by which nodes are let in. The
	// token is never shown.
	CA    []byte
	Token string
	// Until is when its creation or deletion is done, Goal the version that an update leads to.
	Until time.Time
	Goal  string
}

// nodegroup is a managed node group. The group behind it is a group like any other.
type nodegroup struct {
	// Shape is what EKS shows of it. Its health holds what somebody or a look at the resources has found.
	Shape eks.Nodegroup
	// Behind is the Auto Scaling group, Template the launch template that EKS keeps for it; both "" before they are made.
	Behind, Template string
	// Launched are the facts of machines by the version of that template that they come from.
	Launched map[string]nodeFacts
	// Until is when the creation or the deletion that goes on has to be done; Next is when something is looked at again.
	Until, Next time.Time
	// Update is the number of the update that is under way, 0 for none; Change what a change of the configuration will put.
	Update int64
	Change *eks.UpdateNodegroupConfigInput
	Roll   *nodeRoll
	// Drains are the instances that hold still for a drain before they go, and since when.
	Drains map[string]time.Time
	// Issues are set by hand and stay until they are taken back; Stuck is why a deletion will fail, "" for no reason.
	Issues []eks.Issue
	Stuck  string
}

// nodeFacts are what machines of one version of EKS's template are.
type nodeFacts struct {
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
	// Until is when the phase has to be done. Cooling are the instances whose drain is done, and since when.
	Until   time.Time
	Cooling map[string]time.Time
	// Goal is what machines are after a success.
	Goal nodeFacts
}

// update is one change that was asked for.
type update struct {
	Cluster, Nodegroup string
	// Number orders the updates of a region.
	Number int64
	// Done is when a change of the configuration takes effect.
	Done time.Time
	eks.Update
}

func (c *cluster) name() string { return str(c.Shape.Name) }

func (n *nodegroup) name() string    { return str(n.Shape.NodegroupName) }
func (n *nodegroup) cluster() string { return str(n.Shape.ClusterName) }
func (n *nodegroup) key() string     { return n.cluster() + "/" + n.name() }

// find notes what is wrong with the node group. What was shown before is written while this goes on: it is left as it is.
func (n *nodegroup) find(issues []eks.Issue) {
	if issues == nil {
		issues = []eks.Issue{}
	}
	n.Shape.Health = &eks.NodegroupHealth{Issues: issues}
}

func updateKey(cluster, nodegroup string, number int64) string {
	return fmt.Sprintf("%s/%s/%012d", cluster, nodegroup, number)
}

func (r *realm) touchNodegroup(n *nodegroup) { r.nodegroups.Touch(n.key()) }

// eksClusterTag and eksNodegroupTag are the tags by which instances and groups name their node group.
const (
	eksClusterTag   = "eks:cluster-name"
	eksNodegroupTag = "eks:nodegroup-name"
)

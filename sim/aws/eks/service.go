// Package eks simulates Amazon EKS: clusters and their managed node groups, each on an Auto Scaling group and a launch template of its own.
package eks

import (
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// Service is EKS of an account in a region. Its parts hold the state.
type Service struct {
	*account.Core
	IAM *iam.Service
	EC2 *ec2.Service

	Clusters   *Clusters
	Nodegroups *Nodegroups
	Updates    *Updates
	Rollouts   *Rollouts
	Backing    *Backing
	Lifecycle  *Lifecycle
}

// The parts of the service. Each holds the parts and the tables of other services that it uses, and no more.
type (
	// Clusters are the clusters.
	Clusters struct {
		*account.Core
		Rows *core.Table[Cluster]

		network    *ec2.Network
		nodegroups *Nodegroups
		updates    *Updates
	}
	// Nodegroups are the managed node groups.
	Nodegroups struct {
		*account.Core
		Rows *core.Table[Nodegroup]

		network   *ec2.Network
		templates *ec2.Templates
		directory *iam.Directory
		groups    *autoscaling.Groups
		clusters  *Clusters
		backing   *Backing
	}
	// Updates are the changes of clusters and node groups.
	Updates struct {
		*account.Core
		Rows *core.Table[Update]

		templates  *ec2.Templates
		instances  *ec2.Instances
		groups     *autoscaling.Groups
		members    *autoscaling.Members
		nodes      *managed.Nodes
		clusters   *Clusters
		nodegroups *Nodegroups
		backing    *Backing
		rollouts   *Rollouts
		lifecycle  *Lifecycle
	}
	// Rollouts are the phases of version updates.
	Rollouts struct {
		*account.Core
		templates  *ec2.Templates
		members    *autoscaling.Members
		scaling    *autoscaling.Scaling
		nodes      *managed.Nodes
		clusters   *Clusters
		nodegroups *Nodegroups
		updates    *Updates
		backing    *Backing
		lifecycle  *Lifecycle
	}
	// Backing stands behind node groups: groups, templates, machines and their nodes.
	Backing struct {
		*account.Core
		network    *ec2.Network
		templates  *ec2.Templates
		instances  *ec2.Instances
		directory  *iam.Directory
		groups     *autoscaling.Groups
		members    *autoscaling.Members
		nodes      *managed.Nodes
		clusters   *Clusters
		nodegroups *Nodegroups
		updates    *Updates
	}
	// Lifecycle brings clusters and node groups to the present.
	Lifecycle struct {
		*account.Core
		network    *ec2.Network
		templates  *ec2.Templates
		instances  *ec2.Instances
		directory  *iam.Directory
		groups     *autoscaling.Groups
		members    *autoscaling.Members
		activities *autoscaling.Activities
		hooks      *autoscaling.Hooks
		nodes      *managed.Nodes
		clusters   *Clusters
		nodegroups *Nodegroups
		updates    *Updates
		backing    *Backing
	}
)

// New returns the empty service of an account in a region.
func New(base *account.Core, iam *iam.Service, machines *ec2.Service, scaling *autoscaling.Service) *Service {
	nodes, prefix := managed.NewNodes(base.State), base.Prefix()
	network, templates, instances, directory := machines.Network, machines.Templates, machines.Instances, iam.Directory
	groups, members := scaling.Groups, scaling.Members
	clusters := &Clusters{Core: base, Rows: core.NewTable[Cluster](prefix + "eks-cluster/"), network: network}
	nodegroups := &Nodegroups{Core: base, Rows: core.NewTable[Nodegroup](prefix + "eks-nodegroup/"), network: network, templates: templates,
		directory: directory, groups: groups, clusters: clusters}
	updates := &Updates{Core: base, Rows: core.NewTable[Update](prefix + "eks-update/"), templates: templates, instances: instances,
		groups: groups, members: members, nodes: nodes, clusters: clusters, nodegroups: nodegroups}
	clusters.nodegroups, clusters.updates = nodegroups, updates
	updates.backing = &Backing{Core: base, network: network, templates: templates, instances: instances, directory: directory,
		groups: groups, members: members, nodes: nodes, clusters: clusters, nodegroups: nodegroups, updates: updates}
	nodegroups.backing = updates.backing
	updates.lifecycle = &Lifecycle{Core: base, network: network, templates: templates, instances: instances, directory: directory,
		groups: groups, members: members, activities: scaling.Activities, hooks: scaling.Hooks, nodes: nodes,
		clusters: clusters, nodegroups: nodegroups, updates: updates, backing: updates.backing}
	updates.rollouts = &Rollouts{Core: base, templates: templates, members: members, scaling: scaling.Scaling, nodes: nodes,
		clusters: clusters, nodegroups: nodegroups, updates: updates, backing: updates.backing, lifecycle: updates.lifecycle}
	return &Service{Core: base, IAM: iam, EC2: machines, Clusters: clusters, Nodegroups: nodegroups, Updates: updates,
		Rollouts: updates.rollouts, Backing: updates.backing, Lifecycle: updates.lifecycle}
}

// Tables returns the tables of the service.
func (r *Service) Tables() core.Tables {
	return core.Tables{r.Clusters.Rows, r.Nodegroups.Rows, r.Updates.Rows}
}

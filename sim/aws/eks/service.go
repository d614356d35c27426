// Package eks simulates Amazon EKS: clusters and their managed node groups, each on an Auto Scaling group and a launch template of its own.
package eks

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/state"
)

// Service is EKS of an account in a region. Its parts hold the state.
type Service struct {
	*account.Core
	IAM         *iam.Service
	EC2         *ec2.Service
	AutoScaling *autoscaling.Service

	Clusters   *Clusters
	Nodegroups *Nodegroups
	Updates    *Updates
	Rollouts   *Rollouts
	Backing    *Backing
	Lifecycle  *Lifecycle
}

// The parts of the service.
type (
	// Clusters are the clusters.
	Clusters struct {
		*Service
		Rows *sim.Table[Cluster]
	}
	// Nodegroups are the managed node groups.
	Nodegroups struct {
		*Service
		Rows *sim.Table[Nodegroup]
	}
	// Updates are the changes of clusters and node groups.
	Updates struct {
		*Service
		Rows *sim.Table[Update]
	}
	// Rollouts are the phases of version updates.
	Rollouts struct {
		*Service
	}
	// Backing is what stands behind node groups: groups, templates, machines and their nodes.
	Backing struct {
		*Service
	}
	// Lifecycle brings clusters and node groups to the present.
	Lifecycle struct {
		*Service
	}
)

// New returns the empty service of an account in a region.
func New(core *account.Core, iam *iam.Service, ec2 *ec2.Service, autoScaling *autoscaling.Service) *Service {
	s, p := &Service{Core: core, IAM: iam, EC2: ec2, AutoScaling: autoScaling}, core.Prefix()
	s.Clusters = &Clusters{s, sim.NewTable[Cluster](p + "eks-cluster/")}
	s.Nodegroups = &Nodegroups{s, sim.NewTable[Nodegroup](p + "eks-nodegroup/")}
	s.Updates = &Updates{s, sim.NewTable[Update](p + "eks-update/")}
	s.Rollouts, s.Backing, s.Lifecycle = &Rollouts{s}, &Backing{s}, &Lifecycle{s}
	return s
}

// Tables returns the tables of the service.
func (r *Service) Tables() state.Tables {
	return state.Tables{r.Clusters.Rows, r.Nodegroups.Rows, r.Updates.Rows}
}

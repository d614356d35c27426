// Package autoscaling simulates Amazon EC2 Auto Scaling: groups that launch, replace and terminate instances, lifecycle hooks and instance
// refreshes.
package autoscaling

import (
	"cmp"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/core"
)

// Service is Auto Scaling of an account in a region. Its parts hold the state.
type Service struct {
	*account.Core
	IAM *iam.Service
	EC2 *ec2.Service
	// Quota limits the groups of the account in the region.
	Quota int

	Groups     *Groups
	Members    *Members
	Hooks      *Hooks
	Activities *Activities
	Scaling    *Scaling
	Refreshes  *Refreshes
}

// The parts of the service.
type (
	// Groups are the groups and their settings.
	Groups struct {
		*Service
		Rows *core.Table[Group]
	}
	// Members are the places of instances in groups.
	Members struct {
		*Service
		Rows *core.Table[Member]
	}
	// Hooks are the lifecycle actions that members wait for.
	Hooks struct {
		*Service
	}
	// Activities are the scaling activities.
	Activities struct {
		*Service
		Rows *core.Table[Activity]
	}
	// Scaling compares what groups have with what they should have, and launches and terminates.
	Scaling struct {
		*Service
	}
	// Refreshes are instance refreshes.
	Refreshes struct {
		*Service
		Rows *core.Table[Refresh]
	}
)

// New returns the empty service of an account in a region. A quota of zero means AWS's default.
func New(base *account.Core, iam *iam.Service, ec2 *ec2.Service, quota int) *Service {
	s, p := &Service{Core: base, IAM: iam, EC2: ec2, Quota: cmp.Or(quota, maxGroups)}, base.Prefix()
	s.Groups = &Groups{s, core.NewTable[Group](p + "group/")}
	s.Members = &Members{s, core.NewTable[Member](p + "member/")}
	s.Activities = &Activities{s, core.NewTable[Activity](p + "activity/")}
	s.Refreshes = &Refreshes{s, core.NewTable[Refresh](p + "refresh/")}
	s.Hooks, s.Scaling = &Hooks{s}, &Scaling{s}
	return s
}

// Tables returns the tables of the service.
func (r *Service) Tables() core.Tables {
	return core.Tables{r.Groups.Rows, r.Members.Rows, r.Activities.Rows, r.Refreshes.Rows}
}

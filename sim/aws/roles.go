package aws

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/iam"
)

// Role is a role that an account has from the start.
type Role struct {
	// Name and Path; no path is the root.
	Name, Path string
	// Trust is the document that says who may take it; empty trusts EC2.
	Trust string
	// Policies are the ARNs of managed policies, Policy is a document of its own, empty for none.
	Policies []string
	Policy   string
	// Profile reports that an instance profile of the same name has the role.
	Profile bool
}

// Names of roles that the ecosystem's setup makes in an account.
const (
	NodeRole         = "nodes.cluster-api-provider-aws.sigs.k8s.io"
	ControlPlaneRole = "control-plane.cluster-api-provider-aws.sigs.k8s.io"
	NodegroupRole    = "eks-nodegroup.cluster-api-provider-aws.sigs.k8s.io"
	ClusterRole      = "eks-controlplane.cluster-api-provider-aws.sigs.k8s.io"
)

// NodePolicies are the managed policies that a role of EKS's nodes carries.
func NodePolicies() []string {
	return []string{iam.AwsPolicyPrefix + "AmazonEC2ContainerRegistryReadOnly", iam.AwsPolicyPrefix + "AmazonEKSWorkerNodePolicy",
		iam.AwsPolicyPrefix + "AmazonEKS_CNI_Policy"}
}

// DefaultRoles are those that an account has unless it is told otherwise: what the ecosystem's setup makes.
func DefaultRoles() []Role {
	return []Role{
		{Name: NodeRole, Profile: true, Policies: NodePolicies()},
		{Name: ControlPlaneRole, Profile: true},
		{Name: NodegroupRole, Policies: NodePolicies()},
		{Name: ClusterRole, Trust: iam.Trusting("eks.amazonaws.com"), Policies: []string{iam.AwsPolicyPrefix + "AmazonEKSClusterPolicy"}},
	}
}

// seedRoles puts the roles into a new directory.
func seedRoles(d *iam.Directory, roles []Role, now time.Time) {
	if roles == nil {
		roles = DefaultRoles()
	}
	for _, one := range roles {
		made := &iam.Role{
			Name: one.Name, Path: cmp.Or(one.Path, "/"), ID: d.NewID("AROA"), Trust: cmp.Or(one.Trust, iam.Trusting("ec2.amazonaws.com")),
			Created:    now,
			MaxSession: 3600, Tags: map[string]string{}, Attached: slices.Sorted(slices.Values(one.Policies)), Inline: map[string]string{},
		}
		if one.Policy != "" {
			made.Inline["policy"] = one.Policy
		}
		d.Roles.Put(iam.RoleKey(one.Name), made)
		if one.Profile {
			d.Profiles.Put(iam.RoleKey(one.Name), &iam.Profile{Name: one.Name, Path: made.Path, ID: d.NewID("AIPA"), Role: one.Name, Created: now,
				Tags: map[string]string{}})
		}
	}
	// One that is empty is known from then on as well.
	d.NewID("")
}

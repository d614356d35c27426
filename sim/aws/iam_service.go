package aws

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/iam"
)

// serviceRolePath is where the roles of services are.
const serviceRolePath = "/aws-service-role/"

// serviceRoles are the roles that services make for themselves, by service.
var serviceRoles = map[string]string{
	"autoscaling.amazonaws.com": "AWSServiceRoleForAutoScaling", "eks.amazonaws.com": "AWSServiceRoleForAmazonEKS",
	"eks-nodegroup.amazonaws.com": "AWSServiceRoleForAmazonEKSNodegroup", "spot.amazonaws.com": "AWSServiceRoleForEC2Spot",
}

func (r *realm) createServiceLinkedRole(in *iam.CreateServiceLinkedRoleInput) (*iam.CreateServiceLinkedRoleOutput, error) {
	service := str(in.AWSServiceName)
	name, ok := serviceRoles[service]
	if !ok {
		return nil, refuse("InvalidInput", "Service Linked Role creation is not supported for %s", service)
	}
	if r.directory.roles.Get(roleKey(name)) != nil {
		return nil, refuse("InvalidInput", "Service role name %s has been taken in this account, please try a different suffix.", name)
	}
	return &iam.CreateServiceLinkedRoleOutput{Role: r.directory.showRole(r.makeServiceRole(service))}, nil
}

func (r *realm) makeServiceRole(service string) *role {
	made := &role{
		Name: serviceRoles[service], Path: serviceRolePath + service + "/", ID: r.directory.newID("AROA"), Created: r.now, MaxSession: 3600,
		Trust: trusting(service), Tags: map[string]string{}, Inline: map[string]string{},
	}
	r.directory.roles.Put(roleKey(made.Name), made)
	return made
}

// trusting is a document by which a service may take a role.
func trusting(service string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"` + service + `"},"Action":"sts:AssumeRole"}]}`
}

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
	return []string{awsPolicyPrefix + "AmazonEC2ContainerRegistryReadOnly", awsPolicyPrefix + "AmazonEKSWorkerNodePolicy", awsPolicyPrefix + "AmazonEKS_CNI_Policy"}
}

// DefaultRoles are those that an account has unless it is told otherwise: what the ecosystem's setup makes.
func DefaultRoles() []Role {
	return []Role{
		{Name: NodeRole, Profile: true, Policies: NodePolicies()},
		{Name: ControlPlaneRole, Profile: true},
		{Name: NodegroupRole, Policies: NodePolicies()},
		{Name: ClusterRole, Trust: trusting("eks.amazonaws.com"), Policies: []string{awsPolicyPrefix + "AmazonEKSClusterPolicy"}},
	}
}

// seed puts the roles into a directory that is new.
func (d *directory) seed(roles []Role, now time.Time) {
	if roles == nil {
		roles = DefaultRoles()
	}
	for _, one := range roles {
		made := &role{
			Name: one.Name, Path: cmp.Or(one.Path, "/"), ID: d.newID("AROA"), Trust: cmp.Or(one.Trust, trusting("ec2.amazonaws.com")), Created: now,
			MaxSession: 3600, Tags: map[string]string{}, Attached: slices.Sorted(slices.Values(one.Policies)), Inline: map[string]string{},
		}
		if one.Policy != "" {
			made.Inline["policy"] = one.Policy
		}
		d.roles.Put(roleKey(one.Name), made)
		if one.Profile {
			d.profiles.Put(roleKey(one.Name), &profile{Name: one.Name, Path: made.Path, ID: d.newID("AIPA"), Role: one.Name, Created: now, Tags: map[string]string{}})
		}
	}
	// One that is empty is known from then on as well.
	d.newID("")
}

// lifeKnown is how long it takes until other services know of a new role.
const lifeKnown = 8 * time.Second

// checkNodeRole refuses a role that does not exist, as far as EKS knows already, or that instances may not take.
func (r *realm) checkNodeRole(arn string) error {
	if !strings.HasPrefix(arn, "arn:") {
		return badParameter("Nodegroup role %s is not an ARN", arn)
	}
	found := r.directory.named(arn)
	if found == nil || r.now.Before(found.Known) {
		return badParameter("The role with name %s cannot be found.", arn[strings.LastIndex(arn, "/")+1:])
	}
	if !found.trusts("Service", "ec2.amazonaws.com", nil) {
		return badParameter("Following required service principals [ec2.amazonaws.com] were not found in the trust relationships of nodeRole %s", arn)
	}
	return nil
}

// trusts reports that somebody may take the role.
func (r *role) trusts(kind, who string, context map[string][]string) bool {
	p, err := parsePolicy([]byte(r.Trust), true)
	if err != nil {
		return false
	}
	matching := Policy{}
	for _, s := range p.Statements {
		if s.names(kind, who) {
			s.Resources = []string{"*"}
			matching.Statements = append(matching.Statements, s)
		}
	}
	return judge([]Policy{matching}, ask{action: "sts:AssumeRole", context: context}) == allowed
}

// names reports a statement that names somebody: by ARN, by account, or everybody.
func (s Statement) names(kind, who string) bool {
	if s.Principals["*"] != nil || slices.Contains(s.Principals[kind], "*") || slices.Contains(s.Principals[kind], who) {
		return true
	}
	account := accountOf(who)
	return account != "" && (slices.Contains(s.Principals[kind], account) || slices.Contains(s.Principals[kind], "arn:aws:iam::"+account+":root"))
}

// accountOf is the account in an ARN, "" for what is none.
func accountOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[4]
}

// admits reports a role by which the machines of a node group are let into the cluster: one that exists and, where the simulator
// is strict, may do what nodes do.
func (r *realm) admits(arn string) bool {
	found := r.directory.named(arn)
	if found == nil || !r.server.strict {
		return found != nil
	}
	registry := slices.ContainsFunc(found.Attached, func(p string) bool { return strings.Contains(p, "AmazonEC2ContainerRegistry") })
	return registry && slices.Contains(found.Attached, awsPolicyPrefix+"AmazonEKSWorkerNodePolicy")
}

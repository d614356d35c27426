package iam

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
	"github.com/muster-project/muster/sim/aws/wire"
)

// serviceRolePath is where the roles of services are.
const serviceRolePath = "/aws-service-role/"

// serviceRoles are the roles that services make for themselves, by service.
var serviceRoles = map[string]string{
	"autoscaling.amazonaws.com": "AWSServiceRoleForAutoScaling", "eks.amazonaws.com": "AWSServiceRoleForAmazonEKS",
	"eks-nodegroup.amazonaws.com": "AWSServiceRoleForAmazonEKSNodegroup", "spot.amazonaws.com": "AWSServiceRoleForEC2Spot",
}

func (r *Service) createServiceLinkedRole(in *iam.CreateServiceLinkedRoleInput) (*iam.CreateServiceLinkedRoleOutput, error) {
	service := shapes.Str(in.AWSServiceName)
	name, ok := serviceRoles[service]
	if !ok {
		return nil, wire.Refuse("InvalidInput", "Service Linked Role creation is not supported for %s", service)
	}
	if r.Directory.Roles.Get(RoleKey(name)) != nil {
		return nil, wire.Refuse("InvalidInput", "Service role name %s has been taken in this account, please try a different suffix.", name)
	}
	return &iam.CreateServiceLinkedRoleOutput{Role: r.Directory.showRole(r.makeServiceRole(service))}, nil
}

func (r *Service) makeServiceRole(service string) *Role {
	made := &Role{
		Name: serviceRoles[service], Path: serviceRolePath + service + "/", ID: r.Directory.NewID("AROA"), Created: r.core.Now, MaxSession: 3600,
		Trust: Trusting(service), Tags: map[string]string{}, Inline: map[string]string{},
	}
	r.Directory.Roles.Put(RoleKey(made.Name), made)
	return made
}

// Trusting is a document by which a service may take a role.
func Trusting(service string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"` + service + `"},"Action":"sts:AssumeRole"}]}`
}

// lifeKnown is the time until other services accept a new role.
const lifeKnown = 8 * time.Second

// Trusts reports whether a principal may assume the role.
func (r *Role) Trusts(kind, who string, context map[string][]string) bool {
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
	return Judge([]Policy{matching}, Ask{Action: "sts:AssumeRole", Context: context}) == Allowed
}

// names reports whether the statement names a principal: by ARN, by account, or all of them.
func (s Statement) names(kind, who string) bool {
	if s.Principals["*"] != nil || slices.Contains(s.Principals[kind], "*") || slices.Contains(s.Principals[kind], who) {
		return true
	}
	account := accountOf(who)
	return account != "" && (slices.Contains(s.Principals[kind], account) ||
		slices.Contains(s.Principals[kind], "arn:aws:iam::"+account+":root"))
}

// accountOf is the account in an ARN, "" for what is none.
func accountOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[4]
}

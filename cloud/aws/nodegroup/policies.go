package nodegroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// keepPolicies is the key under which an object remembers the policies that its role got because the specification asked for them:
// what is taken out of the specification is taken from the role, and nothing that another client has attached.
const keepPolicies = "role-policies"

// needPolicy and needNoPolicy are what the pool needs of its role, by name.
func needPolicy(arn string) string   { return "policy " + arn }
func needNoPolicy(arn string) string { return "no policy " + arn }

// policies are the ARNs of the policies that a role of Muster's shall have.
func (p *pass) policies() []string {
	list := make([]string, 0, len(nodePolicies))
	for _, name := range nodePolicies {
		list = append(list, "arn:"+p.partition()+":iam::aws:policy/"+name)
	}
	if p.driver.options.AllowAddRoles {
		list = append(list, p.t.pool.RoleAdditionalPolicies...)
	}
	return session.Unique(list)
}

// missingPolicies are those that Muster's role lacks.
func (p *pass) missingPolicies() []string {
	var needs []string
	for _, arn := range p.policies() {
		if !slices.Contains(p.memory.role.attached, arn) {
			needs = append(needs, needPolicy(arn))
		}
	}
	return needs
}

// looksAfterAdded reports whether Muster attaches and detaches the specification's own policies.
func (p *pass) looksAfterAdded() bool {
	return p.driver.options.EnableIAM && p.driver.options.AllowAddRoles
}

// onceAdded are the policies that the object remembers.
func (p *pass) onceAdded() []string { return strings.Fields(p.t.Remembered[keepPolicies]) }

// superfluous are the policies that the specification has once asked for and asks for no more.
func (p *pass) superfluous() []string {
	if !p.looksAfterAdded() {
		return nil
	}
	return slices.DeleteFunc(p.onceAdded(), func(arn string) bool {
		return !slices.Contains(p.memory.role.attached, arn) || slices.Contains(p.policies(), arn)
	})
}

// needless says of superfluous policies that they are to go.
func (p *pass) needless() []string {
	var needs []string
	for _, arn := range p.superfluous() {
		needs = append(needs, needNoPolicy(arn))
	}
	return needs
}

// rememberPolicies notes what the specification asks for, before it is attached, and what it asked for as long as that is attached.
func (p *pass) rememberPolicies(found map[string]string) {
	role := p.memory.role
	if !p.looksAfterAdded() || role.arn != "" && !role.ours {
		return
	}
	list := slices.Clone(p.t.pool.RoleAdditionalPolicies)
	for _, arn := range p.onceAdded() {
		if slices.Contains(role.attached, arn) {
			list = append(list, arn)
		}
	}
	if text := strings.Join(session.Unique(list), " "); text != p.t.Remembered[keepPolicies] || text != "" {
		found[keepPolicies] = text
	}
}

// bringPolicies attaches what is missing, and detaches what the specification has once asked for and asks for no more. Policies of
// others stay.
func (p *pass) bringPolicies(ctx context.Context) error {
	role, gone := p.memory.role, p.superfluous()
	p.memory.role = roleRead{name: role.name}
	for _, arn := range p.policies() {
		if slices.Contains(role.attached, arn) {
			continue
		}
		_, err := p.c.IAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &role.name, PolicyArn: &arn})
		if err = session.Refusal(err, p.now); err != nil {
			return fmt.Errorf("attach %s to %s: %w", arn, role.name, p.policyField(err, arn))
		}
	}
	return p.detach(ctx, role.name, gone)
}

func (p *pass) detach(ctx context.Context, role string, arns []string) error {
	for _, arn := range arns {
		_, err := p.c.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: &arn})
		if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) {
			return fmt.Errorf("detach %s from %s: %w", arn, role, err)
		}
	}
	return nil
}

// policyField blames the specification for a policy of its own that does not exist.
func (p *pass) policyField(err error, arn string) error {
	if k := slices.Index(p.t.pool.RoleAdditionalPolicies, arn); k >= 0 {
		var e *cloud.Error
		if session.Absent(err) && errors.As(err, &e) {
			// Not the role is missing: it was there a moment ago.
			e.Code, e.Message = "NoSuchPolicy", "there is no policy "+arn
		}
		return cloud.InField(err, item(fieldPolicies, k))
	}
	return err
}

package noderole

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

// nodePolicies are the names of the policies that every EKS node needs, all managed by AWS.
var nodePolicies = []string{"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly"}

// PoliciesKey is the key under which an object remembers the policies that the specification asked for. A policy that is removed from the
// specification is detached from the role; one that another client attached is not.
const PoliciesKey = "role-policies"

// policies returns the ARNs of the policies that an owned role is to have.
func (p Pass) policies() []string {
	list := make([]string, 0, len(nodePolicies))
	for _, name := range nodePolicies {
		list = append(list, "arn:"+p.Spec.partition(p.Session.Region)+":iam::aws:policy/"+name)
	}
	if p.Spec.MayAttach {
		list = append(list, p.Spec.Policies...)
	}
	return session.Unique(list)
}

// missingPolicies returns the prerequisites for the policies that an owned role lacks.
func (p Pass) missingPolicies() []string {
	var items []string
	for _, arn := range p.policies() {
		if !slices.Contains(p.Memory.attached, arn) {
			items = append(items, "policy "+arn)
		}
	}
	return items
}

// managesPolicies reports whether Muster attaches and detaches the specification's policies.
func (s Spec) managesPolicies() bool { return s.MayCreate && s.MayAttach }

// mayNotAttach reports whether the specification asks for policies that the controller may not attach to a role that it made or would make.
func (p Pass) mayNotAttach() bool {
	own := p.Memory.owned || p.Memory.arn == "" && p.Spec.MayCreate
	return own && len(p.Spec.Policies) > 0 && !p.Spec.MayAttach
}

// rememberedPolicies returns the policies that the object remembers.
func (s Spec) rememberedPolicies() []string { return strings.Fields(s.Remembered[PoliciesKey]) }

// obsoletePolicies returns the attached policies that the specification asked for once and asks for no longer.
func (p Pass) obsoletePolicies() []string {
	if !p.Spec.managesPolicies() {
		return nil
	}
	return slices.DeleteFunc(p.Spec.rememberedPolicies(), func(arn string) bool {
		return !slices.Contains(p.Memory.attached, arn) || slices.Contains(p.policies(), arn)
	})
}

// obsoleteItems returns the prerequisites for obsolete policies: their absence.
func (p Pass) obsoleteItems() []string {
	var items []string
	for _, arn := range p.obsoletePolicies() {
		items = append(items, "no policy "+arn)
	}
	return items
}

// rememberPolicies notes which policies the specification asks for, before they are attached, and those that it asked for as long as they
// are attached.
func (p Pass) rememberPolicies(lookups map[string]string) {
	role := p.Memory
	if !p.Spec.managesPolicies() || role.arn != "" && !role.owned {
		return
	}
	list := slices.Clone(p.Spec.Policies)
	for _, arn := range p.Spec.rememberedPolicies() {
		if slices.Contains(role.attached, arn) {
			list = append(list, arn)
		}
	}
	if text := strings.Join(session.Unique(list), " "); text != p.Spec.Remembered[PoliciesKey] || text != "" {
		lookups[PoliciesKey] = text
	}
}

// updatePolicies attaches missing policies and detaches obsolete ones. Policies of other clients stay attached.
func (p Pass) updatePolicies(ctx context.Context) error {
	role, obsolete := *p.Memory, p.obsoletePolicies()
	*p.Memory = Memory{name: role.name}
	for _, arn := range p.policies() {
		if slices.Contains(role.attached, arn) {
			continue
		}
		_, err := p.Session.IAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &role.name, PolicyArn: &arn})
		if err = session.Refusal(err, p.Now); err != nil {
			return fmt.Errorf("attach %s to %s: %w", arn, role.name, p.Spec.inPolicyField(err, arn))
		}
	}
	return p.detach(ctx, role.name, obsolete)
}

// detach detaches policies from a role.
func (p Pass) detach(ctx context.Context, role string, arns []string) error {
	for _, arn := range arns {
		_, err := p.Session.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: &arn})
		if err = session.Refusal(err, p.Now); err != nil && !session.Absent(err) {
			return fmt.Errorf("detach %s from %s: %w", arn, role, err)
		}
	}
	return nil
}

// inPolicyField adds the field to an error about a policy that the specification names.
func (s Spec) inPolicyField(err error, arn string) error {
	k := slices.Index(s.Policies, arn)
	if k < 0 {
		return err
	}
	var e *cloud.Error
	if session.Absent(err) && errors.As(err, &e) {
		// The policy is missing, not the role: that existed a moment ago.
		e.Code, e.Message = "NoSuchPolicy", "there is no policy "+arn
	}
	return cloud.InField(err, fmt.Sprintf("%s[%d]", FieldPolicies, k))
}

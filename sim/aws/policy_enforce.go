package aws

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// SetPolicies says what the keys of an account may do: what one of the documents allows and none denies. Without documents they
// may do everything, which is how an account begins.
func (s *Server) SetPolicies(account string, documents ...[]byte) error {
	var policies []Policy
	for n, d := range documents {
		p, err := ParsePolicy(d)
		if err != nil {
			return fmt.Errorf("document %d: %w", n+1, err)
		}
		policies = append(policies, p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.policies, account)
	if policies != nil {
		s.policies[account] = policies
	}
	return nil
}

// Asked is what was looked at to let requests through or to refuse them: every action with how often it was allowed and denied,
// since the last ForgetAsked. Actions of those who may do everything are not looked at.
type Asked struct {
	Allowed, Denied map[string]int
}

// Asked tells which actions policies were asked for.
func (s *Server) Asked() Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Asked{Allowed: maps.Clone(s.asked.Allowed), Denied: maps.Clone(s.asked.Denied)}
}

// ForgetAsked begins anew.
func (s *Server) ForgetAsked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = Asked{}
}

// principal is who asks: all sets of policies must allow what he does.
type principal struct {
	arn  string
	sets [][]Policy
}

// principal is who has signed the request, or nil for one who may do everything. s.mu is held.
func (x *exchange) principal() (*principal, error) {
	s, ok := x.server.sessions[x.identity.AccessKeyID]
	if !ok {
		policies, bound := x.server.policies[x.account]
		if !bound {
			return nil, nil
		}
		return &principal{arn: userARN(x.account), sets: [][]Policy{policies}}, nil
	}
	d, err := x.server.directoryOf(s.account)
	if err != nil {
		return nil, err
	}
	p := &principal{arn: s.arn}
	found := d.roles.Get(roleKey(s.role))
	if found == nil {
		found = &role{}
	}
	own, err := d.policiesOf(found)
	if err != nil {
		return nil, err
	}
	p.sets = append(p.sets, own)
	if s.limited {
		p.sets = append(p.sets, s.policies)
	}
	if found.Boundary != "" {
		bounds, err := d.read(found.Boundary)
		if err != nil {
			return nil, err
		}
		p.sets = append(p.sets, []Policy{bounds})
	}
	return p, nil
}

// read is a managed policy.
func (d *directory) read(arn string) (Policy, error) {
	text, err := d.document(arn)
	if err != nil {
		return Policy{}, err
	}
	return ParsePolicy([]byte(text))
}

// policiesOf are all policies of a role.
func (d *directory) policiesOf(r *role) ([]Policy, error) {
	var out []Policy
	for _, arn := range r.Attached {
		p, err := d.read(arn)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	for _, text := range r.Inline {
		p, err := ParsePolicy([]byte(text))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// authorize refuses what the caller may not do: the action itself, and what the service does in his name.
func (x *exchange) authorize(r *realm) error {
	if x.service == serviceSTS && x.action == "GetCallerIdentity" {
		// "No permissions are required to perform this operation."
		return nil
	}
	p, err := x.principal()
	if p == nil || err != nil {
		return err
	}
	asks, err := r.asksOf(x)
	if err != nil {
		return err
	}
	for _, a := range asks {
		if err := x.permit(p, a); err != nil {
			return err
		}
	}
	return nil
}

// permit refuses one thing that not all sets of policies allow.
func (x *exchange) permit(p *principal, a ask) error {
	maps.Copy(a.context, map[string][]string{
		"aws:PrincipalArn": {p.arn}, "aws:PrincipalAccount": {x.account}, "aws:RequestedRegion": {x.identity.Region},
	})
	asked := &x.server.asked
	if asked.Allowed == nil {
		asked.Allowed, asked.Denied = map[string]int{}, map[string]int{}
	}
	for _, set := range p.sets {
		v := judge(set, a)
		if v == allowed {
			continue
		}
		asked.Denied[a.action]++
		why := "because no identity-based policy allows the " + a.action + " action"
		if v == denied {
			why = "with an explicit deny in an identity-based policy"
		}
		message := fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", p.arn, a.action, a.resource, why)
		if a.refusal != nil {
			return a.refusal(message)
		}
		return x.refused(message)
	}
	asked.Allowed[a.action]++
	return nil
}

// refused is a denial in the words of the service.
func (x *exchange) refused(message string) *apiError {
	switch x.service {
	case serviceEC2:
		return &apiError{Code: "UnauthorizedOperation", Message: "You are not authorized to perform this operation. " + message, Status: http.StatusForbidden}
	case serviceSSM:
		return refuse("AccessDeniedException", "%s", message)
	case serviceEKS:
		return &apiError{Code: "AccessDeniedException", Message: message, Status: http.StatusForbidden}
	default:
		return &apiError{Code: "AccessDenied", Message: message, Status: http.StatusForbidden}
	}
}

// about is something that is asked for, with what conditions may look at.
func about(action, resource string, contexts ...map[string][]string) ask {
	a := ask{action: action, resource: cmp.Or(resource, "*"), context: map[string][]string{}}
	for _, c := range contexts {
		maps.Copy(a.context, c)
	}
	return a
}

// given are the tags that a request gives, carried those that a resource has, as conditions look at them.
func given(tags map[string]string) map[string][]string {
	out := map[string][]string{}
	for k, v := range tags {
		out["aws:RequestTag/"+k] = []string{v}
		out["aws:TagKeys"] = append(out["aws:TagKeys"], k)
	}
	return out
}

func carried(service string, tags map[string]string) map[string][]string {
	out := map[string][]string{}
	for k, v := range tags {
		out["aws:ResourceTag/"+k] = []string{v}
		out[service+":ResourceTag/"+k] = []string{v}
	}
	return out
}

// asksOf is what a request asks for. An action of which nothing is said here is asked for on everything.
func (r *realm) asksOf(x *exchange) ([]ask, error) {
	name := x.service + ":" + x.action
	if f, ok := asking[name]; ok {
		return f(r, x, name)
	}
	for prefix, f := range askingAll {
		if strings.HasPrefix(name, prefix) && !strings.Contains(name, ":Describe") && name != "iam:ListRoles" {
			return f(r, x, name)
		}
	}
	return []ask{about(name, "")}, nil
}

type asker func(r *realm, x *exchange, name string) ([]ask, error)

// asking are the actions that are about something, askingAll those of services in which all that write are about one kind of
// thing.
var (
	asking = map[string]asker{
		"ec2:CreateLaunchTemplate":         askNewTemplate,
		"ec2:CreateLaunchTemplateVersion":  askTemplate,
		"ec2:ModifyLaunchTemplate":         askTemplate,
		"ec2:DeleteLaunchTemplate":         askTemplate,
		"ec2:DeleteLaunchTemplateVersions": askTemplate,
		"ec2:CreateTags":                   askTags,
		"ec2:DeleteTags":                   askTags,
		"ec2:TerminateInstances":           askInstances,
		"ec2:GetConsoleOutput":             askInstances,
		"ec2:RunInstances":                 askRun,
		"s3:PutObject":                     askObject,
		"s3:CopyObject":                    askObject,
		"s3:DeleteObject":                  askObject,
		"s3:GetObject":                     askObject,
		"s3:HeadObject":                    askObject,
		"ssm:GetParameter":                 askParameters,
		"ssm:GetParameters":                askParameters,
		"ssm:GetParametersByPath":          askParameters,
		"sts:AssumeRole":                   askRole,

		"autoscaling:CreateAutoScalingGroup": askNewGroup,
		"autoscaling:CreateOrUpdateTags":     askGroupTags,
		"autoscaling:DeleteTags":             askGroupTags,

		"eks:CreateCluster":          askNewCluster,
		"eks:DescribeCluster":        askCluster,
		"eks:ListNodegroups":         askCluster,
		"eks:CreateNodegroup":        askNewNodegroup,
		"eks:DescribeNodegroup":      askNodegroup,
		"eks:ListUpdates":            askNodegroup,
		"eks:DescribeUpdate":         askNodegroup,
		"eks:DeleteCluster":          askCluster,
		"eks:UpdateClusterVersion":   askCluster,
		"eks:CancelUpdate":           askCluster,
		"eks:UpdateNodegroupConfig":  askNodegroup,
		"eks:UpdateNodegroupVersion": askNodegroupVersion,
		"eks:DeleteNodegroup":        askNodegroup,
		"eks:TagResource":            askEKSTags,
		"eks:UntagResource":          askEKSTags,
		"eks:ListTagsForResource":    askEKSTags,

		"iam:ListAttachedRolePolicies":    askIAM,
		"iam:ListRolePolicies":            askIAM,
		"iam:ListRoleTags":                askIAM,
		"iam:ListInstanceProfilesForRole": askIAM,
		"iam:CreateServiceLinkedRole":     askServiceRole,
	}
	askingAll = map[string]asker{"autoscaling:": askGroup, "iam:": askIAM}
)

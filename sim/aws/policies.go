package aws

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/wire"
)

// SetPolicies says what the keys of an account may do: what one of the documents allows and none denies. Without documents they
// may do everything, which is how an account begins.
func (s *Server) SetPolicies(account string, documents ...[]byte) error {
	var policies []iam.Policy
	for n, d := range documents {
		p, err := iam.ParsePolicy(d)
		if err != nil {
			return fmt.Errorf("document %d: %w", n+1, err)
		}
		policies = append(policies, p)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	delete(s.policies, account)
	if policies != nil {
		s.policies[account] = policies
	}
	return nil
}

// Asked is what was looked at to let requests through or to refuse them: every action with how often it was allowed and denied,
// since the last ForgetAsked. Actions of identities that may do everything are not recorded.
type Asked struct {
	Allowed, Denied map[string]int
}

// Asked tells which actions policies were asked for.
func (s *Server) Asked() Asked {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return Asked{Allowed: maps.Clone(s.asked.Allowed), Denied: maps.Clone(s.asked.Denied)}
}

// principal is the caller: all sets of policies must allow the call.
type principal struct {
	arn  string
	sets [][]iam.Policy
}

// principal is who has signed the request, or nil for one who may do everything. s.Mu is held.
func (x *exchange) principal() (*principal, error) {
	s, ok := x.server.sessions[x.identity.AccessKeyID]
	if !ok {
		policies, bound := x.server.policies[x.account]
		if !bound {
			return nil, nil
		}
		return &principal{arn: userARN(x.account), sets: [][]iam.Policy{policies}}, nil
	}
	d, err := x.server.directoryOf(s.account)
	if err != nil {
		return nil, err
	}
	p := &principal{arn: s.arn}
	found := d.Roles.Get(iam.RoleKey(s.role))
	if found == nil {
		found = &iam.Role{}
	}
	own, err := d.PoliciesOf(found)
	if err != nil {
		return nil, err
	}
	p.sets = append(p.sets, own)
	if s.limited {
		p.sets = append(p.sets, s.policies)
	}
	if found.Boundary != "" {
		bounds, err := d.Read(found.Boundary)
		if err != nil {
			return nil, err
		}
		p.sets = append(p.sets, []iam.Policy{bounds})
	}
	return p, nil
}

// authorize refuses what the caller may not do: the action itself, and what the service does in the caller's name.
func (x *exchange) authorize(r *region) error {
	if x.Service == wire.ServiceSTS && x.Action == "GetCallerIdentity" {
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
func (x *exchange) permit(p *principal, a iam.Ask) error {
	maps.Copy(a.Context, map[string][]string{
		"aws:PrincipalArn": {p.arn}, "aws:PrincipalAccount": {x.account}, "aws:RequestedRegion": {x.identity.Region},
	})
	asked := &x.server.asked
	if asked.Allowed == nil {
		asked.Allowed, asked.Denied = map[string]int{}, map[string]int{}
	}
	for _, set := range p.sets {
		v := iam.Judge(set, a)
		if v == iam.Allowed {
			continue
		}
		asked.Denied[a.Action]++
		why := "because no identity-based policy allows the " + a.Action + " action"
		if v == iam.Denied {
			why = "with an explicit deny in an identity-based policy"
		}
		message := fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s %s", p.arn, a.Action, a.Resource, why)
		if a.Refusal != nil {
			return a.Refusal(message)
		}
		return x.refused(message)
	}
	asked.Allowed[a.Action]++
	return nil
}

// refused is a denial in the words of the service.
func (x *exchange) refused(message string) *wire.APIError {
	switch x.Service {
	case wire.ServiceEC2:
		return &wire.APIError{Code: "UnauthorizedOperation", Message: "You are not authorized to perform this operation. " + message,
			Status: http.StatusForbidden}
	case wire.ServiceSSM:
		return wire.Refuse("AccessDeniedException", "%s", message)
	case wire.ServiceEKS:
		return &wire.APIError{Code: "AccessDeniedException", Message: message, Status: http.StatusForbidden}
	default:
		return &wire.APIError{Code: "AccessDenied", Message: message, Status: http.StatusForbidden}
	}
}

// asksOf returns what a request asks of the caller's policies. An action that is not listed is asked for on everything.
func (r *region) asksOf(x *exchange) ([]iam.Ask, error) {
	name := x.Service + ":" + x.Action
	if f, ok := asking[x.Service][x.Action]; ok {
		return f(r, x, name)
	}
	if f, ok := asking[x.Service][""]; ok && !strings.Contains(name, ":Describe") && name != "iam:ListRoles" {
		return f(r, x, name)
	}
	return []iam.Ask{iam.About(name, "")}, nil
}

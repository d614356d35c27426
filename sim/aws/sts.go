package aws

import (
	"net/http"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/sts"
	"github.com/muster-project/muster/sim/aws/wire"
)

func askRole(_ *region, x *exchange, name string) ([]iam.Ask, error) {
	return []iam.Ask{iam.About(name, x.Params.Get("RoleArn"))}, nil
}

// session is a set of temporary credentials. It lives as long as the process: a client whose keys are unknown asks for others.
type session struct {
	account, secret, token, arn string
	// role is the name of the role that was taken; policies are those that the session was limited to.
	role     string
	policies []iam.Policy
	limited  bool
	expires  time.Time
}

func (s *Server) session(accessKey string) (session, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	v, ok := s.sessions[accessKey]
	return v, ok
}

// accountBy finds the account whose key has signed a request.
func (s *Server) accountBy(accessKey string) (Account, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	a, ok := s.accounts[accessKey]
	return a, ok
}

// userARN returns the ARN of the user that an account's own keys belong to.
func userARN(account string) string { return "arn:aws:iam::" + account + ":user/muster" }

// caller is the ARN of who has signed the request. s.Mu is held.
func (x *exchange) caller() string {
	if s, ok := x.server.sessions[x.identity.AccessKeyID]; ok {
		return s.arn
	}
	return userARN(x.account)
}

func getCallerIdentity(q request, _ *wire.Call) (any, error) {
	r, x := q.region, q.exchange
	arn := x.caller()
	return &sts.GetCallerIdentityOutput{Account: new(r.Account), Arn: new(arn),
		UserId: new("AIDA" + strings.ToUpper(r.server.Environment.Seed.Hex(16, arn)))}, nil
}

// Bounds of a session's time, in seconds; one that was begun with a session's keys ends within an hour.
const (
	sessionDefault, sessionLeast, sessionMost, sessionChained = 3600, 900, 43200, 3600
)

// assumeRole gives temporary credentials for a role of any account whose trust names the caller.
func assumeRole(q request, _ *wire.Call) (any, error) {
	r, x := q.region, q.exchange
	in := &sts.AssumeRoleInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	parts := strings.Split(shapes.Str(in.RoleArn), ":")
	if len(parts) != 6 || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") || shapes.Str(in.RoleSessionName) == "" {
		return nil, wire.Invalid("%s is invalid", shapes.Str(in.RoleArn))
	}
	found, err := x.trusted(r, in, parts[4])
	if err != nil {
		return nil, err
	}
	seconds, err := x.sessionTime(in, found)
	if err != nil {
		return nil, err
	}
	policies, err := r.sessionPolicies(in, parts[4])
	if err != nil {
		return nil, err
	}
	n := r.Number()
	key := "ASIA" + strings.ToUpper(r.server.Environment.Seed.Hex(16, "key", n))
	s := session{
		account: parts[4], secret: r.server.Environment.Seed.Hex(40, "secret", n), token: r.server.Environment.Seed.Hex(64, "token", n),
		role:     found.Name,
		arn:      "arn:aws:sts::" + parts[4] + ":assumed-role/" + found.Name + "/" + *in.RoleSessionName,
		policies: policies, limited: policies != nil, expires: r.Now.Add(time.Duration(seconds) * time.Second),
	}
	r.server.sessions[key] = s
	id := found.ID + ":" + *in.RoleSessionName
	return &sts.AssumeRoleOutput{
		AssumedRoleUser: &sts.AssumedRoleUser{Arn: new(s.arn), AssumedRoleId: new(id)},
		Credentials: &sts.Credentials{
			AccessKeyId: new(key), SecretAccessKey: new(s.secret), SessionToken: new(s.token), Expiration: shapes.Stamp(s.expires),
		},
	}, nil
}

// trusted is the role that is asked for, if it trusts the caller. One that does not exist is refused in the same words.
func (x *exchange) trusted(r *region, in *sts.AssumeRoleInput, account string) (*iam.Role, error) {
	caller := x.caller()
	refusal := &wire.APIError{Code: "AccessDenied",
		Message: "User: " + caller + " is not authorized to perform: sts:AssumeRole on resource: " + shapes.Str(in.RoleArn),
		Status:  http.StatusForbidden}
	if !r.server.accounts.knows(account) {
		return nil, refusal
	}
	d, err := r.server.directoryOf(account)
	if err != nil {
		return nil, err
	}
	found := d.Named(shapes.Str(in.RoleArn))
	context := map[string][]string{"aws:PrincipalArn": {caller}, "aws:PrincipalAccount": {x.account},
		"sts:RoleSessionName": {*in.RoleSessionName}}
	if id := shapes.Str(in.ExternalId); id != "" {
		context["sts:ExternalId"] = []string{id}
	}
	if found == nil || !found.Trusts("AWS", caller, context) && !found.Trusts("AWS", x.callerRole(), context) {
		return nil, refusal
	}
	return found, nil
}

// callerRole is the ARN of the role whose session has signed the request, or the caller's own.
func (x *exchange) callerRole() string {
	s, ok := x.server.sessions[x.identity.AccessKeyID]
	if !ok {
		return x.caller()
	}
	d, err := x.server.directoryOf(s.account)
	if err != nil {
		return s.arn
	}
	if found := d.Roles.Get(iam.RoleKey(s.role)); found != nil {
		return d.ARN("role", found.Path, found.Name)
	}
	return s.arn
}

func (x *exchange) sessionTime(in *sts.AssumeRoleInput, found *iam.Role) (int32, error) {
	seconds := int32(sessionDefault)
	if in.DurationSeconds != nil {
		seconds = *in.DurationSeconds
	}
	_, chained := x.server.sessions[x.identity.AccessKeyID]
	switch {
	case seconds < sessionLeast || seconds > sessionMost:
		return 0, wire.Invalid("The requested DurationSeconds is not within %d..%d.", sessionLeast, sessionMost)
	case chained && seconds > sessionChained:
		return 0, wire.Invalid("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	case seconds > found.MaxSession:
		return 0, wire.Invalid("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	return seconds, nil
}

// sessionPolicies are those that the caller limits the session to; nil for no limit.
func (r *region) sessionPolicies(in *sts.AssumeRoleInput, account string) ([]iam.Policy, error) {
	var out []iam.Policy
	texts := []string{}
	if p := shapes.Str(in.Policy); p != "" {
		texts = append(texts, p)
	}
	d, err := r.server.directoryOf(account)
	if err != nil {
		return nil, err
	}
	for _, p := range in.PolicyArns {
		text, err := d.Document(shapes.Str(p.Arn))
		if err != nil {
			return nil, wire.Invalid("%s", wire.ErrorMessage(err))
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		p, err := iam.ParsePolicy([]byte(text))
		if err != nil {
			return nil, wire.Refuse("MalformedPolicyDocument", "%v", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// RotateKey gives the account other keys; requests that are signed with the old ones are refused from then on.
func (s *Server) RotateKey(account, accessKeyID, secretAccessKey string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for key, a := range s.accounts {
		if a.ID == account {
			delete(s.accounts, key)
			a.AccessKeyID, a.SecretAccessKey = accessKeyID, secretAccessKey
			s.accounts[accessKeyID] = a
		}
	}
}

package aws

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/sts"
)

// The shapes of SSM are JSON and few, so they are spelled here.
type (
	getParameterInput  struct{ Name string }
	getParametersInput struct{ Names []string }

	getParametersByPathInput struct {
		Path       string
		Recursive  bool
		NextToken  *string
		MaxResults *int
	}

	parameter struct {
		ARN, Name, Type, Value, DataType string
		Version                          int64
		LastModifiedDate                 float64
	}

	getParameterOutput  struct{ Parameter parameter }
	getParametersOutput struct {
		Parameters        []parameter
		InvalidParameters []string
	}
	getParametersByPathOutput struct {
		Parameters []parameter
		NextToken  *string `json:",omitempty"`
	}
)

const (
	// maxParameterNames is how many parameters one call may ask for, parameterPage the largest page.
	maxParameterNames, parameterPage = 10, 10
)

func (r *realm) parameter(name string) (parameter, bool) {
	value, ok := r.published.parameters[name]
	if !ok {
		return parameter{}, false
	}
	return parameter{
		ARN: "arn:aws:ssm:" + r.region + "::parameter" + name, Name: name, Type: "String", Value: value, DataType: "text", Version: 1,
		LastModifiedDate: float64(firstBuild.Unix()),
	}, true
}

func (r *realm) getParameter(in *getParameterInput) (*getParameterOutput, error) {
	p, ok := r.parameter(in.Name)
	if !ok {
		return nil, refuse("ParameterNotFound", "")
	}
	return &getParameterOutput{p}, nil
}

func (r *realm) getParameters(in *getParametersInput) (*getParametersOutput, error) {
	if len(in.Names) == 0 || len(in.Names) > maxParameterNames {
		return nil, refuse("ValidationException", "1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d", maxParameterNames)
	}
	out := &getParametersOutput{Parameters: []parameter{}, InvalidParameters: []string{}}
	for _, name := range in.Names {
		if p, ok := r.parameter(name); ok {
			out.Parameters = append(out.Parameters, p)
		} else {
			out.InvalidParameters = append(out.InvalidParameters, name)
		}
	}
	return out, nil
}

func (r *realm) getParametersByPath(in *getParametersByPathInput) (*getParametersByPathOutput, error) {
	prefix := strings.TrimSuffix(in.Path, "/") + "/"
	var found []parameter
	for _, name := range slices.Sorted(maps.Keys(r.published.parameters)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || !in.Recursive && strings.Contains(rest, "/") {
			continue
		}
		p, _ := r.parameter(name)
		found = append(found, p)
	}
	size := parameterPage
	if in.MaxResults != nil {
		size = min(max(1, *in.MaxResults), parameterPage)
	}
	page, next, err := paged(found, func(p parameter) string { return p.Name }, in.NextToken, r.page(size))
	return &getParametersByPathOutput{page, next}, err
}

func getCallerIdentity(r *realm, x *exchange) (any, error) {
	arn := "arn:aws:iam::" + r.account + ":user/muster"
	if s, ok := r.server.sessions[x.identity.AccessKeyID]; ok {
		arn = s.arn
	}
	return &sts.GetCallerIdentityOutput{Account: ptr(r.account), Arn: ptr(arn), UserId: ptr("AIDA" + strings.ToUpper(r.server.seed.Hex(16, arn)))}, nil
}

// assumeRole gives temporary credentials for a role of any account that exists.
func assumeRole(r *realm, x *exchange) (any, error) {
	in := &sts.AssumeRoleInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	parts := strings.Split(str(in.RoleArn), ":")
	if len(parts) != 6 || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") || str(in.RoleSessionName) == "" {
		return nil, invalid("%s is invalid", str(in.RoleArn))
	}
	if !r.server.knows(parts[4]) {
		return nil, &apiError{Code: "AccessDenied", Message: "User: arn:aws:iam::" + r.account + ":user/muster is not authorized to perform: sts:AssumeRole on resource: " + str(in.RoleArn), Status: 403}
	}
	seconds := int32(3600)
	if in.DurationSeconds != nil {
		seconds = *in.DurationSeconds
	}
	if seconds < 900 || seconds > 43200 {
		return nil, invalid("The requested DurationSeconds is not within 900..43200.")
	}
	n := r.number()
	role := strings.TrimPrefix(parts[5], "role/")
	key := "ASIA" + strings.ToUpper(r.server.seed.Hex(16, "key", n))
	s := session{
		account: parts[4], secret: r.server.seed.Hex(40, "secret", n), token: r.server.seed.Hex(64, "token", n),
		arn:     "arn:aws:sts::" + parts[4] + ":assumed-role/" + role + "/" + str(in.RoleSessionName),
		expires: r.now.Add(time.Duration(seconds) * time.Second),
	}
	r.server.sessions[key] = s
	id := "AROA" + strings.ToUpper(r.server.seed.Hex(16, role)) + ":" + str(in.RoleSessionName)
	return &sts.AssumeRoleOutput{
		AssumedRoleUser: &sts.AssumedRoleUser{Arn: ptr(s.arn), AssumedRoleId: ptr(id)},
		Credentials: &sts.Credentials{
			AccessKeyId: ptr(key), SecretAccessKey: ptr(s.secret), SessionToken: ptr(s.token), Expiration: stamp(s.expires),
		},
	}, nil
}

// knows reports an account that exists.
func (s *Server) knows(account string) bool {
	for _, a := range s.accounts {
		if a.ID == account {
			return true
		}
	}
	return false
}

package ssm

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/wire"
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

func (r *Service) parameter(name string) (parameter, bool) {
	value, ok := r.Catalogue.Parameters[name]
	if !ok {
		return parameter{}, false
	}
	return parameter{
		ARN: "arn:aws:ssm:" + r.Region + "::parameter" + name, Name: name, Type: "String", Value: value, DataType: "text", Version: 1,
		LastModifiedDate: float64(catalogue.FirstBuild.Unix()),
	}, true
}

func (r *Service) getParameter(in *getParameterInput) (*getParameterOutput, error) {
	p, ok := r.parameter(in.Name)
	if !ok {
		return nil, wire.Refuse("ParameterNotFound", "")
	}
	return &getParameterOutput{p}, nil
}

func (r *Service) getParameters(in *getParametersInput) (*getParametersOutput, error) {
	if len(in.Names) == 0 || len(in.Names) > maxParameterNames {
		return nil, wire.Refuse("ValidationException",
			"1 validation error detected: Value at 'names' failed to satisfy constraint: Member must have length between 1 and %d",
			maxParameterNames)
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

func (r *Service) getParametersByPath(in *getParametersByPathInput) (*getParametersByPathOutput, error) {
	prefix := strings.TrimSuffix(in.Path, "/") + "/"
	var found []parameter
	for _, name := range slices.Sorted(maps.Keys(r.Catalogue.Parameters)) {
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
	page, next, err := account.Paged(r.Core, found, func(p parameter) string { return p.Name }, in.NextToken, r.Page(size))
	return &getParametersByPathOutput{page, next}, err
}

func askParameters(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	var in struct {
		Name, Path string
		Names      []string
	}
	if err := wire.DecodeJSON(x, &in); err != nil {
		return nil, err
	}
	var asks []iam.Ask
	for _, n := range append(in.Names, in.Name, in.Path) {
		if n == "" {
			continue
		}
		account := r.Account
		if strings.HasPrefix(n, "/aws/") {
			account = ""
		}
		asks = append(asks, iam.About(name, "arn:aws:ssm:"+r.Region+":"+account+":parameter"+n))
	}
	return asks, nil
}

// Asks are what the actions of the service ask of the caller's policies. An action that is not listed is asked for on everything; an
// action without a name stands for all others that write.
var Asks = map[string]iam.Asker[*Service]{
	"GetParameter":        askParameters,
	"GetParameters":       askParameters,
	"GetParametersByPath": askParameters,
}

package aws

import (
	"maps"
	"slices"
	"strings"
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

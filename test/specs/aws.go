package specs

import (
	_ "embed" // for the table
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// awsTable has the operations that the simulator serves, as the clients of the SDK request them. The generator of sim/aws/shapes writes it.
//
//go:embed aws.json
var awsTable []byte

// queryServices are the services whose operations a form names, by the version of their API.
var queryServices = map[string]string{"2016-11-15": "ec2", "2011-01-01": "autoscaling", "2011-06-15": "sts", "2010-05-08": "iam"}

// AWS reads the operations of AWS' services, once.
var AWS = once(func() (*Specification, error) {
	var table map[string]struct {
		Method, Path, Version  string
		Success                []int
		Query, Members, Errors []string
	}
	if err := json.Unmarshal(awsTable, &table); err != nil {
		return nil, fmt.Errorf("decode the operations of AWS: %w", err)
	}
	from := &types{common: func(string) bool { return false }}
	all, paths := map[string]*Operation{}, map[string]*Operation{}
	for id, one := range table {
		service, _, named := strings.Cut(id, ".")
		if !named { // the errors of a service
			continue
		}
		o := &Operation{ID: id, Method: http.MethodPost, Path: "/", Version: one.Version, Query: map[string]bool{}, Success: one.Success,
			Errors: append(one.Errors, table[service].Errors...), Members: []string{}, from: from}
		for _, name := range one.Query {
			o.Query[name] = false
		}
		for _, name := range one.Members {
			name, required := strings.CutPrefix(name, "*")
			if o.Members = append(o.Members, name); required {
				o.Required = append(o.Required, name)
			}
		}
		if all[id] = o; one.Path != "" {
			o.Method, o.Path = one.Method, one.Path
			paths[id] = o
		}
	}
	byPath := byPath(paths)
	return &Specification{
		operations: all, unpublished: awsUnpublished,
		find: func(r *http.Request, body string) *Operation {
			form, isForm := formOf(r, body)
			if isForm {
				return all[queryServices[form.Get("Version")]+"."+form.Get("Action")]
			}
			return byPath(r, body)
		},
	}, nil
})

// formOf returns the parameters of a request whose body is a form.
func formOf(r *http.Request, body string) (url.Values, bool) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil, false
	}
	form, err := url.ParseQuery(body)
	return form, err == nil
}

// awsUnpublished reports whether a request is one to SSM or S3, of which the table has none: their simulators serve a few operations that
// the SDK's own clients request in the tests.
func awsUnpublished(r *http.Request) bool {
	scope := r.Header.Get("Authorization")
	return strings.Contains(scope, "/ssm/") || strings.Contains(scope, "/s3/")
}

// members holds the parameters of a form, or the top of a JSON document, against what the operation has.
func (o *Operation) members(r *http.Request, body string) error {
	var has []string
	if form, is := formOf(r, body); is {
		for name := range form {
			top, _, _ := strings.Cut(name, ".")
			has = append(has, top)
		}
		has = slices.DeleteFunc(has, func(name string) bool { return name == "Action" || name == "Version" })
	} else if body != "" {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &object); err != nil {
			return fmt.Errorf("decode the body: %w", err)
		}
		has = slices.Collect(maps.Keys(object))
	}
	for _, name := range has {
		if !slices.Contains(o.Members, name) {
			return fmt.Errorf("no member %s is published", name)
		}
	}
	for _, name := range o.Required {
		if !slices.Contains(has, name) {
			return fmt.Errorf("the member %s is needed", name)
		}
	}
	return nil
}

// commonErrors are the codes that AWS documents for all operations of the query protocols.
var commonErrors = []string{
	"AccessDenied", "AccessDeniedException", "ExpiredToken", "IncompleteSignature", "InternalFailure", "InvalidAction", "InvalidClientTokenId",
	"MissingAction", "MissingParameter", "OptInRequired", "RequestExpired", "RequestLimitExceeded", "ServiceUnavailable",
	"SignatureDoesNotMatch", "Throttling", "ThrottlingException", "UnrecognizedClientException", "ValidationError",
}

// undeclared are errors that operations answer with and do not declare, as clients report them: a role whose permissions boundary does not
// exist is refused with "Scope ARN ... does not exist or is not attachable".
var undeclared = map[string]string{"iam.CreateRole": "NoSuchEntity"}

// refusal returns the code of an error that the operation does not declare.
func (o *Operation) refusal(h http.Header, answer []byte) error {
	if len(o.Errors) == 0 {
		return nil
	}
	code := h.Get("X-Amzn-Errortype")
	if code == "" {
		var in struct {
			Code string `xml:"Error>Code"`
		}
		if err := xml.Unmarshal(answer, &in); err != nil {
			return fmt.Errorf("decode the error: %w", err)
		}
		code = in.Code
	}
	if !slices.Contains(o.Errors, code) && !slices.Contains(commonErrors, code) && undeclared[o.ID] != code {
		return fmt.Errorf("the error %q is not one of %v", code, o.Errors)
	}
	return nil
}

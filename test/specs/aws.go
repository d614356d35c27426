package specs

import (
	"bytes"
	_ "embed" // for the table
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
		Method, Path, Version                   string
		Success                                 []int
		Query, Headers, Members, Nested, Errors []string
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
			Errors: append(one.Errors, table[service].Errors...), Members: []string{}, Nested: one.Nested, from: from}
		for _, name := range one.Query {
			o.Query[name] = false
		}
		for _, name := range one.Members {
			name, required := strings.CutPrefix(name, "*")
			if o.Members = append(o.Members, name); required {
				o.Required = append(o.Required, name)
			}
		}
		switch all[id] = o; {
		case len(one.Headers) > 0:
			o.Method, o.Path, o.Headers, o.Members, o.plain = one.Method, one.Path, one.Headers, nil, true
		case one.Path != "":
			o.Method, o.Path = one.Method, one.Path
			paths[id] = o
		}
	}
	byPath := byPath(paths)
	return &Specification{
		operations: all, unpublished: func(*http.Request) bool { return false },
		find: func(r *http.Request, body string) *Operation {
			form, isForm := formOf(r, body)
			target, isTarget := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "AmazonSSM.")
			switch {
			case isForm:
				return all[queryServices[form.Get("Version")]+"."+form.Get("Action")]
			case isTarget:
				return all["ssm."+target]
			case strings.Contains(r.Header.Get("Authorization"), "/s3/"):
				return ofS3(all, r)
			}
			return byPath(r, body)
		},
	}, nil
})

// ofS3 returns the operation of a request to S3, which its parameter x-id names; HeadObject has none. The bucket is in the path or in the
// name of the host.
func ofS3(all map[string]*Operation, r *http.Request) *Operation {
	id := r.URL.Query().Get("x-id")
	if r.Method == http.MethodHead && id == "" {
		id = "HeadObject"
	}
	_, key, inPath := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !inPath && !strings.HasPrefix(r.Host, "s3.") {
		key = strings.TrimPrefix(r.URL.Path, "/")
	}
	if o := all["s3."+id]; o != nil && o.Method == r.Method && key != "" {
		return o
	}
	return nil
}

// formOf returns the parameters of a request whose body is a form.
func formOf(r *http.Request, body string) (url.Values, bool) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil, false
	}
	form, err := url.ParseQuery(body)
	return form, err == nil
}

// members holds the parameters of a form, or the top of a JSON document, against what the operation has.
func (o *Operation) members(r *http.Request, body string) error {
	var has, paths []string
	if form, is := formOf(r, body); is {
		paths = slices.DeleteFunc(slices.Collect(maps.Keys(form)), func(name string) bool { return name == "Action" || name == "Version" })
	} else if body != "" {
		var object map[string]any
		if err := json.Unmarshal([]byte(body), &object); err != nil {
			return fmt.Errorf("decode the body: %w", err)
		}
		paths = flattened(object, "")
	}
	for _, path := range paths {
		top, _, _ := strings.Cut(path, ".")
		has = append(has, top)
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
	for _, path := range o.Nested {
		if lacks := lacking(paths, path); lacks != "" {
			return fmt.Errorf("the member %s is needed", lacks)
		}
	}
	return nil
}

// flattened returns the paths of a JSON document's values, as a form has them: names and the numbers of elements, from 1 on.
func flattened(value any, path string) (out []string) {
	below := func(name string, value any) {
		out = append(out, flattened(value, strings.TrimPrefix(path+"."+name, "."))...)
	}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			below(name, member)
		}
	case []any:
		for k, element := range value {
			below(strconv.Itoa(k+1), element)
		}
	}
	if len(out) == 0 && path != "" {
		return []string{path}
	}
	return out
}

// lacking returns the first path, of those that a pattern stands for, that a request lacks although it has what the path is in; "" for
// none.
func lacking(has []string, pattern string) string {
	within := func(path string) func(string) bool {
		return func(is string) bool { return is == path || strings.HasPrefix(is, path+".") }
	}
	list, rest, elements := strings.Cut(pattern, ".#.")
	if !elements {
		parent := pattern[:strings.LastIndexByte(pattern, '.')]
		if slices.ContainsFunc(has, within(parent)) && !slices.ContainsFunc(has, within(pattern)) {
			return pattern
		}
		return ""
	}
	for _, path := range has {
		after, is := strings.CutPrefix(path, list+".")
		if number, _, _ := strings.Cut(after, "."); is {
			if lacks := lacking(has, list+"."+number+"."+rest); lacks != "" {
				return lacks
			}
		}
	}
	return ""
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
	switch {
	case code != "":
	case bytes.HasPrefix(answer, []byte("{")):
		var in struct {
			Code string `json:"__type"`
		}
		if err := json.Unmarshal(answer, &in); err != nil {
			return fmt.Errorf("decode the error: %w", err)
		}
		code = in.Code
	default:
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

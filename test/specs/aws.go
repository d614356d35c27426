package specs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	aws "github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/core/shapes"
)

// queryServices are the services whose operations a form names, by the version of their API.
var queryServices = map[string]string{"2016-11-15": "ec2", "2011-01-01": "autoscaling", "2011-06-15": "sts", "2010-05-08": "iam"}

// AWS returns the operations of AWS' services.
var AWS = once(func() (*Specification, error) {
	all, paths := map[string]*Operation{}, map[string]*Operation{}
	for name, service := range aws.Services {
		for id, o := range (types{}).operations(service()) {
			all[id] = o
			o.plain = name == "s3"
			if name == "eks" {
				paths[id] = o
			}
			if o.Method == "" {
				o.Method, o.Path = http.MethodPost, "/"
			}
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

// node is a parameter of a form, or what its parts are.
type node struct {
	value string
	parts map[string]*node
}

// parametersOf returns the parameters of a form by the parts of their names.
func parametersOf(form url.Values) *node {
	root := &node{parts: map[string]*node{}}
	for name := range form {
		if name == "Action" || name == "Version" {
			continue
		}
		at := root
		for part := range strings.SplitSeq(name, ".") {
			if at.parts[part] == nil {
				at.parts[part] = &node{parts: map[string]*node{}}
			}
			at = at.parts[part]
		}
		at.value = form.Get(name)
	}
	return root
}

// parameter returns a parameter as it would be in JSON. Lists may be below a name of their own: Tags.member.1.
func (t *types) parameter(n *node, kind string) any {
	element, isList := strings.CutPrefix(kind, "[]")
	number, err := strconv.ParseFloat(n.value, 64)
	switch {
	case isList:
		return t.list(n, element)
	case t.Types[kind] != nil:
		out := map[string]any{}
		for name, part := range n.parts {
			out[name] = t.parameter(part, shapes.Kind(t.Types[kind][name]))
		}
		return out
	case kind == "bool" && (n.value == "true" || n.value == "false"):
		return n.value == "true"
	case (kind == "int" || kind == "number") && err == nil:
		return number
	}
	return n.value
}

func (t *types) list(n *node, element string) []any {
	out := []any{}
	byNumber := func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(n.parts), byNumber) {
		if _, err := strconv.Atoi(name); err != nil {
			return t.list(n.parts[name], element)
		}
		out = append(out, t.parameter(n.parts[name], element))
	}
	return out
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

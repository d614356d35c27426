package wire

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
)

// The services, as the scope of a signature names them.
const (
	ServiceEC2         = "ec2"
	ServiceAutoScaling = "autoscaling"
	ServiceSSM         = "ssm"
	ServiceSTS         = "sts"
	ServiceIAM         = "iam"
	ServiceEKS         = "eks"
)

// Versions and namespaces are what the query protocols are published under.
var (
	APIVersions = map[string]string{ServiceEC2: "2016-11-15", ServiceAutoScaling: "2011-01-01", ServiceSTS: "2011-06-15",
		ServiceIAM: "2010-05-08"}
	xmlNamespaces = map[string]string{
		ServiceEC2:         "http://ec2.amazonaws.com/doc/2016-11-15/",
		ServiceAutoScaling: "http://autoscaling.amazonaws.com/doc/2011-01-01/",
		ServiceSTS:         "https://sts.amazonaws.com/doc/2011-06-15/",
		ServiceIAM:         "https://iam.amazonaws.com/doc/2010-05-08/",
	}
)

// protocol is the encoding of a service's requests and answers.
type protocol struct {
	// Kind is the content type of answers.
	Kind string
	// Read finds out what is asked: the action and the parameters that name what it is about.
	Read func(*Call) error
	// decode reads the parameters into a shape, encode writes one.
	decode func(x *Call, into any) error
	encode func(x *Call, out any) ([]byte, error)
	// refuse writes an error, and sets headers that belong to it.
	refuse func(x *Call, h http.Header, e *APIError) string
}

// The protocols of the services.
var (
	queryProtocol = protocol{"text/xml;charset=UTF-8", (*Call).readQuery, decodeQuery, (*Call).xml, queryErrorBody}
	ec2Protocol   = protocol{"text/xml;charset=UTF-8", (*Call).readQuery, decodeQuery, (*Call).xml, ec2Error}
	JSONProtocol  = protocol{"application/x-amz-json-1.1", readTarget, DecodeJSON, encodeJSON, jsonError}
	RESTProtocol  = protocol{"application/json", readREST, decodeREST, encodeJSON, restError}
)

// ProtocolOf is how a service speaks; one that is not known is refused in the words of the query protocol.
func ProtocolOf(service string) protocol {
	switch service {
	case ServiceEC2:
		return ec2Protocol
	case ServiceSSM:
		return JSONProtocol
	case ServiceEKS:
		return RESTProtocol
	case ServiceS3:
		return s3Protocol
	default:
		return queryProtocol
	}
}

// Decode reads the parameters into a shape.
func (x *Call) Decode(into any) error { return ProtocolOf(x.Service).decode(x, into) }

func (x *Call) readQuery() error {
	form := string(x.Body)
	if x.Request.Method == http.MethodGet {
		form = x.Request.URL.RawQuery
	}
	params, err := url.ParseQuery(form)
	if err != nil {
		return Refuse("MalformedQueryString", "The query string contains a syntax error")
	}
	x.Params, x.Action = params, params.Get("Action")
	if x.Action == "" {
		x.Action = "?"
		return Refuse("MissingAction", "The request is missing an action or a required parameter")
	}
	if v := params.Get("Version"); v != APIVersions[x.Service] {
		return UnknownAction(x.Service, x.Action, v)
	}
	return nil
}

func decodeQuery(x *Call, into any) error {
	return DecodeQuery(x.Params, into, x.Service == ServiceEC2)
}

func readTarget(x *Call) error {
	_, x.Action, _ = strings.Cut(x.Request.Header.Get("X-Amz-Target"), ".")
	return nil
}

// DecodeJSON reads a JSON body into a shape.
func DecodeJSON(x *Call, into any) error {
	if err := json.Unmarshal(x.Body, into); err != nil {
		return Refuse("SerializationException", "")
	}
	return nil
}

func encodeJSON(_ *Call, out any) ([]byte, error) { return json.Marshal(out) }

func readREST(x *Call) error {
	if !x.ReadRoute(x.Service) {
		return &APIError{Code: "UnknownOperationException", Message: "", Status: http.StatusNotFound}
	}
	// What is to be made is named in the body.
	var named struct{ Name, NodegroupName *string }
	if json.Unmarshal(x.Body, &named) == nil {
		for key, value := range map[string]*string{"name": named.Name, "nodegroupName": named.NodegroupName} {
			if value != nil && !x.Params.Has(key) {
				x.Params.Set(key, *value)
			}
		}
	}
	return nil
}

// ReadRoute finds the operation of a service by method and path, and takes the parameters from the path and behind it.
func (x *Call) ReadRoute(service string) bool {
	for id, o := range shapes.Services[service]().Operations {
		if values, ok := matchRoute(o.Method, o.Path, x.Request); ok {
			x.Action, x.Params = strings.TrimPrefix(id, service+"."), values
			return true
		}
	}
	return false
}

// matchRoute compares a request with a method and a path whose parts in braces are parameters.
func matchRoute(method, path string, r *http.Request) (url.Values, bool) {
	want, have := strings.Split(path, "/"), strings.Split(strings.TrimSuffix(r.URL.EscapedPath(), "/"), "/")
	if method != r.Method || len(want) != len(have) {
		return nil, false
	}
	values := r.URL.Query()
	for n, part := range want {
		text, err := url.PathUnescape(have[n])
		if err != nil {
			return nil, false
		}
		name, isParameter := strings.CutPrefix(part, "{")
		if !isParameter && part != text || isParameter && text == "" {
			return nil, false
		}
		if isParameter {
			values.Set(strings.TrimSuffix(name, "}"), text)
		}
	}
	return values, true
}

// decodeREST reads the body and what stands in the path and behind it into a shape.
func decodeREST(x *Call, into any) error {
	if len(x.Body) > 0 {
		if err := json.Unmarshal(x.Body, into); err != nil {
			return unreadable(err)
		}
	}
	bound := map[string]any{}
	for name, values := range x.Params {
		switch name {
		case "tagKeys":
			bound[name] = values
		case "maxResults":
			n, err := strconv.Atoi(values[0])
			if err != nil {
				return unreadable(err)
			}
			bound[name] = n
		default:
			bound[name] = values[0]
		}
	}
	b, err := json.Marshal(bound)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// ServiceS3 is how the scope of a signature names S3.
const ServiceS3 = "s3"

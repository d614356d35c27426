package aws

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/query"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// protocol is how a service's requests and answers are written.
type protocol struct {
	// kind is the content type of answers.
	kind string
	// read finds out what is asked: the action and the parameters that name what it is about.
	read func(*exchange) error
	// decode reads the parameters into a shape, encode writes one.
	decode func(x *exchange, into any) error
	encode func(x *exchange, out any) ([]byte, error)
	// refuse writes an error, and sets headers that belong to it.
	refuse func(x *exchange, h http.Header, e *apiError) string
}

var (
	queryProtocol = protocol{"text/xml;charset=UTF-8", (*exchange).readQuery, decodeQuery, (*exchange).xml, queryErrorBody}
	ec2Protocol   = protocol{"text/xml;charset=UTF-8", (*exchange).readQuery, decodeQuery, (*exchange).xml, ec2Error}
	jsonProtocol  = protocol{"application/x-amz-json-1.1", readTarget, decodeJSON, encodeJSON, jsonError}
	restProtocol  = protocol{"application/json", readREST, decodeREST, encodeJSON, restError}
)

// protocolOf is how a service speaks; one that is not known is refused in the words of the query protocol.
func protocolOf(service string) protocol {
	switch service {
	case serviceEC2:
		return ec2Protocol
	case serviceSSM:
		return jsonProtocol
	case serviceEKS:
		return restProtocol
	case serviceS3:
		return s3Protocol
	default:
		return queryProtocol
	}
}

// decode reads the parameters into a shape.
func (x *exchange) decode(into any) error { return protocolOf(x.service).decode(x, into) }

func (x *exchange) readQuery() error {
	form := string(x.body)
	if x.request.Method == http.MethodGet {
		form = x.request.URL.RawQuery
	}
	params, err := url.ParseQuery(form)
	if err != nil {
		return refuse("MalformedQueryString", "The query string contains a syntax error")
	}
	x.params, x.action = params, params.Get("Action")
	if x.action == "" {
		x.action = "?"
		return refuse("MissingAction", "The request is missing an action or a required parameter")
	}
	if v := params.Get("Version"); v != apiVersions[x.service] {
		return unknownAction(x.service, x.action, v)
	}
	return nil
}

func decodeQuery(x *exchange, into any) error {
	return query.Decode(x.params, into, x.service == serviceEC2, "Action", "Version")
}

func readTarget(x *exchange) error {
	_, x.action, _ = strings.Cut(x.request.Header.Get("X-Amz-Target"), ".")
	return nil
}

func decodeJSON(x *exchange, into any) error {
	if err := json.Unmarshal(x.body, into); err != nil {
		return refuse("SerializationException", "")
	}
	return nil
}

func encodeJSON(_ *exchange, out any) ([]byte, error) { return json.Marshal(out) }

// routes are the paths of the services that tell their operations apart by them.
var routes = map[string]map[string]string{serviceEKS: eks.Routes}

func readREST(x *exchange) error {
	if !x.readRoute(x.service) {
		return &apiError{Code: "UnknownOperationException", Message: "", Status: http.StatusNotFound}
	}
	// What is to be made is named in the body.
	var named struct{ Name, NodegroupName *string }
	if json.Unmarshal(x.body, &named) == nil {
		for key, value := range map[string]*string{"name": named.Name, "nodegroupName": named.NodegroupName} {
			if value != nil && !x.params.Has(key) {
				x.params.Set(key, *value)
			}
		}
	}
	return nil
}

// readRoute finds the operation of a service by method and path, and takes the parameters from the path and behind it.
func (x *exchange) readRoute(service string) bool {
	for action, route := range routes[service] {
		if values, ok := matchRoute(route, x.request); ok {
			x.action, x.params = action, values
			return true
		}
	}
	return false
}

// matchRoute compares a request with a route: a method and a path whose parts in braces are parameters.
func matchRoute(route string, r *http.Request) (url.Values, bool) {
	method, path, _ := strings.Cut(route, " ")
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
func decodeREST(x *exchange, into any) error {
	if len(x.body) > 0 {
		if err := json.Unmarshal(x.body, into); err != nil {
			return unreadable(err)
		}
	}
	bound := map[string]any{}
	for name, values := range x.params {
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

// unreadable is a body of which a field is not what it must be.
func unreadable(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return refuse("SerializationException", "%s: a value of another type is wanted", e.Field)
	}
	return refuse("SerializationException", "")
}

func unknownAction(service, action, version string) *apiError {
	switch service {
	case serviceEC2:
		return refuse("InvalidAction", "The action %s is not valid for this web service.", action)
	case serviceSSM:
		return refuse("UnknownOperationException", "")
	default:
		return refuse("InvalidAction", "Could not find operation %s for version %s", action, version)
	}
}

package core

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/muster-project/muster/sim"
)

// Call is one request of a client as an operation sees it.
type Call struct {
	Request *http.Request
	// Header is the answer's.
	Header http.Header
	Body   []byte
	Path   string
	// Vars are the parts of the path that the route names.
	Vars  map[string]string
	Query url.Values
}

// NewCall returns the call of a request that is answered to w.
func NewCall(w http.ResponseWriter, r *http.Request, body []byte) Call {
	return Call{Request: r, Header: w.Header(), Path: r.URL.Path, Query: r.URL.Query(), Body: body}
}

// Route is one operation of S, a service or the whole content of a cloud: the pattern of its requests, its name, and the function that
// answers a call X with an A.
type Route[S, X, A any] struct {
	Method, Pattern string
	// Service and Name identify the operation in the cloud's published specification.
	Service, Name string
	// Versions lists the API versions that have the operation; empty if the pattern contains the version.
	Versions []string
	// Permissions lists the permissions that the caller must have.
	Permissions []string
	// Bucket is the rate limit of the request, "" for none; BucketOf returns it if it depends on the state.
	Bucket   string
	BucketOf func(S, X) string
	Mutating bool
	// Exclusive is true for writes of which only one at a time is accepted for a resource.
	Exclusive bool
	Run       func(S, X) (A, error)
}

// Asked returns what a request for the operation on a resource asks for.
func (r *Route[S, X, A]) Asked(resource string) sim.Request {
	return sim.Request{Service: r.Service, Action: r.Name, Resource: resource, Mutating: r.Mutating}
}

// RoutesOf returns the routes of a part as those of the whole that holds it.
func RoutesOf[S, P, X, A any](part func(S) P, routes []Route[P, X, A]) []Route[S, X, A] {
	out := make([]Route[S, X, A], len(routes))
	for i, r := range routes {
		out[i] = Route[S, X, A]{
			Method: r.Method, Pattern: r.Pattern, Service: r.Service, Name: r.Name, Versions: r.Versions, Permissions: r.Permissions,
			Bucket: r.Bucket, Mutating: r.Mutating, Exclusive: r.Exclusive, Run: Via(part, r.Run),
		}
		if r.BucketOf != nil {
			out[i].BucketOf = func(s S, x X) string { return r.BucketOf(part(s), x) }
		}
	}
	return out
}

// Via returns an operation of a part as one of the whole that holds it.
func Via[S, P, X, A any](part func(S) P, f func(P, X) (A, error)) func(S, X) (A, error) {
	return func(s S, x X) (A, error) { return f(part(s), x) }
}

// Find returns the route of a request and what matches returns of its path, nil for a request that no route answers. known is true if one
// answers the path with another method.
func Find[S, X, A any](routes []Route[S, X, A], method, path string,
	matches func(pattern, path string) (vars map[string]string, ok bool),
) (route *Route[S, X, A], vars map[string]string, known bool) {
	for i := range routes {
		if vars, ok := matches(routes[i].Pattern, path); ok {
			if routes[i].Method == method {
				return &routes[i], vars, true
			}
			known = true
		}
	}
	return nil, nil, known
}

// MatchPath reports whether a path fits a pattern such as /v1/clusters/{cluster}, and returns the parts that the pattern names.
func MatchPath(pattern, path string) (vars map[string]string, ok bool) {
	want, is := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(is) {
		return nil, false
	}
	vars = map[string]string{}
	for i, part := range want {
		if name, variable := strings.CutPrefix(part, "{"); variable {
			vars[strings.TrimSuffix(name, "}")] = is[i]
		} else if part != is[i] {
			return nil, false
		}
	}
	return vars, true
}

// Known returns the names of routes and zones, for the rules of faults to match.
func Known[S, X, A any](routes []Route[S, X, A], zones []string) sim.Known {
	out := sim.Known{Actions: map[string][]string{}, Zones: zones}
	for _, r := range routes {
		out.Actions[r.Service] = append(out.Actions[r.Service], r.Name)
	}
	return out
}

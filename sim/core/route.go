package core

import (
	"net/http"
	"net/url"

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

// Route is one operation of S, a service or all that a cloud holds: how it is requested by a call X, what it is called, and what answers it
// with an A.
type Route[S, X, A any] struct {
	Method, Pattern string
	// Service and Name are the operation's in the cloud's published specification.
	Service, Name string
	// Versions are those of the API that have the operation; none where the pattern says it.
	Versions []string
	// Permissions are what the caller must be allowed to do.
	Permissions []string
	// Bucket is the limit that the request counts against, "" for none; BucketOf returns it where it depends on what exists.
	Bucket   string
	BucketOf func(S, X) string
	Mutating bool
	// Exclusive is true for writes of which one on the same resource is accepted at a time.
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

// Known returns the names of routes and zones, for the rules of faults to match.
func Known[S, X, A any](routes []Route[S, X, A], zones []string) sim.Known {
	out := sim.Known{Actions: map[string][]string{}, Zones: zones}
	for _, r := range routes {
		out.Actions[r.Service] = append(out.Actions[r.Service], r.Name)
	}
	return out
}

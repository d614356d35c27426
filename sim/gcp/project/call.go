package project

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/document"
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
	// User is the account that sent the request.
	User string
}

// Answer is what an operation replies.
type Answer struct {
	Status int
	Body   any
	// Until is set where the answer is due later: the request is answered anew at this time.
	Until time.Time
}

// OK returns an answer with a body and status 200.
func OK(body any) *Answer { return &Answer{Status: http.StatusOK, Body: body} }

// Document returns the body of the request as an object.
func (x *Call) Document() (document.Object, error) {
	d := document.Object{}
	if len(x.Body) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(x.Body, &d); err != nil {
		return nil, &Error{Status: http.StatusBadRequest, Reason: "parseError", Message: "Parse Error", State: "INVALID_ARGUMENT"}
	}
	return d, nil
}

// Route is one operation of S, a service or all of them: how it is requested, what it is called, and what answers it.
type Route[S any] struct {
	Method, Pattern string
	// Service and Name are the operation's in Google's API description: compute and instanceGroupManagers.insert.
	Service, Name string
	// Permissions are what the caller must be allowed to do on the resource of the path.
	Permissions []string
	Mutating    bool
	// Bucket is the quota that the request counts against, "" for none.
	Bucket string
	Run    func(S, *Call) (*Answer, error)
}

// RoutesOf returns the routes of a part as those of the whole that holds it.
func RoutesOf[S, P any](part func(S) P, routes []Route[P]) []Route[S] {
	out := make([]Route[S], len(routes))
	for i, r := range routes {
		out[i] = Route[S]{
			Method: r.Method, Pattern: r.Pattern, Service: r.Service, Name: r.Name, Permissions: r.Permissions, Mutating: r.Mutating,
			Bucket: r.Bucket,
			Run:    func(s S, x *Call) (*Answer, error) { return r.Run(part(s), x) },
		}
	}
	return out
}

// Via returns an operation of a part as one of the whole that holds it.
func Via[S, P any](part func(S) P, f func(P, *Call) (*Answer, error)) func(S, *Call) (*Answer, error) {
	return func(s S, x *Call) (*Answer, error) { return f(part(s), x) }
}

// Versions are the versions of Compute Engine's API that are served.
var Versions = []string{"v1", "beta"}

// Matches compares a path with the route's pattern and returns the parts that stand for those in braces. A part in braces may be followed
// by a verb, as in {pool}:setSize; one without a verb stands for no part that has one. {version} stands for one of Versions.
func (r *Route[S]) Matches(path string) (map[string]string, bool) {
	want, have := strings.Split(strings.Trim(r.Pattern, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
	if len(want) != len(have) {
		return nil, false
	}
	vars := map[string]string{}
	for i, part := range want {
		name, isVar := strings.CutPrefix(part, "{")
		if !isVar {
			if part != have[i] {
				return nil, false
			}
			continue
		}
		name, verb, _ := strings.Cut(name, "}")
		value, asked := cutVerb(have[i])
		if value == "" || verb != asked || name == "version" && !slices.Contains(Versions, value) {
			return nil, false
		}
		vars[name] = value
	}
	return vars, true
}

// cutVerb splits a part of a path at its verb, which begins with a colon.
func cutVerb(part string) (value, verb string) {
	if at := strings.IndexByte(part, ':'); at >= 0 {
		return part[:at], part[at:]
	}
	return part, ""
}

package project

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// Call is one request of a client as an operation sees it.
type Call struct {
	core.Call
	// User is the account that sent the request.
	User string
}

// Answer is the reply of an operation.
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

// Route is one operation of S, a service or all of them.
type Route[S any] = core.Route[S, *Call, *Answer]

// Versions are the versions of Compute Engine's API that are served.
var Versions = []string{"v1", "beta"}

// Matches compares a path with a route's pattern and returns the parts that stand for those in braces. A part in braces may be followed
// by a verb, as in {pool}:setSize; one without a verb stands for no part that has one. {version} stands for one of Versions.
func Matches(pattern, path string) (map[string]string, bool) {
	want, have := strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
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
		value, requested := cutVerb(have[i])
		if value == "" || verb != requested || name == "version" && !slices.Contains(Versions, value) {
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

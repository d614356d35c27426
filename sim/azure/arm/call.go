package arm

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// Call is one request of a client as an operation sees it.
type Call struct{ core.Call }

// Answer is the reply of an operation.
type Answer struct {
	Status int
	Body   any
	// Op is the long-running operation that was started, nil for none.
	Op *Operation
	// After is the value of the Retry-After header; zero sends none.
	After time.Duration
}

// OK returns an answer with a body and status 200.
func OK(body any) *Answer { return &Answer{Status: http.StatusOK, Body: body} }

// Route is one operation of S, a resource provider or all of them.
type Route[S any] = core.Route[S, *Call, *Answer]

// Matches compares a path with a route's pattern, whatever its case. It returns the parts of the path that stand for those in braces,
// and under "scope" what a leading asterisk stands for.
func Matches(pattern, path string) (map[string]string, bool) {
	pattern, open := strings.CutPrefix(pattern, "*")
	want, have := strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
	vars := map[string]string{}
	if open {
		if len(have) <= len(want) {
			return nil, false
		}
		split := len(have) - len(want)
		vars["scope"] = "/" + strings.Join(have[:split], "/")
		have = have[split:]
	}
	if len(want) != len(have) {
		return nil, false
	}
	for i, part := range want {
		name, isVar := strings.CutPrefix(part, "{")
		switch {
		case isVar && have[i] != "":
			vars[strings.TrimSuffix(name, "}")] = have[i]
		case !strings.EqualFold(part, have[i]):
			return nil, false
		}
	}
	return vars, true
}

// Base returns the address at which the client has reached the simulator: that of the proxy before it, where one names itself.
func (x *Call) Base() string {
	scheme := "http"
	if x.Request.TLS != nil || x.Request.URL.Scheme == "https" {
		scheme = "https"
	}
	return cmp.Or(x.forwarded("X-Forwarded-Proto"), scheme) + "://" + cmp.Or(x.forwarded("X-Forwarded-Host"), x.Request.Host)
}

// forwarded returns the first value of a header that proxies append to, "" where it names no scheme or host.
func (x *Call) forwarded(header string) string {
	first, _, _ := strings.Cut(x.Request.Header.Get(header), ",")
	first = strings.TrimSpace(first)
	if strings.ContainsAny(first, " /?#@\\") {
		return ""
	}
	return first
}

// ETag returns the version of a resource as it is shown.
func ETag(version int64) string { return fmt.Sprintf("\"%d\"", version) }

// Conditions holds the request's conditions against the current ETag, "" for a resource that does not exist.
func (x *Call) Conditions(current string) error {
	if x.Request.Header.Get("If-None-Match") == "*" && current != "" {
		return x.Unmet("If-None-Match", current)
	}
	want := x.Request.Header.Get("If-Match")
	if want == "" || current != "" && (want == "*" || want == current) {
		return nil
	}
	return x.Unmet("If-Match", current)
}

// Unmet returns the error for a condition that does not hold.
func (x *Call) Unmet(header, current string) *Error {
	return Refuse(http.StatusPreconditionFailed, "PreconditionFailed",
		"Precondition failed. The condition '%s' of the request is '%s', the current etag is '%s'.", header, x.Request.Header.Get(header),
		cmp.Or(current, "null"))
}

// listPage is the largest page of a list.
const listPage = 100

// Paged returns one page of a list, with where the next one is. The list is in no order of its resources' IDs.
func (w *Core) Paged(x *Call, all []any) (*Answer, error) {
	size := listPage
	if w.PageLimit > 0 {
		size = min(size, w.PageLimit)
	}
	token := x.Query.Get("$skiptoken")
	page, next, err := core.Page(core.List[any]{Items: all, Key: idOf, Reversed: w.Switches.On(core.ReversesLists)}, token, size)
	if err != nil {
		return nil, BadRequest("The $skiptoken '%s' is not valid.", token)
	}
	d := document.Object{"value": append([]any{}, page...)}
	if next != "" {
		query := maps.Clone(x.Query)
		query.Set("$skiptoken", next)
		d["nextLink"] = x.Base() + x.Request.URL.EscapedPath() + "?" + query.Encode()
	}
	return OK(d), nil
}

// idOf returns the ID of an item of a list, "" where it has none.
func idOf(item any) string {
	d, _ := item.(document.Object)
	id, _ := d["id"].(string)
	return id
}

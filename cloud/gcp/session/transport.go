package session

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

const (
	// serviceLogin is the service name of requests for tokens in metrics.
	serviceLogin = "login"
	opToken      = serviceLogin + ":GetToken"
	// headerCall carries the name of a call from the transport to the reader of its error. It is never sent.
	headerCall = "X-Muster-Call"
	// headerQuota names the project whose quota a request counts against.
	headerQuota = "X-Goog-User-Project"
	// maxBody bounds how much of a refusal is read.
	maxBody = 1 << 20
)

// sender hands the requests of one session to the transport, each with its name and a token.
type sender struct {
	to     *wire.Transport
	tokens *tokens
	// hosts of the services: a token for them goes nowhere else.
	hosts []string
	now   func() time.Time
}

// unanswered is an error of a call that got no reply.
type unanswered struct {
	err  error
	call wire.Call
}

// Error is the text of the error within.
func (u *unanswered) Error() string { return u.err.Error() }

// Unwrap gives the error within.
func (u *unanswered) Unwrap() error { return u.err }

// RoundTrip sends one request. A redirect that leads elsewhere gets no token.
func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	call, sent := callOf(req), s.now()
	reply, err := s.send(req, call)
	if err != nil {
		wire.CloseBody(req)
		return nil, &unanswered{err: err, call: call}
	}
	switch reply.StatusCode {
	case http.StatusUnauthorized:
		s.tokens.refused()
	case http.StatusForbidden:
		if throttles(reply) {
			s.to.Throttled(call, reply.StatusCode, sent)
		}
	}
	reply.Header.Set(headerCall, call.String())
	return reply, nil
}

// astray is the error of a request that leads to no service of Google's.
func astray(req *http.Request) error {
	return &refusal.Astray{Host: req.URL.Host, Not: "no service of Google's"}
}

func (s *sender) send(req *http.Request, call wire.Call) (*http.Response, error) {
	if !slices.Contains(s.hosts, strings.ToLower(req.URL.Host)) {
		return nil, astray(req)
	}
	token, err := s.tokens.token()
	if err != nil {
		return nil, err
	}
	sent := req.Clone(wire.WithCall(req.Context(), call))
	token.SetAuthHeader(sent)
	if s.tokens.quota != "" {
		sent.Header.Set(headerQuota, s.tokens.quota)
	}
	return s.to.RoundTrip(sent)
}

// throttles reports whether a refusal is one of too many requests, which Compute Engine answers with the status of a missing permission.
func throttles(reply *http.Response) bool {
	body, err := io.ReadAll(io.LimitReader(reply.Body, maxBody))
	_ = reply.Body.Close()
	reply.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return false
	}
	is := readReply(body)
	return kindOf(is, reply.StatusCode) == cloud.Throttled
}

// callOf names a request as Google does: "compute:instanceGroupManagers.resize".
func callOf(req *http.Request) wire.Call {
	path := req.URL.Path
	if at := strings.Index(path, computePath); at >= 0 {
		return computeCall(req.Method, strings.Split(strings.Trim(path[at+len(computePath):], "/"), "/"))
	}
	_, rest, _ := strings.Cut(path, "/v1/")
	return containerCall(req.Method, strings.Split(strings.Trim(rest, "/"), "/"))
}

// computeCall names a request to Compute Engine: projects/P/zones/Z/instanceGroupManagers/NAME/resize.
func computeCall(method string, parts []string) wire.Call {
	call := wire.Call{Service: "compute", Operation: "projects." + verb(method, true), ReadOnly: method == http.MethodGet, Region: global}
	if len(parts) > 1 {
		call.Account = parts[1]
	}
	if len(parts) < 3 {
		return call
	}
	scope, rest := parts[2], parts[3:]
	switch scope {
	case "aggregated":
		call.Operation = strings.Join(rest, ".") + ".aggregatedList"
		return call
	case "zones", "regions":
		if len(rest) == 0 {
			call.Operation = scope + ".list"
			return call
		}
		call.Region = RegionOf(rest[0])
		if len(rest) == 1 {
			call.Operation = scope + ".get"
			return call
		}
		rest = rest[1:]
	}
	call.Operation = computeOperation(method, scope, rest)
	call.ReadOnly = call.ReadOnly || isRead(call.Operation)
	return call
}

// computeOperation names what a request does to a collection: the name of the collection, that of one of its resources, and a verb.
func computeOperation(method, scope string, rest []string) string {
	collection := collectionName(scope, rest[0])
	switch {
	case rest[0] == "images" && len(rest) == 3 && rest[1] == "family":
		return "images.getFromFamily"
	case len(rest) > 2:
		return collection + "." + rest[2]
	}
	return collection + "." + verb(method, len(rest) == 2)
}

// collectionName returns the name of a collection among those of other scopes.
func collectionName(scope, collection string) string {
	switch {
	case collection == "operations":
		return strings.TrimSuffix(scope, "s") + "Operations"
	case scope == "regions" && (strings.HasPrefix(collection, "instance")):
		return "region" + strings.ToUpper(collection[:1]) + collection[1:]
	}
	return collection
}

// isRead reports whether an operation changes nothing, although it is a POST.
func isRead(operation string) bool {
	_, verb, _ := strings.Cut(operation, ".")
	return strings.HasPrefix(verb, "get") || strings.HasPrefix(verb, "list")
}

func verb(method string, named bool) string {
	switch {
	case method == http.MethodGet && named:
		return "get"
	case method == http.MethodGet:
		return "list"
	case method == http.MethodPost:
		return "insert"
	}
	return strings.ToLower(method)
}

// containerCall names a request to GKE: projects/P/locations/L/clusters/C/nodePools/N:setSize.
func containerCall(method string, parts []string) wire.Call {
	call := wire.Call{Service: "container", ReadOnly: method == http.MethodGet, Region: global}
	if len(parts) > 1 {
		call.Account = parts[1]
	}
	var collections []string
	for at := 0; at < len(parts); at += 2 {
		collections = append(collections, parts[at])
	}
	last, own, ok := strings.Cut(parts[len(parts)-1], ":")
	switch {
	case ok:
		parts[len(parts)-1] = last
	case last == "serverConfig":
		collections, own = collections[:len(collections)-1], "getServerConfig"
	case method == http.MethodPost:
		own = "create"
	case method == http.MethodPut:
		own = "update"
	default:
		own = verb(method, len(parts)%2 == 0)
	}
	call.Operation = strings.Join(append(collections, own), ".")
	return call
}

package azure

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/server"
)

// bodyLimit bounds a request. The largest that Azure takes here is a scale set with 64 KiB of custom data.
const bodyLimit = 4 << 20

// exchange is one request and its answer.
type exchange struct {
	server.Trace
	cloud   *Cloud
	request *http.Request
	header  http.Header
	body    []byte
	route   *route
	path    string
	vars    map[string]string
	query   url.Values
	caller  *caller
}

// answer is what an operation replies.
type answer struct {
	status int
	body   any
	// op is the operation that was begun, nil for none.
	op *operation
}

func ok(body any) *answer { return &answer{status: http.StatusOK, body: body} }

// ServeHTTP answers a request of an Azure client, or of the simulator's owner below sim.AdminPath.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, sim.AdminPath) {
		c.admin.ServeHTTP(w, r)
		return
	}
	x := &exchange{cloud: c, request: r, header: w.Header(), Trace: server.Begin(&c.calls), path: r.URL.Path, query: r.URL.Query()}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		http.Error(w, "request too large or broken", http.StatusRequestEntityTooLarge)
		return
	}
	x.body = body
	if t := (tokenRequest{x}); t.isToken() {
		t.serveToken(w)
		return
	}
	out, drop, err := x.answer()
	code := ""
	switch {
	case drop:
		sim.Drop(w)
		code = "ConnectionDropped"
	case err != nil:
		e := toAPI(err)
		code = e.Code
		x.writeError(w, e)
	default:
		x.write(w, out)
	}
	x.log(code)
}

// log notes the call.
func (x *exchange) log(code string) {
	call := sim.Call{Service: "arm", Action: "?", Resource: x.path, Code: code}
	if x.route != nil {
		call.Service, call.Action, call.Mutating, call.Resource = x.route.service, x.route.name, x.route.mutating, x.subject()
	}
	x.Log(&x.cloud.calls, call)
}

// subject is the name of what the request is about.
func (x *exchange) subject() string {
	for _, name := range []string{"set", "vm", "name", "op"} {
		if v := x.vars[name]; v != "" {
			return v
		}
	}
	return x.vars["rg"]
}

// answer does what was asked, with the faults in force. drop is set when the client shall see no answer.
func (x *exchange) answer() (out *answer, drop bool, err error) {
	route, vars, unknown := find(x.request.Method, x.path, x.query.Get("api-version"))
	x.route, x.vars = route, vars
	if err := x.authenticate(); err != nil {
		return nil, false, err
	}
	if unknown != nil {
		return nil, false, unknown
	}
	if err := x.checkVersion(); err != nil {
		return nil, false, err
	}
	leave, err := x.alone()
	if err != nil {
		return nil, false, err
	}
	defer leave()
	faults := x.cloud.faults.ForRequest(sim.Request{Service: route.service, Action: route.name, Resource: x.subject(), Mutating: route.mutating, Has: x.says})
	if drop, err := x.Before(x.request.Context(), faults, x.throttledBy, x.played); drop || err != nil {
		return nil, drop, err
	}
	if err := x.throttle(); err != nil {
		return nil, false, err
	}
	out, err = x.perform(faults)
	if drop, failed := server.After(faults, x.played); drop || failed != nil {
		return nil, drop, failed
	}
	return out, false, err
}

// checkVersion holds the version that was asked for against those that are spoken.
func (x *exchange) checkVersion() error {
	version := x.query.Get("api-version")
	if version == "" {
		return refuse(http.StatusBadRequest, "MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required for all requests.")
	}
	if slices.Contains(x.route.versions, version) {
		return nil
	}
	return x.unknownVersion(version)
}

// unknownVersion refuses a version: as Resource Manager does for what it answers itself, or for the types of a provider within a group,
// whose location it knows, and elsewhere.
func (x *exchange) unknownVersion(version string) *apiError {
	spoken := strings.Join(x.route.versions, ", ")
	asked := typeAsked(x.path)
	switch {
	case x.route.service == "resources":
		return refuse(http.StatusBadRequest, "InvalidApiVersionParameter", "The api-version '%s' is invalid. The supported versions are '%s'.", version, spoken)
	case x.vars["rg"] != "":
		return refuse(http.StatusBadRequest, "NoRegisteredProviderFound", "No registered resource provider found for location '%s' and API version '%s' for type '%s'. "+
			"The supported api-versions are '%s'. The supported locations are '%s'.", Location, version, asked.kind, spoken, strings.Join(locationNames(), ", "))
	}
	return refuse(http.StatusNotFound, "InvalidResourceType", "The resource type '%s' could not be found in the namespace '%s' for api version '%s'. "+
		"The supported api-versions are '%s'.", asked.kind, asked.namespace, version, spoken)
}

// alone lets a write of a scale set's model or capacity in, unless another one of the same scale set has not been answered yet: such
// writes may overlap once they were accepted, and conflict while they are being accepted. leave is to be called after the answer.
func (x *exchange) alone() (leave func(), err error) {
	if !x.route.exclusive {
		return func() {}, nil
	}
	key := setKey(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if _, busy := x.cloud.writing.LoadOrStore(key, true); busy {
		return nil, refuse(http.StatusConflict, "ConflictingConcurrentWriteNotAllowed",
			"The operation was interrupted by a conflicting concurrent write on the same entity. Please retry later.")
	}
	return func() { x.cloud.writing.Delete(key) }, nil
}

// perform runs the operation on what the cloud holds, or held where a fault makes the read a stale one.
func (x *exchange) perform(faults []sim.Fault) (*answer, error) {
	c := x.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, refuse(http.StatusServiceUnavailable, "ServiceUnavailable", "The service is shutting down.")
	}
	now := time.Now()
	if err := c.settle(now, false); err != nil {
		return nil, err
	}
	w := c.inventory
	w.now = now
	if err := x.admit(w); err != nil {
		return nil, err
	}
	if x.route.mutating {
		w.touched = true
		out, err := x.carryOut(w, faults)
		if err := c.settle(now, true); err != nil {
			return nil, err
		}
		return out, err
	}
	if f, found := server.FaultOf(faults, sim.Stale); found {
		old, err := c.asOf(now.Add(-time.Duration(f.Delay)), f.Writes)
		if err != nil {
			return nil, err
		}
		w = old
	}
	f, _ := server.FaultOf(faults, sim.PageLimit)
	w.pageLimit = f.Limit
	return x.route.run(w, x)
}

// admit checks that the subscription and the group are there, and that the caller may do what is asked.
func (x *exchange) admit(w *inventory) error {
	sub := x.vars["sub"]
	if sub == "" {
		if parts := strings.Split(strings.Trim(x.vars["scope"], "/"), "/"); len(parts) > 1 && strings.EqualFold(parts[0], "subscriptions") {
			sub = parts[1]
		}
	}
	if sub != "" && x.cloud.subscription(sub) == nil {
		return refuse(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", sub)
	}
	if err := x.authorize(w, sub); err != nil {
		return err
	}
	if group := x.vars["rg"]; group != "" && !w.environment.hasGroup(sub, group) {
		return refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", group)
	}
	return nil
}

// throttledBy is the refusal of a fault that throttles.
func (x *exchange) throttledBy(f sim.Fault) error {
	return x.throttled(cmp.Or(x.route.bucket, updateSet)+"Resource", sim.Rate{}, time.Duration(f.Delay))
}

// played is a fault's error, by default the service's own for an internal failure.
func (x *exchange) played(f sim.Fault) error {
	e := toAPI(errors.New("played"))
	if f.Code != "" {
		e.Code, e.Message, e.Status = f.Code, f.Message, http.StatusBadRequest
	}
	if f.Message != "" {
		e.Message = f.Message
	}
	if f.Status != 0 {
		e.Status = f.Status
	}
	return e
}

// write sends an answer.
func (x *exchange) write(w http.ResponseWriter, a *answer) {
	if a.op != nil {
		x.address(w.Header(), a)
	}
	x.identify(w.Header())
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	b, err := json.Marshal(a.body)
	if err != nil {
		x.writeError(w, toAPI(err))
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if d, isDocument := a.body.(document); isDocument && text(d, "etag") != "" {
		w.Header().Set("ETag", text(d, "etag"))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(b) // the client went away
}

// address says where the operation that was begun can be looked at.
func (x *exchange) address(h http.Header, a *answer) {
	url := x.base() + "/subscriptions/" + x.vars["sub"] + "/providers/Microsoft.Compute/locations/" + a.op.Location + "/operations/" + a.op.ID +
		"?p=" + a.op.ID + "&api-version=" + x.query.Get("api-version")
	h.Set("Azure-AsyncOperation", url)
	if a.status == http.StatusAccepted {
		h.Set("Location", url+"&monitor=true")
	}
	h.Set("Retry-After", "10")
}

// base is the address at which the client has reached the simulator: that of the proxy before it, where one names itself.
func (x *exchange) base() string {
	scheme := "http"
	if x.request.TLS != nil || x.request.URL.Scheme == "https" {
		scheme = "https"
	}
	return cmp.Or(x.forwarded("X-Forwarded-Proto"), scheme) + "://" + cmp.Or(x.forwarded("X-Forwarded-Host"), x.request.Host)
}

// forwarded is the first value of a header that proxies append to, "" where it names no scheme or host.
func (x *exchange) forwarded(header string) string {
	first, _, _ := strings.Cut(x.request.Header.Get(header), ",")
	first = strings.TrimSpace(first)
	if strings.ContainsAny(first, " /?#@\\") {
		return ""
	}
	return first
}

// identify puts the headers on an answer by which requests are told apart.
func (x *exchange) identify(h http.Header) {
	h.Set("x-ms-request-id", x.cloud.seed.UUID("request", x.Seq))
	h.Set("x-ms-correlation-request-id", x.cloud.seed.UUID("correlation", x.Seq))
	if id := x.request.Header.Get("x-ms-client-request-id"); id != "" {
		h.Set("x-ms-client-request-id", id)
	}
}

func (x *exchange) writeError(w http.ResponseWriter, e *apiError) {
	x.identify(w.Header())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("x-ms-error-code", e.Code)
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer authorization_uri="`+x.base()+`/`+TenantID+`", error="invalid_token", error_description="`+e.Message+`"`)
	}
	w.WriteHeader(e.Status)
	b, err := json.Marshal(e.body())
	if err == nil {
		_, _ = w.Write(b) // the client went away
	}
}

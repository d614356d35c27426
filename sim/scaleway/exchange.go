package scaleway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

// Service is the name of the service in calls and faults.
const Service = "k8s"

// Key is an API key.
type Key struct {
	AccessKey, SecretKey string
	// Permissions are the permission sets of the policy that the key has; nil is all of them.
	Permissions []string
	// Expired keys are refused.
	Expired bool
}

// The permission sets of Kubernetes.
const (
	ReadOnly     = "KubernetesReadOnly"
	FullAccess   = "KubernetesFullAccess"
	RegisterNode = "KubernetesExternalNodeRegister"
)

// exchange is one request with its answer.
type exchange struct {
	core.Trace
	core.Call
	cloud *Cloud
	route *route
	// region is the one of the path.
	region string
	// total is the number of items that the header of the reply tells; zero leaves it out.
	total int
}

// ServeHTTP answers a request.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := core.Receive(c.Base, w, r)
	if !ok {
		return
	}
	x := &exchange{cloud: c, Trace: core.Begin(c.Base), Call: core.NewCall(w, r, body)}
	x.Asked = sim.Request{Service: Service, Action: "?", Resource: x.Path}
	if x.route, x.Vars, _ = core.Find(routes, r.Method, x.Path, core.MatchPath); x.route == nil {
		x.reply(w, nil, refuse(http.StatusNotFound, "unknown_resource", "path is not found", nil))
		return
	}
	x.region = x.Vars["region"]
	x.Asked = x.route.Asked(cmp.Or(x.Vars["node_id"], x.Vars["pool_id"], x.Vars["cluster_id"]))
	out, drop, err := core.Answer(r.Context(), c.Cloud, &x.Trace, x, core.Operation[*region, any]{
		Fields: core.JSON{Text: &x.Body}, Admit: x.admit, Run: func(w *region) (any, error) { return x.route.Run(w, x) },
	})
	if drop {
		sim.Drop(w)
		x.Log("dropped")
		return
	}
	x.reply(w, out, err)
}

// reply writes the answer and logs the call.
func (x *exchange) reply(w http.ResponseWriter, out any, err error) {
	status, code := http.StatusOK, ""
	if err != nil {
		e := toError(err)
		status, code, out = e.Status, e.Type, e.body()
		if e.More != nil && status != http.StatusNotFound && x.cloud.options.Switches.On(PlainStatuses) {
			status = http.StatusBadRequest
		}
		if e.After > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(e.After.Seconds())))
		}
	}
	if x.total > 0 {
		w.Header().Set("X-Total-Count", strconv.Itoa(x.total))
	}
	x.Log(code)
	if code == ProxyPage {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html><body><h1>"+http.StatusText(status)+"</h1></body></html>\n") // the client may have gone
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the client may have gone
}

// admit checks the key and the region.
func (x *exchange) admit(*region) error {
	if err := x.authenticate(); err != nil {
		return err
	}
	if x.route.Service == Service && !slices.Contains(regions, x.region) {
		return invalid("region", "constraint", fmt.Sprintf("%q is none of %q", x.region, regions))
	}
	return nil
}

// authenticate finds the key of the request and holds the request against its permissions.
func (x *exchange) authenticate() error {
	token := x.Request.Header.Get("X-Auth-Token")
	if token == "" {
		return deniedAuthentication("invalid_argument")
	}
	keys := x.cloud.options.Keys
	if keys == nil {
		return nil
	}
	at := slices.IndexFunc(keys, func(k Key) bool { return k.SecretKey == token })
	switch {
	case at < 0:
		return deniedAuthentication("not_found")
	case keys[at].Expired:
		return deniedAuthentication("expired")
	case keys[at].Permissions == nil:
		return nil
	}
	has := func(set string) bool { return slices.Contains(keys[at].Permissions, set) }
	needed := x.route.Permissions
	granted := slices.ContainsFunc(needed, has)
	x.cloud.asked[granted][needed[0]]++
	if !granted {
		action := "read"
		if x.route.Mutating {
			action = "write"
		}
		return permissionsDenied("kubernetes", action)
	}
	return nil
}

// Throttle counts the request. The service publishes no limits.
func (*exchange) Throttle() error { return nil }

// Throttled returns the refusal of a request beyond a limit.
func (*exchange) Throttled(f sim.Fault) error {
	e := refuse(http.StatusTooManyRequests, "too_many_requests", "too many requests", nil)
	e.After = time.Duration(f.Delay)
	return e
}

// Failed returns the error of a fault.
func (*exchange) Failed(f sim.Fault) error {
	e := toError(errors.New("fault"))
	e.Type, e.Message, e.Status = core.Worded(f, e.Type, e.Message, e.Status)
	e.More = more(e.Type)
	return e
}

// decode reads the body of a request.
func (x *exchange) decode(into any) error {
	if len(x.Body) == 0 {
		return nil
	}
	body := json.NewDecoder(bytes.NewReader(x.Body))
	if _, pool := into.(*poolBody); pool && x.cloud.options.Switches.On(RefusesUnknown) {
		body.DisallowUnknownFields()
	}
	err := body.Decode(into)
	var kind *json.UnmarshalTypeError
	switch {
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		return invalid("body", "unknown", err.Error())
	case errors.As(err, &kind):
		return invalid(kind.Field, "format", "a value of another type is expected")
	case err != nil:
		return invalid("body", "format", "the body is no JSON")
	}
	return nil
}

package azure

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// bodyLimit bounds a request. The largest that Azure takes here is a scale set with 64 KiB of custom data.
const bodyLimit = 4 << 20

// exchange is one request and its answer.
type exchange struct {
	core.Trace
	arm.Call
	cloud  *Cloud
	route  *route
	caller *caller
}

// ServeHTTP answers a request of an Azure client, or of the simulator's owner below sim.AdminPath.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := core.Receive(c.Base, w, r)
	if !ok {
		return
	}
	x := &exchange{cloud: c, Trace: core.Begin(c.Base), Call: arm.Call{Call: core.NewCall(w, r, body)}}
	x.Asked = sim.Request{Service: "arm", Action: "?", Resource: x.Path}
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
		e := arm.ToError(err)
		code = e.Code
		x.writeError(w, e)
	default:
		x.write(w, out)
	}
	x.Log(code)
}

// subject is the name of what the request is about.
func (x *exchange) subject() string {
	for _, name := range []string{"set", "vm", "pool", "cluster", "name", "op"} {
		if v := x.Vars[name]; v != "" {
			return v
		}
	}
	return x.Vars["rg"]
}

// answer does what was asked, with the faults in force. drop is set when the client shall see no answer.
func (x *exchange) answer() (out *arm.Answer, drop bool, err error) {
	route, vars, unknown := find(x.Request.Method, x.Path, x.Query.Get("api-version"))
	x.route, x.Vars = route, vars
	if route != nil {
		x.Asked = route.Asked(x.subject())
	}
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
	return core.Answer(x.Request.Context(), x.cloud.Cloud, &x.Trace, x, core.Operation[*inventory, *arm.Answer]{
		Fields: core.JSON{Text: &x.Body}, Admit: x.admit, Whole: x.creates, Idle: x.idly,
		Run: func(w *inventory) (*arm.Answer, error) { return route.Run(w, &x.Call) },
	})
}

// checkVersion holds the version that was asked for against those that are spoken.
func (x *exchange) checkVersion() error {
	version := x.Query.Get("api-version")
	if version == "" {
		return arm.Refuse(http.StatusBadRequest, "MissingApiVersionParameter",
			"The api-version query parameter (?api-version=) is required for all requests.")
	}
	if slices.Contains(x.route.Versions, version) {
		return nil
	}
	return x.unknownVersion(version)
}

// unknownVersion refuses a version: as Resource Manager does for what it answers itself, or for the types of a provider within a group,
// whose location it knows, and elsewhere.
func (x *exchange) unknownVersion(version string) *arm.Error {
	spoken := strings.Join(x.route.Versions, ", ")
	asked := typeAsked(x.Path)
	switch {
	case x.route.Service == "resources":
		return arm.Refuse(http.StatusBadRequest, "InvalidApiVersionParameter",
			"The api-version '%s' is invalid. The supported versions are '%s'.", version, spoken)
	case x.Vars["rg"] != "":
		return arm.Refuse(http.StatusBadRequest, "NoRegisteredProviderFound",
			"No registered resource provider found for location '%s' and API version '%s' for type '%s'. "+
				"The supported api-versions are '%s'. The supported locations are '%s'.", Location, version, asked.kind, spoken,
			strings.Join(arm.LocationNames(), ", "))
	}
	return arm.Refuse(http.StatusNotFound, "InvalidResourceType",
		"The resource type '%s' could not be found in the namespace '%s' for api version '%s'. "+
			"The supported api-versions are '%s'.", asked.kind, asked.namespace, version, spoken)
}

// alone lets a write of a scale set's model or capacity in, unless another one of the same scale set has not been answered yet: such
// writes may overlap once they were accepted, and conflict while they are being accepted. leave is to be called after the answer.
func (x *exchange) alone() (leave func(), err error) {
	if !x.route.Exclusive {
		return func() {}, nil
	}
	key := compute.SetKey(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if _, busy := x.cloud.writing.LoadOrStore(key, true); busy {
		return nil, arm.Refuse(http.StatusConflict, "ConflictingConcurrentWriteNotAllowed",
			"The operation was interrupted by a conflicting concurrent write on the same entity. Please retry later.")
	}
	return func() { x.cloud.writing.Delete(key) }, nil
}

// admit checks that the subscription and the group are there, and that the caller may do what is asked.
func (x *exchange) admit(w *inventory) error {
	sub := x.Vars["sub"]
	if sub == "" {
		if parts := strings.Split(strings.Trim(x.Vars["scope"], "/"), "/"); len(parts) > 1 && strings.EqualFold(parts[0], "subscriptions") {
			sub = parts[1]
		}
	}
	if sub != "" && x.cloud.subscription(sub) == nil {
		return arm.Refuse(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", sub)
	}
	if err := x.authorize(w, sub); err != nil {
		return err
	}
	if group := x.Vars["rg"]; group != "" && !w.HasGroup(sub, group) {
		return arm.Refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", group)
	}
	return nil
}

// Throttled is the refusal of a fault that throttles.
func (x *exchange) Throttled(f sim.Fault) error {
	return x.throttled(cmp.Or(x.route.Bucket, "UpdateVMScaleSet")+"Resource", core.Rate{}, time.Duration(f.Delay))
}

// Failed is a fault's error, by default the service's own for an internal failure.
func (x *exchange) Failed(f sim.Fault) error {
	e := arm.ToError(errors.New("played"))
	e.Code, e.Message, e.Status = core.Worded(f, e.Code, e.Message, e.Status)
	return e
}

// write sends an answer.
func (x *exchange) write(w http.ResponseWriter, a *arm.Answer) {
	if a.Op != nil {
		x.address(w.Header(), a)
	}
	if a.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(a.After.Seconds())))
	}
	x.identify(w.Header())
	if a.Body == nil {
		w.WriteHeader(a.Status)
		return
	}
	b, err := json.Marshal(core.Shown(x.cloud.Environment, a.Body))
	if err != nil {
		x.writeError(w, arm.ToError(err))
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if d, isDocument := a.Body.(document.Object); isDocument && document.Text(d, "etag") != "" {
		w.Header().Set("ETag", document.Text(d, "etag"))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(b) // the client went away
}

// namespaceOf are the providers whose operations take time, by their services.
var namespaceOf = map[string]string{"compute": "Microsoft.Compute", "containerservice": "Microsoft.ContainerService"}

// address says where the operation that was begun can be looked at.
func (x *exchange) address(h http.Header, a *arm.Answer) {
	at := x.Base() + "/subscriptions/" + x.Vars["sub"] + "/providers/" + namespaceOf[x.route.Service] + "/locations/" + a.Op.Location
	spoken := x.Query.Get("api-version")
	if x.route.Service == "containerservice" {
		spoken = containerservice.OperationsVersion
	}
	query := a.Op.ID + "?p=" + a.Op.ID + "&api-version=" + spoken + signature(a.Op)
	h.Set("Azure-AsyncOperation", at+"/operations/"+query)
	if a.Status == http.StatusAccepted {
		result := at + "/operations/" + query + "&monitor=true"
		if x.route.Service == "containerservice" {
			result = at + "/operationresults/" + query
		}
		h.Set("Location", result)
	}
	if x.route.Service == "compute" {
		h.Set("Azure-AsyncNotification", "Enabled")
		h.Set("Retry-After", "10")
	}
}

// signature returns the parameters by which Azure signs the address of an operation: the time in ticks, a certificate, a signature and a
// hash. They make an address more than 3,000 characters long.
func signature(op *arm.Operation) string {
	const epoch = 621355968000000000 // ticks of 100 nanoseconds from year 1 to 1970
	filler := strings.Repeat(strings.ReplaceAll(op.ID, "-", "_"), 72)
	return "&t=" + strconv.FormatInt(epoch+op.Start.UnixNano()/100, 10) + "&c=MII" + filler[:2500] + "&s=" + filler[:342] + "&h=" + filler[:43]
}

// identify puts the headers on an answer by which requests are told apart.
func (x *exchange) identify(h http.Header) {
	h.Set("x-ms-request-id", x.cloud.Environment.Seed.UUID("request", x.Seq))
	h.Set("x-ms-correlation-request-id", x.cloud.Environment.Seed.UUID("correlation", x.Seq))
	if id := x.Request.Header.Get("x-ms-client-request-id"); id != "" {
		h.Set("x-ms-client-request-id", id)
	}
}

func (x *exchange) writeError(w http.ResponseWriter, e *arm.Error) {
	x.identify(w.Header())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("x-ms-error-code", e.Code)
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer authorization_uri="`+x.Base()+`/`+TenantID+`", error="invalid_token", error_description="`+
			e.Message+`"`)
	}
	w.WriteHeader(e.Status)
	b, err := json.Marshal(e.Body())
	if err == nil {
		_, _ = w.Write(b) // the client went away
	}
}

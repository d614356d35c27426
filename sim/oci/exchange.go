package oci

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	published "github.com/muster-project/muster/sim/core/shapes"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/sim/oci/shapes"
)

// exchange is one request with its answer.
type exchange struct {
	core.Trace
	rest.Exchange
	cloud *Cloud
	route *rest.Route[*region]
}

// ServeHTTP answers a request.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := core.Receive(c.Base, w, r)
	if !ok {
		return
	}
	x := &exchange{cloud: c, Trace: core.Begin(c.Base),
		Exchange: rest.Exchange{Call: core.NewCall(w, r, body), Compartments: c.options.Compartments}}
	x.Asked = sim.Request{Service: "oci", Action: "?", Resource: x.Path}
	var known bool
	if x.route, x.Vars, known = core.Find(routes, r.Method, x.Path, core.MatchPath); x.route == nil {
		x.reply(w, rest.Reply{}, unserved(known))
		return
	}
	x.Asked = x.route.Asked(x.resource())
	out, drop, err := core.Answer(r.Context(), c.Cloud, &x.Trace, x, core.Operation[*region, rest.Reply]{
		Fields: core.JSON{Text: &x.Body}, Admit: x.admit, Run: x.run,
	})
	if drop {
		sim.Drop(w)
		x.Log("dropped")
		return
	}
	x.reply(w, out, err)
}

// unserved refuses an operation that the simulator does not know; known is true where it knows the path.
func unserved(known bool) error {
	if known {
		return rest.Refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "The target resource does not support the HTTP method.")
	}
	return rest.Refuse(http.StatusNotFound, "NotFound",
		"There is no operation supported at the URI path and HTTP method you specified in the request.")
}

// resource returns what a request is about: the last part of its path that the request chooses.
func (x *exchange) resource() string {
	return cmp.Or(x.Vars["instanceId"], x.Vars["instancePoolId"], x.Vars["instanceConfigurationId"], x.Vars["virtualNodeId"], x.Vars["nodeId"],
		x.Vars["nodePoolId"], x.Vars["virtualNodePoolId"], x.Vars["workRequestId"], x.Vars["clusterId"])
}

// reply writes the answer and logs the call.
func (x *exchange) reply(w http.ResponseWriter, out rest.Reply, err error) {
	code := ""
	if err != nil {
		e := rest.ToError(err)
		out, code = rest.Reply{Status: e.Status, Body: map[string]string{"code": e.Code, "message": e.Message}}, e.Code
		if e.After > 0 {
			out.Header = map[string]string{"Retry-After": strconv.Itoa(int(e.After.Seconds()))}
		}
	}
	for name, value := range out.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Opc-Request-Id", x.requestID())
	x.Log(code)
	if out.Body == nil {
		w.WriteHeader(out.Status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(out.Status)
	_ = json.NewEncoder(w).Encode(out.Body) // the client may have gone
}

// requestID returns the ID of the request: that of the client, if it sent one, and one of the service.
func (x *exchange) requestID() string {
	seed := x.cloud.Environment.Seed
	const digits = 32
	own := strings.ToUpper(seed.Hex(digits, "request", x.Seq))
	return cmp.Or(x.Request.Header.Get("Opc-Request-Id"), strings.ToUpper(seed.Hex(digits, "client", x.Seq))) + "/" + own
}

// Throttle counts the request. The services publish no limits.
func (*exchange) Throttle() error { return nil }

// Throttled returns the refusal of a request beyond a limit.
func (*exchange) Throttled(f sim.Fault) error {
	e := rest.Refuse(http.StatusTooManyRequests, "TooManyRequests", "Too many requests for the user.")
	e.After = time.Duration(f.Delay)
	return e
}

// Failed returns the error of a fault.
func (*exchange) Failed(f sim.Fault) error {
	e := rest.ToError(errors.New("fault"))
	e.Code, e.Message, e.Status = core.Worded(f, e.Code, e.Message, e.Status)
	return e
}

// retryToken holds the digest of an accepted request with a token, and its answer.
type retryToken struct {
	Digest string
	Reply  rest.Reply
	Until  time.Time
}

// Limits of retry tokens.
const (
	tokenLength = 64
	tokenLife   = 24 * time.Hour
)

// run carries the operation out, or answers as before where a retry token shows that it was.
func (x *exchange) run(w *region) (rest.Reply, error) {
	token := x.Request.Header.Get("Opc-Retry-Token")
	if token == "" || !takesToken(x.route) {
		return x.route.Run(w, &x.Exchange)
	}
	if len(token) > tokenLength {
		return rest.Reply{}, rest.Invalid("Invalid opc-retry-token: it has more than %d characters.", tokenLength)
	}
	sum := sha256.Sum256(append([]byte(x.Path+"|"), x.Body...))
	key, digest := x.route.Name+"/"+token, hex.EncodeToString(sum[:])
	if row := w.tokens.Get(key); row != nil && row.Until.After(w.Now) {
		switch {
		case row.Digest != digest && !w.Switches.On(rest.TokenAlone), w.superseded(row.Reply):
			return rest.Reply{}, rest.InvalidatedRetryToken()
		}
		return row.Reply, nil
	}
	out, err := x.route.Run(w, &x.Exchange)
	if err == nil {
		w.tokens.Put(key, &retryToken{digest, out, w.Now.Add(tokenLife)})
	}
	return out, err
}

// takesToken reports whether an operation publishes that it takes a retry token.
func takesToken(r *rest.Route[*region]) bool {
	for _, service := range []*published.Service{shapes.ContainerEngine(), shapes.Core()} {
		if o, is := service.Operations[r.Name]; is && o.Path == r.Pattern {
			return slices.Contains(o.Headers, "Opc-Retry-Token")
		}
	}
	return false
}

// superseded reports whether what a request did is not the last that happened to its resource.
func (w *region) superseded(reply rest.Reply) bool {
	work := reply.Header["Opc-Work-Request-Id"]
	switch body, _ := reply.Body.(document.Object); {
	case reply.Header["Etag"] != "":
		return w.compute.Etag(document.Text(body, "id")) != reply.Header["Etag"]
	case work != "" && w.works.Get(work) == nil:
		return w.engine.Superseded(work)
	}
	return false
}

// admit verifies the signature of the request and holds it against the permissions of its key.
func (x *exchange) admit(w *region) error {
	s, err := rest.ParseSignature(x.Request)
	if err != nil {
		return err
	}
	if err := s.Check(x.Request, x.Body, w.Now); err != nil {
		return err
	}
	key, err := keyOf(x.cloud, s, w.Now)
	switch {
	case err != nil:
		return err
	case key == nil:
		return nil
	}
	if err := s.Verify(x.Request, key.Public); err != nil {
		return err
	}
	if key.Permissions == nil {
		return nil
	}
	for _, needed := range x.route.Permissions {
		granted := slices.Contains(key.Permissions, needed)
		if x.cloud.asked[granted][needed]++; !granted {
			return rest.NotFound()
		}
	}
	return nil
}

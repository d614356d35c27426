package toy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

// Error is a refusal in the cloud's form: {"code": "InvalidField", "message": "...", "field": "machineType"}.
type Error struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Field is the member of the request that is wrong.
	Field string `json:"field,omitempty"`
	// After is the value of the header Retry-After; zero for none.
	After time.Duration `json:"-"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func refuse(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func missing(kind, name string) *Error {
	return refuse(http.StatusNotFound, "NotFound", "There is no %s %s.", kind, name)
}

// exchange is one request with its answer.
type exchange struct {
	core.Trace
	core.Call
	cloud *Cloud
	route *core.Route[*region, *exchange, any]
}

// ServeHTTP answers a request.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := core.Receive(c.Base, w, r)
	if !ok {
		return
	}
	x := &exchange{cloud: c, Trace: core.Begin(c.Base), Call: core.NewCall(w, r, body)}
	x.Asked = sim.Request{Service: "toy", Action: "?", Resource: x.Path}
	if x.route, x.Vars, _ = core.Find(operations, r.Method, x.Path, core.MatchPath); x.route == nil {
		x.reply(w, nil, missing("operation at", r.Method+" "+x.Path))
		return
	}
	x.Asked = x.route.Asked(cmp.Or(x.Vars["pool"], x.Vars["cluster"], x.Vars["type"], x.Vars["group"], x.Vars["template"]))
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
		status, code, out = e.Status, e.Code, e
		if e.After > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(e.After.Seconds())))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the client may have gone
	x.Log(code)
}

// toError returns the cloud's error for any error.
func toError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return refuse(http.StatusInternalServerError, "Internal", "The request failed, try again.")
}

// admit checks the credentials. Any bearer token is good.
func (x *exchange) admit(*region) error {
	if token, ok := strings.CutPrefix(x.Request.Header.Get("Authorization"), "Bearer "); !ok || token == "" {
		return refuse(http.StatusUnauthorized, "Unauthenticated", "The request has no bearer token.")
	}
	return nil
}

// Throttle counts the request against its bucket.
func (x *exchange) Throttle() error {
	rate, _ := x.cloud.Limit(x.route.Bucket)
	if x.cloud.buckets.Take(x.route.Bucket, rate, 1, x.Began) {
		return nil
	}
	return x.Throttled(sim.Fault{Delay: sim.Duration(time.Second)})
}

// Throttled returns the refusal of a request beyond the limit.
func (x *exchange) Throttled(f sim.Fault) error {
	e := refuse(http.StatusTooManyRequests, "TooManyRequests", "The account has sent too many %s.", x.route.Bucket)
	e.After = time.Duration(f.Delay)
	return e
}

// Failed returns the error of a fault.
func (x *exchange) Failed(f sim.Fault) error {
	e := toError(errors.New("fault"))
	e.Code, e.Message, e.Status = core.Worded(f, e.Code, e.Message, e.Status)
	return e
}

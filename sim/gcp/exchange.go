package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/server"
)

// bodyLimit bounds a request. The largest that is served here is a template with a metadata value of 256 KiB.
const bodyLimit = 4 << 20

// exchange is one request and its answer.
type exchange struct {
	server.Trace
	project.Call
	cloud  *Cloud
	route  *route
	caller *claims
}

// ServeHTTP answers a request of a client, or of the simulator's owner below sim.AdminPath.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, sim.AdminPath) {
		c.admin.ServeHTTP(w, r)
		return
	}
	x := &exchange{cloud: c, Trace: server.Begin(&c.calls), Call: project.Call{Request: r, Header: w.Header(), Path: r.URL.Path, Query: r.URL.Query()}}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		http.Error(w, "request too large or broken", http.StatusRequestEntityTooLarge)
		return
	}
	x.Body = body
	if t := (tokenRequest{x}); t.isToken() {
		t.serveToken(w)
		return
	}
	x.route, x.Vars = find(r.Method, x.Path)
	if x.route == nil {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, unknownPage(x.Path)) // the client went away
		x.log("notFound")
		return
	}
	out, drop, err := x.answer()
	code := ""
	switch {
	case drop:
		sim.Drop(w)
		code = "connectionDropped"
	case err != nil:
		e := project.ToError(err)
		if code = e.Reason; code == "" {
			code = e.State
		}
		writeError(w, e)
	default:
		write(w, out)
	}
	x.log(code)
}

// log notes the call.
func (x *exchange) log(code string) {
	call := sim.Call{Service: "google", Action: "?", Resource: x.Path, Code: code}
	if x.route != nil {
		call.Service, call.Action, call.Mutating, call.Resource = x.route.Service, x.route.Name, x.route.Mutating, x.subject()
	}
	x.Log(&x.cloud.calls, call)
}

// subject is the name of what the request is about.
func (x *exchange) subject() string {
	for _, name := range []string{"manager", "instanceTemplate", "instance", "nodePool", "cluster", "name", "family", "operation"} {
		if v := x.Vars[name]; v != "" {
			return v
		}
	}
	if d, err := x.Document(); err == nil {
		return document.Text(d, "name")
	}
	return ""
}

// answer does what was asked, with the faults in force. drop is set when the client shall see no answer.
func (x *exchange) answer() (out *project.Answer, drop bool, err error) {
	if err := x.authenticate(); err != nil {
		return nil, false, err
	}
	faults := x.cloud.faults.ForRequest(sim.Request{
		Service: x.route.Service, Action: x.route.Name, Resource: x.subject(), Mutating: x.route.Mutating, Has: x.says,
	})
	if drop, err := x.Before(x.Request.Context(), faults, x.throttledBy, x.played); drop || err != nil {
		return nil, drop, err
	}
	if err := x.throttle(); err != nil {
		return nil, false, err
	}
	out, err = x.perform(faults)
	for err == nil && !out.Until.IsZero() {
		if !pause(x.Request.Context(), time.Until(out.Until)) {
			return nil, true, nil
		}
		out, err = x.perform(faults)
	}
	if drop, failed := server.After(faults, x.played); drop || failed != nil {
		return nil, drop, failed
	}
	return out, false, err
}

// pause lets time pass and reports whether the client is still there.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// perform runs the operation on what the cloud holds, or held where a fault makes the read a stale one.
func (x *exchange) perform(faults []sim.Fault) (*project.Answer, error) {
	c := x.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &project.Error{Status: http.StatusServiceUnavailable, Reason: "backendError", State: "UNAVAILABLE", Message: "The service is shutting down."}
	}
	now := time.Now()
	if err := c.settle(now, false); err != nil {
		return nil, err
	}
	w := c.inventory
	w.Now = now
	if err := x.admit(w); err != nil {
		return nil, err
	}
	if x.route.Mutating {
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
	w.PageLimit = f.Limit
	return x.route.Run(w, &x.Call)
}

// admit checks that the project and the place exist, and that the caller may do what is asked.
func (x *exchange) admit(w *inventory) error {
	if err := x.checkProject(); err != nil {
		return err
	}
	if err := x.authorize(w); err != nil {
		return err
	}
	return w.CheckLocation(&x.Call)
}

// checkProject refuses a project that does not exist. Images of other projects can be read as well.
func (x *exchange) checkProject() error {
	id := x.Vars["project"]
	for _, one := range x.cloud.projects {
		if id == one {
			return nil
		}
	}
	if id == "" || strings.HasPrefix(x.route.Name, "images.") {
		return nil
	}
	return project.NotFound("projects/" + id)
}

// played is a fault's error, by default the service's own for an internal failure.
func (x *exchange) played(f sim.Fault) error {
	e := *project.ToError(errors.New("played"))
	if f.Code != "" {
		e.Reason, e.Status = f.Code, http.StatusBadRequest
	}
	if f.Message != "" {
		e.Message = f.Message
	}
	if f.Status != 0 {
		e.Status = f.Status
	}
	return &e
}

// write sends an answer.
func write(w http.ResponseWriter, a *project.Answer) {
	b, err := json.Marshal(a.Body)
	if err != nil {
		writeError(w, project.ToError(err))
		return
	}
	send(w, a.Status, b)
}

// writeError sends an error.
func writeError(w http.ResponseWriter, e *project.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
	}
	send(w, e.Status, []byte(document.Written(e.Body())))
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away
}

package gcp

import (
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
	body, ok := server.Receive(c.Base, w, r)
	if !ok {
		return
	}
	x := &exchange{cloud: c, Trace: server.Begin(c.Base), Call: project.Call{Request: r, Header: w.Header(), Path: r.URL.Path,
		Query: r.URL.Query(), Body: body}}
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
	x.Log(call)
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
	faults := x.cloud.Faults().ForRequest(sim.Request{
		Service: x.route.Service, Action: x.route.Name, Resource: x.subject(), Mutating: x.route.Mutating, Has: x.says,
	})
	return server.Answer(x.Request.Context(), &x.Trace, faults, x, func() (*project.Answer, error) { return x.perform(faults) })
}

// perform runs the operation, and again for as long as the answer has to wait.
func (x *exchange) perform(faults []sim.Fault) (*project.Answer, error) {
	for {
		out, err := server.Perform(x.cloud.Base, operation{x}, x.route.Mutating, faults)
		if err != nil || out.Until.IsZero() {
			return out, err
		}
		if !server.Wait(x.Request.Context(), time.Until(out.Until)) {
			return nil, sim.ErrDropped
		}
	}
}

// operation is what a request asks for, as the frame runs it.
type operation struct{ *exchange }

// Find returns all that the cloud holds.
func (x operation) Find() (*inventory, error) { return x.cloud.held() }

// AsOf returns what the cloud held.
func (x operation) AsOf(_ *inventory, at time.Time, writes int) (*inventory, error) {
	return x.cloud.asOf(at, writes)
}

// Admit checks that the project and the place exist, and that the caller may do what is asked.
func (x operation) Admit(w *inventory) error {
	if err := x.checkProject(); err != nil {
		return err
	}
	if err := x.authorize(w); err != nil {
		return err
	}
	return w.CheckLocation(&x.Call)
}

// Write runs an operation that changes something, or what the faults leave of it.
func (x operation) Write(w *inventory, faults []sim.Fault) (*project.Answer, error) {
	return x.carryOut(w, faults)
}

// Read runs an operation that changes nothing.
func (x operation) Read(w *inventory) (*project.Answer, error) { return x.route.Run(w, &x.Call) }

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

// Failed is a fault's error, by default the service's own for an internal failure.
func (x *exchange) Failed(f sim.Fault) error {
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

package gcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// bodyLimit bounds a request. The largest that is served here is a template with a metadata value of 256 KiB.
const bodyLimit = 4 << 20

// exchange is one request and its answer.
type exchange struct {
	core.Trace
	project.Call
	cloud  *Cloud
	route  *route
	caller *claims
}

// ServeHTTP answers a request of a client, or of the simulator's owner below sim.AdminPath.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := core.Receive(c.Base, w, r)
	if !ok {
		return
	}
	x := &exchange{cloud: c, Trace: core.Begin(c.Base), Call: project.Call{Call: core.NewCall(w, r, body)}}
	if t := (tokenRequest{x}); t.isToken() {
		t.serveToken(w)
		return
	}
	x.Asked = sim.Request{Service: "google", Action: "?", Resource: x.Path}
	x.route, x.Vars, _ = core.Find(allRoutes, r.Method, x.Path, project.Matches)
	if x.route == nil {
		writeError(w, unknownMethod())
		x.Log("notFound")
		return
	}
	x.Asked = x.route.Asked(x.subject())
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
		write(w, c.Environment, out)
	}
	x.Log(code)
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
	return core.Answer(x.Request.Context(), x.cloud.Cloud, &x.Trace, x, core.Operation[*inventory, *project.Answer]{
		Fields: core.JSON{Text: &x.Body}, Admit: x.admit, Idle: idly,
		Run:   func(w *inventory) (*project.Answer, error) { return x.route.Run(w, &x.Call) },
		Until: func(a *project.Answer) time.Time { return a.Until },
	})
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

// Failed is a fault's error, by default the service's own for an internal failure.
func (x *exchange) Failed(f sim.Fault) error {
	e := *project.ToError(errors.New("played"))
	f.Message = cmp.Or(f.Message, e.Message)
	e.Reason, e.Message, e.Status = core.Worded(f, e.Reason, e.Message, e.Status)
	return &e
}

// write sends an answer.
func write(w http.ResponseWriter, e *core.Environment, a *project.Answer) {
	b, err := json.Marshal(core.Shown(e, a.Body))
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

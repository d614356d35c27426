// Package page serves the views of pools as web pages. It changes nothing: every route is read-only, and each view shows the commands that
// would act.
package page

import (
	"context"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/view/accounts"
	"github.com/muster-project/muster/view/memory"
	"github.com/muster-project/muster/view/page/assets"
	"github.com/muster-project/muster/view/page/stream"
	"github.com/muster-project/muster/view/plan"
)

// Viewer holds the pools that one user may see.
type Viewer struct {
	// Name of the user; empty in a local world.
	Name string
	// Client reads as the user.
	Client client.Client
	// Fleet has the pools that the user may list.
	Fleet *stream.Hub
	// Everything is true if the user may list the pools of all namespaces.
	Everything bool
	// Until is the time at which the streams of this view end; zero for none. The user's token and rights are reviewed again with the next
	// request.
	Until time.Time
}

// Options of a Server.
type Options struct {
	// Title of the pages: the name of the management cluster or the world.
	Title string
	// Viewer returns what the user of a request sees. Its errors are answered with the status that the API server would answer with.
	Viewer func(r *http.Request) (*Viewer, error)
	// CloudOf returns the title of the cloud of an infrastructure kind, empty for another provider's.
	CloudOf func(kind string) string
	// Memory has the last pass over each pool; nil remembers none.
	Memory *memory.Memory
	// Accounts has the requests to clouds; nil shows none.
	Accounts *accounts.Recorder
	// Simulators are the simulated clouds of a local world; none in a manager.
	Simulators []Simulator
	// Plan makes plans as the user; nil has no such view.
	Plan func(ctx context.Context, v *Viewer, r PlanRequest) ([]plan.Plan, error)
	// Done is closed when the server ends, so that streams end too.
	Done <-chan struct{}
}

// Server serves the page.
type Server struct {
	o     Options
	slots stream.Slots
	// planning bounds the plans that are made at the same time.
	planning chan struct{}
	mux      *http.ServeMux
}

// New returns a server.
func New(o Options) (*Server, error) {
	if err := checkTemplates(); err != nil {
		return nil, err
	}
	s := &Server{o: o, mux: http.NewServeMux()}
	s.mux.Handle("GET "+assets.Path, assets.Handler())
	s.mux.HandleFunc("GET /{$}", s.view(s.fleet))
	s.mux.HandleFunc("GET /accounts", s.view(s.accounts))
	if len(o.Simulators) > 0 {
		s.mux.HandleFunc("POST /simulators/{cloud}/faults", s.view(s.fault))
	}
	if o.Plan != nil {
		s.planning = make(chan struct{}, maxPlans)
		s.mux.HandleFunc("GET /plan", s.view(s.plan))
		s.mux.HandleFunc("POST /plan", s.view(s.plan))
	}
	s.mux.HandleFunc("GET /events", s.view(s.fleetEvents))
	s.mux.HandleFunc("GET /pools/{namespace}/{name}", s.view(s.pool))
	s.mux.HandleFunc("GET /pools/{namespace}/{name}/events", s.view(s.poolEvents))
	return s, nil
}

// policy allows what the server itself serves, and nothing that is written into a page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'self'; frame-ancestors 'none'"

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	SetPolicy(w.Header())
	s.mux.ServeHTTP(w, r)
}

// SetPolicy sets the headers that every answer has.
func SetPolicy(h http.Header) {
	for key, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		"Permissions-Policy": "camera=(), geolocation=(), microphone=()", "Vary": "Accept, Authorization, Cookie",
	} {
		h.Set(key, value)
	}
}

// handler answers a request of a user.
type handler func(w http.ResponseWriter, r *http.Request, v *Viewer) error

// view finds the user's view, and answers errors.
func (s *Server) view(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.o.Viewer(r)
		if err == nil {
			err = h(w, r, v)
		}
		if err != nil {
			s.fail(w, r, v, err)
		}
	}
}

// base holds the fields that every page shows.
func (s *Server) base(v *Viewer, here string) base {
	b := base{Title: s.o.Title, Here: here, WithPlans: s.o.Plan != nil, WithAccounts: v == nil || v.Everything}
	if v != nil {
		b.User = v.Name
	}
	return b
}

// fail answers with an error: the API server's status and words where it is one of those.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, v *Viewer, err error) {
	code := http.StatusInternalServerError
	if status := apierrors.APIStatus(nil); asStatus(err, &status) && status.Status().Code >= http.StatusBadRequest {
		code = int(status.Status().Code)
		if d := status.Status().Details; d != nil && d.RetryAfterSeconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
		}
	}
	if context.Cause(r.Context()) != nil {
		return // the client went away
	}
	if wantsJSON(r) {
		writeJSON(w, code, map[string]any{"apiVersion": "page.muster.dev/v1", "kind": "Error", "code": code, "message": err.Error()})
		return
	}
	s.render(w, code, "error", errorPage{base: s.base(v, ""), Code: code, Text: http.StatusText(code), Message: err.Error()})
}

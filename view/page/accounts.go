package page

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/view/accounts"
	"github.com/muster-project/muster/view/memory"
	"github.com/muster-project/muster/view/page/fleet"
)

// Simulator is a simulated cloud of a local world. Its faults are the only thing that the page changes, and there are none in a manager.
type Simulator interface {
	Name() string
	// State returns the requests and the faults in force.
	State(ctx context.Context) (SimulatorState, error)
	// Play adds one of Faults, by its name, Clear removes all faults.
	Play(ctx context.Context, fault string) error
	Clear(ctx context.Context) error
	// Faults are those that can be added.
	Faults() []SimulatedFault
}

// SimulatedFault is a fault that can be added by its name. The title says what happens.
type SimulatedFault struct{ Name, Title string }

// SimulatorState holds the requests to a simulated cloud, and its faults.
type SimulatorState struct {
	Name   string         `json:"name"`
	Total  int            `json:"total"`
	Writes int            `json:"writes"`
	Calls  []SimCall      `json:"calls"`
	Faults []ActiveFault  `json:"faults"`
	Counts []SimCallCount `json:"counts"`
	// Unreachable explains why nothing is known; empty if the simulator answers.
	Unreachable string `json:"unreachable,omitempty"`
}

// SimCall is one of the last requests.
type SimCall struct {
	At       time.Time `json:"at"`
	Action   string    `json:"action"`
	Resource string    `json:"resource,omitempty"`
	Code     string    `json:"code,omitempty"`
	Fault    string    `json:"fault,omitempty"`
}

// SimCallCount is the number of requests of one operation.
type SimCallCount struct {
	Action string `json:"action"`
	Calls  int    `json:"calls"`
}

// ActiveFault is a fault in force.
type ActiveFault struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Played int    `json:"played"`
}

// accountsView is the view of the clouds' accounts.
type accountsView struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Accounts   []accounts.Account `json:"accounts"`
	Refusals   []poolRefusal      `json:"refusals"`
	Simulators []SimulatorState   `json:"simulators,omitempty"`
}

// poolRefusal is a request about a pool that its cloud refuses.
type poolRefusal struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	memory.Refusal
}

type accountsPage struct {
	base
	accountsView
	Faults map[string][]SimulatedFault
}

// accounts answers with the requests to clouds, which are those for the pools of all namespaces.
func (s *Server) accounts(w http.ResponseWriter, r *http.Request, v *Viewer) error {
	if !v.Everything {
		err := apierrors.NewForbidden(schema.GroupResource{Resource: "accounts"}, "", nil)
		err.ErrStatus.Message = "accounts serve the pools of all namespaces: you may not list and watch machinepools in all of them"
		return err
	}
	a := accountsView{APIVersion: fleet.APIVersion, Kind: "Accounts", Accounts: []accounts.Account{}}
	if s.o.Accounts != nil {
		s.o.Accounts.Sample(time.Now())
		a.Accounts = s.o.Accounts.Accounts()
	}
	a.Refusals = s.refusals(r.Context(), v)
	faults := map[string][]SimulatedFault{}
	for _, one := range s.o.Simulators {
		state, err := one.State(r.Context())
		if err != nil {
			state.Unreachable = err.Error()
		}
		state.Name = one.Name()
		a.Simulators = append(a.Simulators, state)
		faults[one.Name()] = one.Faults()
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, a)
		return nil
	}
	s.render(w, http.StatusOK, "accounts", accountsPage{base: s.base(v, "accounts"), accountsView: a, Faults: faults})
	return nil
}

// refusals returns what clouds refuse now of the pools that the user sees, newest first.
func (s *Server) refusals(ctx context.Context, v *Viewer) []poolRefusal {
	out := []poolRefusal{}
	pools, err := v.Fleet.Pools(ctx)
	if err != nil {
		return out
	}
	for _, p := range pools {
		k := memory.Key{Kind: p.Infrastructure.Kind, Namespace: p.Namespace, Name: p.Infrastructure.Name}
		for _, refusal := range s.o.Memory.Refusals(k) {
			out = append(out, poolRefusal{Namespace: p.Namespace, Name: p.Name, Refusal: refusal})
		}
	}
	slices.SortStableFunc(out, func(a, b poolRefusal) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Name, b.Name)) })
	return out[:min(len(out), maxRefusals)]
}

// maxRefusals bounds the refusals that are shown.
const maxRefusals = 100

// fault adds a fault to a simulated cloud, or removes all. There is no such route without simulators.
func (s *Server) fault(w http.ResponseWriter, r *http.Request, _ *Viewer) error {
	at := slices.IndexFunc(s.o.Simulators, func(one Simulator) bool { return one.Name() == r.PathValue("cloud") })
	if at < 0 {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "simulators"}, r.PathValue("cloud"))
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	var err error
	if name := r.PostFormValue("fault"); name == "" {
		err = s.o.Simulators[at].Clear(r.Context())
	} else {
		err = s.o.Simulators[at].Play(r.Context(), name)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/accounts#"+r.PathValue("cloud"), http.StatusSeeOther)
	return nil
}

// maxForm bounds a form, in bytes: a manifest is the largest.
const maxForm = 1 << 20

package session

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	subscription = "0b1f6471-1bf0-4dda-aec3-cb9272f09590"
	endpoint     = "http://arm.example"
	scaleSet     = "/subscriptions/" + subscription + "/resourceGroups/capz/providers/Microsoft.Compute/virtualMachineScaleSets/capz-mp-0"
)

// answer is the reply to a request.
type answer struct {
	status int
	header map[string]string
	body   string
	err    error
}

// script answers requests: by the longest key that their method and address begin with. It notes what was sent.
type script struct {
	answers map[string]answer

	mu    sync.Mutex
	calls []string
	// by are the authorizations that requests carried.
	by []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	address := r.Method + " " + r.URL.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, wire.CallFrom(r.Context()).String())
	s.by = append(s.by, r.Header.Get("Authorization"))
	best := ""
	for key := range s.answers {
		if strings.HasPrefix(address, key) && len(key) >= len(best) {
			best = key
		}
	}
	a, ok := s.answers[best]
	if !ok {
		a = answer{status: http.StatusNotImplemented, body: `{"error":{"code":"NotScripted","message":"` + address + `"}}`}
	}
	if a.err != nil {
		return nil, a.err
	}
	reply := &http.Response{
		StatusCode: a.status, Status: fmt.Sprint(a.status), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}
	for name, value := range a.header {
		reply.Header.Set(name, value)
	}
	return reply, nil
}

// take gives the calls so far, and forgets them.
func (s *script) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls, s.by = nil, nil
	return calls
}

// stand is Sessions over a script, with a clock that the test moves.
type stand struct {
	*Sessions
	*script
	at time.Time
}

func newStand(t *testing.T, answers map[string]answer) *stand {
	t.Helper()
	return newStandAt(t, endpoint, answers)
}

func newStandAt(t *testing.T, endpoint string, answers map[string]answer) *stand {
	t.Helper()
	st := &stand{script: &script{answers: answers}, at: time.Now().UTC().Truncate(time.Second)}
	var err error
	st.Sessions, err = New(Options{Endpoint: endpoint, Base: st.script, Now: func() time.Time { return st.at }})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// session is that of a cluster with the identity.
func (s *stand) session(t *testing.T, i *azurev1.IdentityView) *Session {
	t.Helper()
	made, err := s.Of(t.Context(), azurev1.ClusterView{SubscriptionID: subscription, Location: "West US 2", Identity: i})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// get asks for the scale set.
func (s *stand) get(t *testing.T, i *azurev1.IdentityView) error {
	t.Helper()
	_, err := s.session(t, i).ScaleSets.Get(t.Context(), "capz", "capz-mp-0", nil)
	return Refusal(err, s.at)
}

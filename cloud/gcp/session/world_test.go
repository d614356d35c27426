package session

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud/wire"
)

const (
	endpoint = "http://127.0.0.1:9"
	project  = "simulated-project"
	group    = endpoint + "/compute/v1/projects/" + project + "/zones/us-central1-a/instanceGroupManagers/c1-mp"
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
	// by are the authorizations that requests carried, quota the projects whose quota they counted against.
	by, quota []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := r.Method + " " + r.URL.String()
	s.calls = append(s.calls, wire.CallFrom(r.Context()).String())
	s.by = append(s.by, r.Header.Get("Authorization"))
	s.quota = append(s.quota, r.Header.Get(headerQuota))
	best := ""
	for key := range s.answers {
		if strings.HasPrefix(request, key) && len(key) >= len(best) {
			best = key
		}
	}
	a, ok := s.answers[best]
	if !ok {
		a = answer{status: http.StatusNotImplemented, body: `{"error":{"status":"NotScripted","message":"` + request + `"}}`}
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
	s.calls, s.by, s.quota = nil, nil, nil
	return calls
}

// stand is Sessions over a script, with a clock that the test moves.
type stand struct {
	*Sessions
	*script
	at time.Time
}

func newStand(t *testing.T, answers map[string]answer, change ...func(*Options)) *stand {
	t.Helper()
	st := &stand{script: &script{answers: answers}, at: time.Now().UTC().Truncate(time.Second)}
	o := Options{Endpoint: endpoint, Base: st.script, Now: func() time.Time { return st.at }}
	for _, c := range change {
		c(&o)
	}
	var err error
	if st.Sessions, err = New(o); err != nil {
		t.Fatal(err)
	}
	return st
}

// session is that of the project with the credentials.
func (s *stand) session(t *testing.T, c Credentials) *Session {
	t.Helper()
	made, err := s.Of(t.Context(), Access{Project: project, Credentials: c})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// get asks for the group manager.
func (s *stand) get(t *testing.T, c Credentials) error {
	t.Helper()
	in := s.session(t, c)
	_, err := in.Compute.InstanceGroupManagers.Get(project, "us-central1-a", "c1-mp").Context(t.Context()).Do()
	return in.Refusal(err)
}

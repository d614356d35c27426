package session

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
)

const (
	endpoint  = "http://127.0.0.1:9"
	accessKey = "SCWXXXXXXXXXXXXXXXXX"
	secretKey = "11111111-1111-4111-8111-111111111111"
	project   = "105bdce1-64c0-48ab-899d-868455867ecf"
)

// reply is the answer to one request.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

// script answers requests in the order of its replies, and the last one again and again. It notes what was asked.
type script struct {
	replies []reply

	mu       sync.Mutex
	requests []string
	sent     []*http.Request
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.requests), len(s.replies)-1)
	s.requests, s.sent = append(s.requests, r.Method+" "+r.URL.RequestURI()), append(s.sent, r)
	is := s.replies[n]
	if is.err != nil {
		return nil, is.err
	}
	if is.header == nil {
		is.header = http.Header{"Content-Type": {"application/json"}}
	}
	if is.status == 0 {
		is.status = http.StatusOK
	}
	return &http.Response{StatusCode: is.status, Status: fmt.Sprint(is.status), Header: is.header, Request: r,
		Body: io.NopCloser(strings.NewReader(is.body))}, nil
}

// view is a cluster with credentials.
func view() scalewayv1.ClusterView {
	return scalewayv1.ClusterView{Name: "managed", Region: "fr-par", ProjectID: project, Identity: &scalewayv1.IdentityView{
		Name: "Secret/default/scaleway", AccessKey: accessKey, SecretKey: common.NewSecret(secretKey), APIURL: endpoint,
	}}
}

// over makes a session whose requests the script answers.
func over(t *testing.T, replies ...reply) (*Session, *script) {
	t.Helper()
	s := &script{replies: replies}
	sessions, err := New(Options{Base: s, Now: func() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	made, err := sessions.Of(view())
	if err != nil {
		t.Fatal(err)
	}
	return made, s
}

package session

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
)

const (
	endpoint    = "http://127.0.0.1:9"
	compartment = "ocid1.compartment.oc1..aaaa"
)

// private is the key of all identities.
var private = sync.OnceValue(newKey)

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// pemOf returns a private key in PEM.
func pemOf(key *rsa.PrivateKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

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
	bodies   []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.requests), len(s.replies)-1)
	body := ""
	if r.Body != nil {
		text, _ := io.ReadAll(r.Body)
		body = string(text)
	}
	s.requests, s.sent, s.bodies = append(s.requests, r.Method+" "+r.URL.RequestURI()), append(s.sent, r), append(s.bodies, body)
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
func view() ociv1.ClusterView {
	return ociv1.ClusterView{Name: "c", Region: "us-ashburn-1", CompartmentID: compartment, Identity: &ociv1.IdentityView{
		Name: "OCIClusterIdentity/default/tenant", Type: ociv1.PrincipalUser, Tenancy: "ocid1.tenancy.oc1..aaaa", User: "ocid1.user.oc1..bbbb",
		KeyFingerprint: "20:3b:97", PrivateKey: common.NewSecret(pemOf(private())),
	}}
}

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// with makes sessions whose requests the script answers.
func with(t *testing.T, o Options, replies ...reply) (*Sessions, *script) {
	t.Helper()
	s := &script{replies: replies}
	o.Base, o.Endpoint = s, endpoint
	if o.Now == nil {
		o.Now = func() time.Time { return now }
	}
	if o.Directory == "" {
		o.Directory = t.TempDir()
	}
	sessions, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return sessions, s
}

// over makes a session of the view.
func over(t *testing.T, replies ...reply) (*Session, *script) {
	t.Helper()
	sessions, s := with(t, Options{}, replies...)
	made, err := sessions.Of(view())
	if err != nil {
		t.Fatal(err)
	}
	return made, s
}

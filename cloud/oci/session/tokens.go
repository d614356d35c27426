package session

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

const (
	// serviceTokens is the name under which requests for security tokens are counted.
	serviceTokens = "tokens"
	// renewBefore is the time before the end of a token from which another one is requested. A request that was signed before its end may
	// take a while.
	renewBefore = 5 * time.Minute
	// tokenAgain is the time for which a failed request for a token is not repeated.
	tokenAgain = 5 * time.Second
	// sessionBits is the length of the key of a session.
	sessionBits = 2048
	// maxTokenBody bounds the answer of a token service in bytes.
	maxTokenBody = 1 << 20
)

// TokenEndpoints are the addresses of the services that issue security tokens.
type TokenEndpoints struct {
	// Metadata is the address of the metadata of the instance. Default: the value of OCI_METADATA_BASE_URL, else
	// http://169.254.169.254/opc/v2.
	Metadata string
	// Federation is the address of the service that issues tokens to instances. Default: the value of OCI_SDK_AUTH_CLIENT_REGION_URL, else
	// that of the instance's region.
	Federation string
	// Workload is the address of the service that issues tokens to workloads. Default: that of the cluster's API server.
	Workload string
	// ServiceAccount is the directory with the token of the controller's service account and the certificates of its cluster. Default:
	// /var/run/secrets/kubernetes.io/serviceaccount.
	ServiceAccount string
}

// federated are the sources of identities that are not in a Secret: all sessions share them.
type federated struct{ instance, workload source }

func newFederated(s *Sessions) federated {
	instance, workload := &instancePrincipal{sessions: s}, &workloadIdentity{sessions: s}
	return federated{instance: &tokens{request: instance.request, now: s.Now}, workload: &tokens{request: workload.request, now: s.Now}}
}

// tokens is a source of security tokens, each with a key of its own.
type tokens struct {
	// request requests the token for a key.
	request func(ctx context.Context, key *rsa.PrivateKey) (token string, err error)
	now     func() time.Time

	mu       sync.Mutex
	is       fixed
	expires  time.Time
	failed   error
	failedAt time.Time
}

// get returns a token that is good for a while.
func (t *tokens) get(ctx context.Context) (fixed, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	switch {
	case now.Before(t.expires.Add(-renewBefore)):
		return t.is, nil
	case t.failed != nil && now.Sub(t.failedAt) < tokenAgain:
		return t.otherwise(now, t.failed)
	}
	key, err := rsa.GenerateKey(rand.Reader, sessionBits)
	if err != nil {
		return fixed{}, err
	}
	token, err := t.request(ctx, key)
	if err == nil {
		t.expires, err = expiryOf(token)
	}
	if err != nil {
		if ctx.Err() == nil {
			t.failed, t.failedAt = err, now
		}
		return t.otherwise(now, err)
	}
	t.is, t.failed = fixed{keyID: securityToken + token, key: key}, nil
	return t.is, nil
}

// otherwise returns the former token as long as it is good, in place of an error.
func (t *tokens) otherwise(now time.Time, err error) (fixed, error) {
	if t.is.key != nil && now.Before(t.expires) {
		return t.is, nil
	}
	return fixed{}, err
}

// refused forgets a token that a service did not accept.
func (t *tokens) refused(keyID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.is.keyID == keyID {
		t.is, t.expires = fixed{}, time.Time{}
	}
}

// expiryOf returns the end of a security token.
func expiryOf(token string) (time.Time, error) {
	var claims struct {
		Expires int64 `json:"exp"`
	}
	parts := strings.Split(token, ".")
	if len(parts) == 3 {
		text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
		if err == nil && json.Unmarshal(text, &claims) == nil && claims.Expires > 0 {
			return time.Unix(claims.Expires, 0), nil
		}
	}
	return time.Time{}, &cloud.Error{Kind: cloud.Unavailable, Op: serviceTokens, Code: cloud.CodeNoReply,
		Message: "the token service answered with something that is no token"}
}

// ask sends a request to a token service and returns the body of its answer. Redirects are not followed.
func (s *Sessions) ask(ctx context.Context, to *wire.Transport, operation string, r *http.Request) ([]byte, error) {
	call := wire.Call{Service: serviceTokens, Operation: operation, ReadOnly: true}
	e := &cloud.Error{Kind: cloud.Unavailable, Op: call.String(), Field: controller}
	r.Header.Set("User-Agent", userAgent)
	reply, err := to.RoundTrip(r.WithContext(wire.WithCall(ctx, call)))
	if err == nil {
		reply.Body = http.MaxBytesReader(nil, reply.Body, maxTokenBody)
		var body []byte
		if body, err = readAll(reply); err == nil && reply.StatusCode == http.StatusOK {
			return body, nil
		}
		if err == nil {
			var is serviceError
			_ = json.Unmarshal(body, &is) // what is no JSON has no code
			table.Token(e, refusal.ServiceError{Code: is.Code, Message: is.Message, Status: reply.StatusCode}, reply.Header, s.Now())
			return nil, e
		}
	}
	refusal.Unanswered(e, err)
	return nil, e
}

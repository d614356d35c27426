package session

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// token returns a security token that ends at a time.
func token(name string, ends time.Time) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(name)) + "." + encode(fmt.Appendf(nil, `{"exp":%d}`, ends.Unix())) + ".c"
}

// certificate returns one of an instance of a tenancy, in PEM.
func certificate(t *testing.T) string {
	t.Helper()
	key := private()
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: now.Add(time.Hour),
		Subject: pkix.Name{ExtraNames: []pkix.AttributeTypeAndValue{
			{Type: asn1.ObjectIdentifier{2, 5, 4, 11}, Value: "opc-tenant:ocid1.tenancy.oc1..t"}}}}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestInstancePrincipal: the certificate of the instance is exchanged for a token, which is kept until it ends.
func TestInstancePrincipal(t *testing.T) {
	t.Parallel()
	at, cert := now, certificate(t)
	documents := []reply{{body: "iad"}, {body: cert}, {body: pemOf(private())}, {body: cert}}
	first, second := token("one", now.Add(20*time.Minute)), token("two", now.Add(40*time.Minute))
	federated := func(token string) reply { return reply{body: `{"token":"` + token + `"}`} }
	list := page("", 0, 1)
	var replies []reply
	replies = append(append(replies, documents...), federated(first), list, list)
	replies = append(append(replies, documents...), reply{status: 500, body: "{}"}, list)
	replies = append(append(replies, documents...), federated(second), list)
	replies = append(append(replies, reply{status: 401, body: `{"code":"NotAuthenticated","message":"no"}`}), documents...)
	replies = append(replies, reply{status: 403, body: `{"code":"NotAllowed","message":"no instance"}`})
	sessions, sent := with(t, Options{Now: func() time.Time { return at }, Tokens: TokenEndpoints{Metadata: "http://127.0.0.1:1/opc/v2"}},
		replies...)
	v := view()
	v.Identity = &ociv1.IdentityView{Name: "instance", Type: ociv1.PrincipalInstance}
	s, err := sessions.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	look := func() (string, error) {
		_, _, err := s.NodePools(t.Context(), compartment, 0)
		_, id, _ := strings.Cut(sent.sent[len(sent.sent)-1].Header.Get("Authorization"), `keyId="`)
		id, _, _ = strings.Cut(id, `"`)
		return id, err
	}
	for _, c := range []struct {
		reason string
		after  time.Duration
		key    string
	}{
		{"a token is requested", 0, first},
		{"it is kept", 10 * time.Minute, first},
		{"the former is used as long as it is good", 6 * time.Minute, first},
		{"it is renewed", time.Minute, second},
	} {
		at = at.Add(c.after)
		if got, err := look(); err != nil || got != "ST$"+c.key {
			t.Errorf("%s: want %s, got %s, %v", c.reason, c.key, got, err)
		}
	}
	if _, err := look(); cloud.KindOf(err) != cloud.Denied {
		t.Errorf("want a refused token told, got %v", err)
	}
	if _, err := look(); cloud.KindOf(err) != cloud.Denied || !strings.Contains(err.Error(), "no instance") {
		t.Errorf("want the refused token forgotten and the refusal of the next told, got %v", err)
	}
	if n := len(sent.requests); n != len(replies) {
		t.Errorf("want %d requests, got %d", len(replies), n)
	}
	if _, err := look(); err == nil || len(sent.requests) != len(replies) {
		t.Errorf("want no token requested again at once, got %v", err)
	}
	exchange := sent.sent[4]
	if exchange.URL.String() != "https://auth.us-ashburn-1.oraclecloud.com/v1/x509" ||
		!strings.Contains(exchange.Header.Get("Authorization"), `keyId="ocid1.tenancy.oc1..t/fed-x509-sha256/`) {
		t.Errorf("want the certificate exchanged in its region, got %s %s", exchange.URL, exchange.Header.Get("Authorization"))
	}
	var body struct{ Certificate, PublicKey string }
	if err := json.Unmarshal([]byte(sent.bodies[4]), &body); err != nil || strings.Contains(body.Certificate, "-") || body.PublicKey == "" {
		t.Errorf("want the certificate without its frame, got %s", sent.bodies[4])
	}
	if sent.sent[0].Header.Get("Authorization") != "Bearer Oracle" || sent.requests[1] != "GET /opc/v2/identity/cert.pem" {
		t.Errorf("want the second version of the metadata, got %v", sent.requests[:4])
	}
}

// TestWorkloadIdentity: the token of the service account is exchanged for a token of the workload.
func TestWorkloadIdentity(t *testing.T) {
	t.Parallel()
	account := t.TempDir()
	if err := os.WriteFile(filepath.Join(account, "token"), []byte("service-account"), 0o600); err != nil {
		t.Fatal(err)
	}
	is := token("one", now.Add(time.Hour))
	answer, _ := json.Marshal(base64.StdEncoding.EncodeToString([]byte(`{"token":"ST$` + is + `"}`)))
	for _, c := range []struct {
		reason string
		reply  reply
		kind   cloud.ErrorKind
	}{
		{"a token", reply{body: string(answer)}, ""},
		{"something else", reply{body: "[]"}, cloud.Unavailable},
		{"a cluster that is not enhanced", reply{status: http.StatusForbidden, body: "no"}, cloud.Denied},
		{"too many requests", reply{status: http.StatusTooManyRequests}, cloud.Throttled},
		{"an answer without an end", reply{body: strings.Repeat("a", maxTokenBody+1)}, cloud.Unavailable},
		{"a redirect", reply{status: http.StatusFound, header: http.Header{"Location": {"https://e.example"}}}, cloud.Denied},
	} {
		sessions, sent := with(t, Options{Tokens: TokenEndpoints{Workload: "https://10.0.0.1:12250", ServiceAccount: account}}, c.reply,
			page("", 0, 1))
		v := view()
		v.Identity = &ociv1.IdentityView{Name: "workload", Type: ociv1.PrincipalWorkload}
		s, err := sessions.Of(v)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = s.NodePools(t.Context(), compartment, 0)
		if (err != nil) != (c.kind != "") || err != nil && cloud.KindOf(err) != c.kind {
			t.Errorf("%s: want %q, got %v", c.reason, c.kind, err)
		}
		if err == nil && !strings.Contains(sent.sent[1].Header.Get("Authorization"), `keyId="ST$`+is+`"`) {
			t.Errorf("%s: want the request signed with the token, got %v", c.reason, sent.sent[1].Header)
		}
		if sent.sent[0].Header.Get("Authorization") != "Bearer service-account" || sent.requests[0] != "POST /resourcePrincipalSessionTokens" {
			t.Errorf("%s: want the service account sent, got %v", c.reason, sent.requests)
		}
		if err != nil && strings.Contains(err.Error(), "service-account") {
			t.Errorf("%s: want no secret told, got %v", c.reason, err)
		}
	}
}

package session

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/google/go-cmp/cmp"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
)

const (
	tenant = "6f0f0f4e-0000-4000-8000-000000000001"
	secret = "tenants-s3cret-0123456789"
	public = "https://management.azure.com"
	login  = "https://login.microsoftonline.com/"
)

// microsoft answers as the public cloud does: an authority that issues tokens, and a resource manager that has the scale set.
func microsoft() map[string]answer {
	return map[string]answer{
		"GET " + login:   {status: 200, body: metadata(login)},
		"POST " + login:  {status: 200, body: token("tok")},
		"GET " + public:  {status: 200, body: `{}`},
		"GET http://169": {status: 200, body: token("vm")},
	}
}

func token(name string) string {
	return `{"token_type":"Bearer","expires_in":"3600","access_token":"` + name + `"}`
}

// metadata returns the authority's metadata, which a client reads before it requests a token.
func metadata(authority string) string {
	at := authority + tenant
	text, _ := json.Marshal(map[string]any{
		"token_endpoint": at + "/oauth2/v2.0/token", "authorization_endpoint": at + "/oauth2/v2.0/authorize", "issuer": at + "/v2.0",
		"tenant_discovery_endpoint": at + "/v2.0/.well-known/openid-configuration",
		"metadata": []any{map[string]any{"preferred_network": "login.microsoftonline.com",
			"preferred_cache": "login.windows.net", "aliases": []string{"login.microsoftonline.com"}}},
	})
	return strings.ReplaceAll(string(text), `"expires_in":"3600"`, `"expires_in":3600`)
}

func principal() *azurev1.IdentityView {
	return &azurev1.IdentityView{Name: "AzureClusterIdentity/ns/a", Type: azurev1.IdentityServicePrincipal, TenantID: tenant, ClientID: "app",
		Secret: common.NewSecret(secret)}
}

// certificate is a self-signed certificate with its private key, in PEM.
func certificate(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	is := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "app"}, NotAfter: time.Now().Add(time.Hour)}
	made, err := x509.CreateCertificate(rand.Reader, is, is, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})) +
		string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// TestWhoAsks gets tokens in every way that an identity may say.
func TestWhoAsks(t *testing.T) {
	shown := certificate(t)
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	deliveredFile, err := json.Marshal(map[string]string{
		"client_id": "app", "tenant_id": tenant, "authentication_endpoint": login,
		"client_secret": base64.StdEncoding.EncodeToString([]byte(shown)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", file("federated", "assertion"))
	for _, c := range []struct {
		reason string
		change func(*azurev1.IdentityView)
		by     string
	}{
		{"a password", func(*azurev1.IdentityView) {}, "Bearer tok"},
		{"its older name", func(i *azurev1.IdentityView) { i.Type = azurev1.IdentityManualServicePrincipal }, "Bearer tok"},
		{"a certificate", func(i *azurev1.IdentityView) {
			i.Type, i.Secret = azurev1.IdentityServicePrincipalCertificate, common.NewSecret(shown)
		}, "Bearer tok"},
		{"a certificate in a file counts before the secret", func(i *azurev1.IdentityView) {
			i.Type, i.CertPath = azurev1.IdentityServicePrincipalCertificate, file("cert.pem", shown)
		}, "Bearer tok"},
		{"a service account's token", func(i *azurev1.IdentityView) { i.Type = azurev1.IdentityWorkloadIdentity }, "Bearer tok"},
		{"the machine's own identity", func(i *azurev1.IdentityView) { i.Type = azurev1.IdentityUserAssignedMSI }, "Bearer vm"},
		{"a managed identity's certificate that is delivered in a file", func(i *azurev1.IdentityView) {
			i.Type, i.CredentialsPath = azurev1.IdentityUserAssignedIdentityCredential, file("delivered.json", string(deliveredFile))
		}, "Bearer tok"},
	} {
		i := principal()
		c.change(i)
		st := newStandAt(t, "", microsoft())
		if err := st.get(t, i); err != nil {
			t.Errorf("%s: want the call to succeed, got %v", c.reason, err)
			continue
		}
		if got := st.by[len(st.by)-1]; got != c.by {
			t.Errorf("%s: want to ask with %q, got %q", c.reason, c.by, got)
		}
		st.take()
		if err := st.get(t, i); err != nil {
			t.Errorf("%s: %v", c.reason, err)
		}
		if diff := cmp.Diff([]string{opGet}, st.take()); diff != "" {
			t.Errorf("%s: want the token kept for the next call (-want +got):\n%s", c.reason, diff)
		}
	}
}

// TestUnusableIdentities holds that what no token can be got with is said in the name of its object, and that nothing secret is shown.
func TestUnusableIdentities(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(status int, body string) map[string]answer {
		answers := microsoft()
		answers["POST "+login] = answer{status: status, body: body}
		return answers
	}
	for _, c := range []struct {
		reason  string
		change  func(*azurev1.IdentityView)
		answers map[string]answer
		want    cloud.Error
	}{
		{
			"a password that has ended; trace, correlation and time differ each time", func(*azurev1.IdentityView) {},
			refused(401, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app 'tenants-s3cret-0123456789'.\r\nTrace ID: 6f6c4645-0202-4486-b625-fa957dfc4700\r\nCorrelation ID: 5fc87507-4086-4e77-b415-cee677eb232e\r\nTimestamp: 2023-05-06 06:03:00Z","error_codes":[7000215],"timestamp":"2023-05-06 06:03:00Z","error_uri":"https://login.microsoftonline.com/error?code=7000215"}`),
			cloud.Error{Kind: cloud.Denied, Op: "login:GetToken", Code: "AADSTS7000215",
				Message: "Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client " +
					"secret ID, for a secret added to app '(hidden)'."},
		},
		{
			"the authority that issues tokens is down", func(*azurev1.IdentityView) {},
			refused(503, `{"error":"temporarily_unavailable","error_description":"AADSTS90033: A transient error has occurred. Please try again."}`),
			cloud.Error{Kind: cloud.Unavailable, Op: "login:GetToken", Code: "AADSTS90033",
				Message: "A transient error has occurred. Please try again."},
		},
		{
			"a key without its certificate", func(i *azurev1.IdentityView) {
				i.Type = azurev1.IdentityServicePrincipalCertificate
				i.Secret = common.NewSecret(string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: alone})))
			}, microsoft(),
			cloud.Error{Kind: cloud.Denied, Code: "NoCredentials",
				Message: "no certificate with its private key was found: want both, in PEM or in PKCS#12 without a password"},
		},
		{
			"an unknown type", func(i *azurev1.IdentityView) { i.Type = "Passport" }, microsoft(),
			cloud.Error{Kind: cloud.Denied, Code: "NoCredentials", Message: `there is no type "Passport" of identity`},
		},
		{
			"a file that is not there", func(i *azurev1.IdentityView) {
				i.Type, i.CertPath = azurev1.IdentityServicePrincipalCertificate, "/nonexistent/cert.pem"
			}, microsoft(),
			cloud.Error{Kind: cloud.Denied, Code: "NoCredentials",
				Message: "the identity's file can't be read: open /nonexistent/cert.pem: no such file or directory"},
		},
		{
			"a file that is not named", func(i *azurev1.IdentityView) { i.Type = azurev1.IdentityUserAssignedIdentityCredential }, microsoft(),
			cloud.Error{Kind: cloud.Denied, Code: "NoCredentials",
				Message: "the identity names no file with credentials: set spec.userAssignedIdentityCredentialsPath"},
		},
	} {
		i := principal()
		c.change(i)
		st := newStandAt(t, "", c.answers)
		var got *cloud.Error
		made, err := st.Of(t.Context(), azurev1.ClusterView{SubscriptionID: subscription, Location: "westus2", Identity: i})
		if err == nil {
			_, err = made.ScaleSets.Get(t.Context(), "capz", "capz-mp-0", nil)
			err = Refusal(err, st.at)
		}
		if !errors.As(err, &got) {
			t.Errorf("%s: want a refusal, got %v", c.reason, err)
			continue
		}
		if c.want.Kind == cloud.Denied {
			c.want.Field = i.Name
		}
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

// TestAFreshCertificateIsUsed holds that what is kept fresh in a file is read again, and only then.
func TestAFreshCertificateIsUsed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cert.pem")
	reads := 0
	f := &fromFile{path: path, read: func(data []byte) (azcore.TokenCredential, error) {
		reads++
		if len(data) == 0 {
			return nil, errors.New("empty")
		}
		return stated{name: string(data), now: time.Now}, nil
	}}
	if _, err := f.now(); err == nil {
		t.Error("want a file that is not there refused")
	}
	for _, c := range []struct {
		reason, content string
		reads           int
		err             bool
	}{
		{"the first", "a", 1, false}, {"the same again", "a", 1, false}, {"another", "b", 2, false}, {"half written", "", 3, true},
		{"written", "c", 4, false},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.now(); (err != nil) != c.err || reads != c.reads {
			t.Errorf("%s: want %d readings and an error: %v, got %d, %v", c.reason, c.reads, c.err, reads, err)
		}
	}
}

// TestPlainHTTPCarriesNoCredential holds that a simulator is told who asks, in clear, and is sent nothing that is of use elsewhere.
func TestPlainHTTPCarriesNoCredential(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"GET " + endpoint: {status: 200, body: "{}"}})
	for _, i := range []*azurev1.IdentityView{nil, principal()} {
		if err := st.get(t, i); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"Bearer simulated:controller", "Bearer simulated:AzureClusterIdentity/ns/a"}, st.by); diff != "" {
		t.Errorf("who asked (-want +got):\n%s", diff)
	}
}

// TestRotation holds that a rotated secret makes a new session, that the old one is not kept, and that both share their budgets.
func TestRotation(t *testing.T) {
	t.Parallel()
	st := newStand(t, nil)
	before, after := principal(), principal()
	after.Secret = common.NewSecret("another")
	first := st.session(t, before)
	if again := st.session(t, before); again != first {
		t.Error("want one session for one identity")
	}
	if second := st.session(t, after); second == first || second.Key == first.Key {
		t.Error("want another session for another secret")
	}
	if st.session(t, nil).Key == first.Key {
		t.Error("want the controller to have its own session")
	}
	if len(st.made) != 2 || len(st.transports) != 1 {
		t.Errorf("want two sessions over one transport, got %d over %d", len(st.made), len(st.transports))
	}
}

// TestClouds holds where requests of each cloud go, and what a cluster must say.
func TestClouds(t *testing.T) {
	t.Setenv(SubscriptionVariable, "")
	sessions, err := New(Options{Credential: func(of azcloud.Configuration, _ *azurev1.IdentityView) (azcore.TokenCredential, error) {
		return stated{name: of.ActiveDirectoryAuthorityHost, now: time.Now}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for environment, want := range map[string]string{
		"":                       "https://management.azure.com",
		"AzurePublicCloud":       "https://management.azure.com",
		"AzureUSGovernmentCloud": "https://management.usgovcloudapi.net",
		"AzureChinaCloud":        "https://management.chinacloudapi.cn",
	} {
		made, err := sessions.Of(t.Context(), azurev1.ClusterView{SubscriptionID: subscription, Environment: environment})
		if err != nil {
			t.Fatal(err)
		}
		if got := made.arm.Endpoint(); got != want {
			t.Errorf("%q: want %s, got %s", environment, want, got)
		}
	}
	for _, c := range []struct {
		reason, field string
		cluster       azurev1.ClusterView
	}{
		{"a cloud that is unknown", "spec.azureEnvironment", azurev1.ClusterView{SubscriptionID: subscription, Environment: "AzureGermanCloud"}},
		{"no subscription", "spec.subscriptionID", azurev1.ClusterView{}},
	} {
		var got *cloud.Error
		if _, err := sessions.Of(t.Context(), c.cluster); !errors.As(err, &got) || got.Kind != cloud.Invalid || got.Field != c.field {
			t.Errorf("%s: want %s refused, got %v", c.reason, c.field, err)
		}
	}
	t.Setenv(SubscriptionVariable, subscription)
	if made, err := sessions.Of(t.Context(), azurev1.ClusterView{}); err != nil || made.SubscriptionID != subscription {
		t.Errorf("want the controller's own subscription, got %v, %v", made, err)
	}
	for _, address := range []string{"arm.example", "ftp://arm.example", "https://"} {
		if _, err := New(Options{Endpoint: address}); err == nil {
			t.Errorf("want %q refused as an address", address)
		}
	}
}

// TestNoTokenGoesAstray holds that an address out of a reply or out of an object leads to Azure or nowhere.
func TestNoTokenGoesAstray(t *testing.T) {
	t.Parallel()
	st := newStandAt(t, "", microsoft())
	session := st.session(t, principal())
	st.take()
	for _, address := range []string{
		"https://evil.example/subscriptions/x", "https://evil.example/x", "https://management.azure.com.evil.example/subscriptions/x",
		"https://evilmanagement.azure.com/x", "https://management.azure.com@evil.example/x",
	} {
		token := fmt.Sprintf(`{"type":"x","token":{"asyncURL":%q}}`, address)
		if _, err := session.Poll(t.Context(), token, st.at); cloud.KindOf(err) != cloud.Denied {
			t.Errorf("%s: want the request refused, got %v", address, err)
		}
	}
	if calls := slices.DeleteFunc(st.take(), func(call string) bool { return strings.HasPrefix(call, serviceLogin) }); len(calls) > 0 {
		t.Errorf("want nothing sent, got %v", calls)
	}
	for _, regional := range []string{"https://westus2.management.azure.com/subscriptions/x/providers/Microsoft.Compute/locations/westus2/" +
		"operations/o"} {
		token := fmt.Sprintf(`{"type":"x","token":{"asyncURL":%q}}`, regional)
		if _, err := session.Poll(t.Context(), token, st.at); err != nil && cloud.KindOf(err) == cloud.Denied {
			t.Errorf("want Azure's own regional addresses asked, got %v", err)
		}
	}
}

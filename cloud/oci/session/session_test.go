package session

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
)

// TestIdentities: what is wrong with an identity or a cluster is told by its field, and never by what a Secret holds.
func TestIdentities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		change func(*ociv1.ClusterView)
		words  string
	}{
		{"the controller has none", func(v *ociv1.ClusterView) { v.Identity = nil }, ""},
		{"the tenancy", func(v *ociv1.ClusterView) { v.Identity.Tenancy = "hidden" }, "tenancy"},
		{"the user", func(v *ociv1.ClusterView) { v.Identity.User = "hidden" }, "user"},
		{"the fingerprint", func(v *ociv1.ClusterView) { v.Identity.KeyFingerprint = "hidden" }, "fingerprint"},
		{"the key", func(v *ociv1.ClusterView) { v.Identity.PrivateKey = common.NewSecret("hidden") }, "key"},
		{"the type", func(v *ociv1.ClusterView) { v.Identity.Type = "hidden" }, "spec.type"},
		{"no region", func(v *ociv1.ClusterView) { v.Region = "" }, "spec.region"},
		{"a region that leads elsewhere", func(v *ociv1.ClusterView) { v.Region = "evil.example/#" }, "spec.region"},
		{"plain HTTP", func(v *ociv1.ClusterView) { v.Endpoints.ContainerEngine = "http://e.example" }, "containerEngineClientUrl"},
		{"an address with a password", func(v *ociv1.ClusterView) { v.Endpoints.ComputeManagement = "https://a:b@e.example" },
			"computeManagementClientUrl"},
		{"an address with a path", func(v *ociv1.ClusterView) { v.Endpoints.ContainerEngine = "https://e.example/x" },
			"containerEngineClientUrl"},
	} {
		sessions, _ := with(t, Options{}, reply{})
		v := view()
		c.change(&v)
		_, err := sessions.Of(v)
		if c.words == "" && err != nil || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("%s: want %q named, got %v", c.reason, c.words, err)
		}
		if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), "spec.type", ""), "hidden") {
			t.Errorf("%s: want nothing shown, got %v", c.reason, err)
		}
	}
	if _, err := New(Options{Endpoint: "http://api.example"}); err == nil {
		t.Error("want plain HTTP refused where a token could be read on its way")
	}
}

// TestPublicAddresses: the services of a region are where Oracle has them, and a tenant does not reach the controller's own machine.
func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	s := &script{replies: []reply{{body: "[]"}}}
	sessions, err := New(Options{Base: s})
	if err != nil {
		t.Fatal(err)
	}
	v := view()
	v.Region = "us-phoenix-1"
	made, err := sessions.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := made.NodePools(t.Context(), compartment, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := made.InstancePools(t.Context(), compartment, 0); err != nil {
		t.Fatal(err)
	}
	for n, host := range []string{"containerengine.us-phoenix-1.oci.oraclecloud.com", "iaas.us-phoenix-1.oraclecloud.com"} {
		if got := s.sent[n].URL.Host; got != host || s.sent[n].URL.Scheme != "https" {
			t.Errorf("want %s, got %s", host, s.sent[n].URL)
		}
	}
	v.Endpoints.ContainerEngine = "https://127.0.0.1:6443"
	if _, err := sessions.Of(v); err == nil || !strings.Contains(err.Error(), "controller's own machine") {
		t.Errorf("want an address of the controller's machine refused, got %v", err)
	}
	v.Endpoints.ContainerEngine, v.Certificates = "https://oke.example", "none"
	if other, err := sessions.Of(v); err != nil || other.Key == made.Key {
		t.Errorf("want another session for another address, got %v", err)
	}
}

// TestCertificates: an authority that is none is told by its field.
func TestCertificates(t *testing.T) {
	t.Parallel()
	sessions, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := view()
	v.Certificates = "none"
	if _, err := sessions.Of(v); err == nil || !strings.Contains(err.Error(), "certOverride") {
		t.Errorf("want the certificates named, got %v", err)
	}
}

// TestSessions: one session for each place and identity, and another one once its key has changed.
func TestSessions(t *testing.T) {
	t.Parallel()
	sessions, sent := with(t, Options{}, reply{body: "[]"})
	first, err := sessions.Of(view())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sessions.Of(view()); err != nil || again != first {
		t.Errorf("want the same session again, got another one, %v", err)
	}
	if _, _, err := first.NodePools(t.Context(), compartment, 0); err != nil {
		t.Fatal(err)
	}
	if got := sent.sent[0].Header.Get("Authorization"); !strings.Contains(got,
		`keyId="ocid1.tenancy.oc1..aaaa/ocid1.user.oc1..bbbb/20:3b:97"`) {
		t.Errorf("want the request signed by the user, got %s", got)
	}
	v := view()
	v.Identity.PrivateKey, v.Identity.KeyFingerprint = common.NewSecret(pemOf(newKey())), "20:3b:98"
	if rotated, err := sessions.Of(v); err != nil || rotated == first || rotated.Key == first.Key {
		t.Errorf("want another session for another key, got the same, %v", err)
	}
	v.Region = "eu-frankfurt-1"
	if other, err := sessions.Of(v); err != nil || other.Region != "eu-frankfurt-1" {
		t.Errorf("want another session for another region, got %+v, %v", other, err)
	}
}

// TestOwnCredentials: the controller's own are the files of a directory, which are read again.
func TestOwnCredentials(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(files map[string]string) {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	at := now
	sessions, sent := with(t, Options{Directory: dir, Now: func() time.Time { return at }}, reply{body: "[]"})
	key := func(session *Session) string {
		t.Helper()
		if _, _, err := session.NodePools(t.Context(), compartment, 0); err != nil {
			t.Fatal(err)
		}
		_, id, _ := strings.Cut(sent.sent[len(sent.sent)-1].Header.Get("Authorization"), `keyId="`)
		id, _, _ = strings.Cut(id, `"`)
		return id
	}
	v := view()
	v.Identity, v.Region = nil, ""
	of := func() *Session {
		t.Helper()
		made, err := sessions.Of(v)
		if err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
		return made
	}
	if got := key(of()); !strings.Contains(got, "simulated") {
		t.Errorf("want a key for the simulator, got %s", got)
	}
	write(map[string]string{"tenancy": "ocid1.tenancy.oc1..t", "user": "ocid1.user.oc1..u", "fingerprint": "01:02", "region": "uk-london-1",
		"key": pemOf(private())})
	user := of()
	if got := key(user); got != "ocid1.tenancy.oc1..t/ocid1.user.oc1..u/01:02" || user.Region != "uk-london-1" {
		t.Errorf("want the user of the files in their region, got %s in %s", got, user.Region)
	}
	write(map[string]string{"useSessionToken": "true", "sessionToken": "a.b.c", "sessionPrivateKey": pemOf(private())})
	if got := key(of()); got != "ST$a.b.c" {
		t.Errorf("want the token of a session, got %s", got)
	}
	write(map[string]string{"useSessionToken": "false", "key": "broken"})
	if _, err := sessions.Of(v); err == nil || !strings.Contains(err.Error(), "controller: NoCredentials: key") {
		t.Errorf("want the key told, got %v", err)
	}
	production, err := New(Options{Base: http.DefaultTransport, Directory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := production.Of(v); err == nil || !strings.Contains(err.Error(), "identityRef") {
		t.Errorf("want it told that there are no credentials, got %v", err)
	}
}

// TestSessionsOfATenant: a tenant who names ever other addresses does not fill the memory, and others keep their sessions.
func TestSessionsOfATenant(t *testing.T) {
	t.Parallel()
	sessions, _ := with(t, Options{}, reply{})
	other := view()
	identity := *other.Identity
	identity.Name, other.Identity = "OCIClusterIdentity/default/other", &identity
	kept, err := sessions.Of(other)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 3 * maxPlaces {
		tenant := view()
		tenant.Endpoints.ComputeManagement = fmt.Sprintf("https://%d.example.com", k)
		if _, err := sessions.Of(tenant); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(sessions.made); n > maxPlaces+1 {
		t.Errorf("want at most %d sessions, got %d", maxPlaces+1, n)
	}
	if again, err := sessions.Of(other); err != nil || again != kept {
		t.Errorf("want another identity's session kept, got %v", err)
	}
}

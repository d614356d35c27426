package session

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
)

const tokenURI = "http://127.0.0.1:9/token"

// key is the document of a service account.
func key(t *testing.T, with map[string]any) Credentials {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	document := map[string]any{
		"type": "service_account", "client_email": "muster@simulated-project.iam.gserviceaccount.com", "private_key_id": "1",
		"token_uri":   tokenURI,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})),
	}
	for name, value := range with {
		document[name] = value
	}
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return Credentials{Name: "ns/key", JSON: common.NewSecret(string(data))}
}

var (
	granted = answer{status: 200, body: `{"access_token":"t1","token_type":"Bearer","expires_in":3600}`}
	present = answer{status: 200, body: `{"name":"c1-mp"}`}
)

func TestOneTokenForAllCalls(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"POST " + tokenURI: granted, "GET " + group: present})
	c := key(t, map[string]any{"quota_project_id": "billed"})
	for range 3 {
		if err := st.get(t, c); err != nil {
			t.Fatal(err)
		}
	}
	by, quota := st.by, st.quota
	if got := strings.Join(st.take(), " "); strings.Count(got, opToken) != 1 || len(by) != 4 {
		t.Errorf("want one token for three calls, got %s", got)
	}
	if by[1] != "Bearer t1" || quota[1] != "billed" || by[0] != "" {
		t.Errorf("want the token and the project whose quota counts, got %q and %q", by, quota)
	}
	if other := st.session(t, key(t, nil)); other.Key == st.session(t, c).Key {
		t.Error("want another session for other credentials")
	}
}

// TestRotatedCredentials holds that credentials which were rotated take the place of the earlier ones, however often that happens.
func TestRotatedCredentials(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"POST " + tokenURI: granted, "GET " + group: present})
	c := key(t, nil)
	for n := range 5 {
		c.JSON = common.NewSecret(strings.Replace(c.JSON.Expose(), "{", fmt.Sprintf(`{"rotation":%d,`, n), 1))
		if err := st.get(t, c); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(st.take(), " "); !strings.Contains(got, opToken) {
			t.Errorf("want a token of the new credentials, got %s", got)
		}
	}
	if len(st.tokens) != 1 || len(st.made) != 1 {
		t.Errorf("want the last credentials kept alone, got %d of %d sessions", len(st.tokens), len(st.made))
	}
}

func TestRefusedTokenIsDropped(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"POST " + tokenURI: granted,
		"GET " + group: {status: 401, body: `{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED","errors":[{"reason":"authError"}]}}`}})
	c := key(t, nil)
	if err := st.get(t, c); cloud.KindOf(err) != cloud.Denied {
		t.Fatalf("want the call denied, got %v", err)
	}
	st.answers["GET "+group] = present
	if err := st.get(t, c); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(st.take(), " "); strings.Count(got, opToken) != 2 {
		t.Errorf("want another token after the refusal, got %s", got)
	}
}

func TestRefusedCredentials(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{"POST " + tokenURI: {status: 400,
		body: `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`}})
	err := st.get(t, key(t, nil))
	if want := "ns/key: invalid_grant: Invalid JWT Signature."; cloud.KindOf(err) != cloud.Denied || !strings.HasSuffix(err.Error(), want) ||
		cloud.OpOf(err) != opToken {
		t.Errorf("want %s, got %v", want, err)
	}
	for _, c := range []struct{ why, json, want string }{
		{"no document", "x", "no JSON object with a type"},
		{"a program of the controller", `{"type":"external_account","credential_source":{"executable":{"command":"/bin/x"}}}`,
			"credential_source.executable would run a program"},
		{"another address", `{"type":"external_account","token_url":"https://evil.example/token"}`, "no address of Google's"},
		{"another type", `{"type":"gdch_service_account"}`, `type "gdch_service_account" is not supported`},
		{"an incomplete document", `{"type":"impersonated_service_account"}`, "not complete"},
	} {
		secure := newStand(t, nil, func(o *Options) { o.Endpoint = "https://gcp.example" })
		err := secure.get(t, Credentials{Name: "ns/key", JSON: common.NewSecret(c.json)})
		if cloud.KindOf(err) != cloud.Denied || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.why, c.want, err)
		}
		if calls := secure.take(); len(calls) != 0 {
			t.Errorf("%s: want no call, got %v", c.why, calls)
		}
	}
}

// TestAddressesOfTheMachine holds that the credentials of a cluster lead the controller to nothing that listens on its own machine, unless
// Google's services are simulated there: neither by an address nor by a redirect.
func TestAddressesOfTheMachine(t *testing.T) {
	t.Parallel()
	const (
		subject  = "http://127.0.0.1:9/subject"
		exchange = "http://127.0.0.1:9/sts"
		outside  = "https://identity.example/subject"
		googles  = "https://sts.googleapis.com/v1/token"
	)
	external := func(tokens, source string) string {
		return `{"type":"external_account","audience":"//iam.googleapis.com/p","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",` +
			`"token_url":"` + tokens + `","credential_source":{` + source + `}}`
	}
	simulated := newStand(t, map[string]answer{
		"GET " + subject: {status: 200, body: "proof"}, "GET " + group: present,
		"POST " + exchange: {status: 200, body: `{"access_token":"t1","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer","expires_in":3600}`},
	})
	if err := simulated.get(t, Credentials{Name: "ns/key", JSON: common.NewSecret(external(exchange, `"url":"`+subject+`"`))}); err != nil {
		t.Fatalf("want the external account of a simulated world used, got %v", err)
	}
	if got := simulated.by[len(simulated.by)-1]; got != "Bearer t1" {
		t.Errorf("want the token that was exchanged, got %q", got)
	}
	for _, c := range []struct {
		why, json, want string
		sent            int
	}{
		{"tokens of the machine", external(exchange, `"file":"/dev/null"`), `token_url "` + exchange + `" is no address of Google's`, 0},
		{"tokens of the machine for a key", key(t, nil).JSON.Expose(), `token_uri "` + tokenURI + `" is no address of Google's`, 0},
		{"a proof of the machine", external(googles, `"url":"`+subject+`"`),
			`credential_source.url "` + subject + `" is an address of the controller's own machine`, 0},
		{"a region of the machine", external(googles, `"environment_id":"aws1","url":"`+outside+`","region_url":"https://[::1]/region"`),
			"credential_source.region_url", 0},
		{"a session of the machine", external(googles, `"environment_id":"aws1","imdsv2_session_token_url":"http://localhost/token"`),
			"credential_source.imdsv2_session_token_url", 0},
		{"behind another account", `{"type":"impersonated_service_account","source_credentials":` + external(googles,
			`"url":"`+subject+`"`) + `}`, "credential_source.url", 0},
		{"a redirect to the machine", external(googles, `"url":"`+outside+`"`), "no reply", 1},
	} {
		st := newStand(t, map[string]answer{"GET " + outside: {status: 302, header: map[string]string{"Location": subject}},
			"GET " + subject: {status: 200, body: "proof"}},
			func(o *Options) { o.Endpoint = "https://gcp.example" })
		err := st.get(t, Credentials{Name: "ns/key", JSON: common.NewSecret(c.json)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.why, c.want, err)
		}
		if calls := st.take(); len(calls) != c.sent {
			t.Errorf("%s: want %d calls, got %v", c.why, c.sent, calls)
		}
	}
}

// TestNoRealTokenInClear holds that who has no credentials of this machine says in clear who asks.
func TestNoRealTokenInClear(t *testing.T) {
	t.Setenv(fileVariable, "")
	st := newStand(t, map[string]answer{"GET " + group: present})
	for name, c := range map[string]Credentials{"controller": {},
		"ns/key": key(t, map[string]any{"token_uri": "https://oauth2.googleapis.com/token"})} {
		if err := st.get(t, c); err != nil {
			t.Fatal(err)
		}
		if got := st.by[0]; got != "Bearer simulated:"+name {
			t.Errorf("want %s named in clear, got %q", name, got)
		}
		st.take()
	}
}

func TestControllersOwnCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, []byte(key(t, nil).JSON.Expose()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(fileVariable, file)
	t.Setenv(ProjectVariable, project)
	st := newStand(t, map[string]answer{"POST " + tokenURI: granted, "GET " + group: present})
	if err := st.get(t, Credentials{}); err != nil {
		t.Fatal(err)
	}
	if st.by[1] != "Bearer t1" {
		t.Errorf("want a token of the file's account, got %q", st.by)
	}
	in, err := st.Of(t.Context(), Access{})
	if err != nil || in.Project != project {
		t.Errorf("want the environment's project, got %v, %v", in, err)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	st := newStand(t, nil)
	for _, c := range []struct{ address, want string }{
		{"https://compute.internal", "https://compute.internal/compute/v1/"},
		{"https://compute.internal/compute/v1/", "https://compute.internal/compute/v1/"},
		{"http://127.0.0.1:80", "http://127.0.0.1:80/compute/v1/"},
		{"http://compute.internal", ""},
		{"compute.internal", ""},
		{"https://user@compute.internal", ""},
	} {
		in, err := st.Of(t.Context(), Access{Project: project, Compute: c.address})
		if c.want == "" {
			if cloud.KindOf(err) != cloud.Invalid {
				t.Errorf("%s: want it refused, got %v", c.address, err)
			}
			continue
		}
		if err != nil || in.Compute.BasePath != c.want {
			t.Errorf("%s: want %s, got %v, %v", c.address, c.want, in, err)
		}
	}
	outside := newStand(t, nil, func(o *Options) { o.Endpoint = "" })
	for _, address := range []string{"http://127.0.0.1:80", "https://localhost", "https://[::1]:8443"} {
		_, err := outside.Of(t.Context(), Access{Project: project, Container: address})
		if cloud.KindOf(err) != cloud.Invalid || !strings.Contains(err.Error(), "address of the controller's own machine") {
			t.Errorf("%s: want it refused where no services are simulated, got %v", address, err)
		}
	}
	if _, err := New(Options{Endpoint: "http://gcp.example"}); err == nil {
		t.Error("want plain HTTP to another machine refused")
	}
}

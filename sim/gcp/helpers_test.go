package gcp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/test/specs"
)

type doc = document.Object

const (
	base   = "/compute/v1/projects/simulated-project"
	zone   = "us-central1-b"
	groups = base + "/zones/" + zone + "/instanceGroupManagers"
)

// world is a simulated cloud in virtual time with a client for it.
type world struct {
	*testing.T
	*gcp.Cloud
	host *host
	// bearer is what the client signs in with.
	bearer string
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, o gcp.Options, f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, host: &host{on: map[string]sim.Machine{}}, bearer: "anything"}
		if o.MachineHost == nil {
			o.MachineHost = w.host
		}
		if o.Limits == nil {
			o.Limits = gcp.Limits{}
		}
		c, err := gcp.New(o)
		if err != nil {
			t.Fatal(err)
		}
		w.Cloud = c
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

// host keeps the machines that are on.
type host struct {
	mu sync.Mutex
	on map[string]sim.Machine
}

func (h *host) PowerOn(m sim.Machine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on[m.ID] = m
}

func (h *host) PowerOff(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.on, id)
}

func (h *host) Console(string) []byte { return nil }

// machines returns the machines that are on, by their names.
func (h *host) machines() map[string]sim.Machine {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]sim.Machine{}
	for _, m := range h.on {
		name, _, _ := strings.Cut(m.Hostname, ".")
		out[name] = m
	}
	return out
}

// checked returns a transport to the simulator that holds its answers against what Google publishes.
func (w *world) checked() http.RoundTripper {
	return specs.Google().Watch(sim.Transport{Handler: w.Cloud}, func(err error) { w.Errorf("want answers as published: %v", err) })
}

// ask sends a request and returns the status and the body of the answer.
func (w *world) ask(method, path string, body any) (int, doc) {
	w.Helper()
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			w.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(w.Context(), method, "http://google.sim"+path, bytes.NewReader(b))
	if err != nil {
		w.Fatal(err)
	}
	if w.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+w.bearer)
	}
	resp, err := w.checked().RoundTrip(r)
	if err != nil {
		w.Fatal(err)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	d := doc{}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(raw, &d); err != nil {
			w.Fatal(err)
		}
	}
	return resp.StatusCode, d
}

// do sends a request that has to succeed.
func (w *world) do(method, path string, body any) doc {
	w.Helper()
	status, d := w.ask(method, path, body)
	if status != http.StatusOK {
		w.Fatalf("%s %s: want 200, got %d %v", method, path, status, d)
	}
	return d
}

func (w *world) get(path string) doc { w.Helper(); return w.do(http.MethodGet, path, nil) }

// refused sends a request that has to be refused with a status and a reason, and returns the message.
func (w *world) refused(method, path string, body any, status int, reason string) string {
	w.Helper()
	got, d := w.ask(method, path, body)
	errors := document.Objects(d, "error.errors")
	if got != status || len(errors) == 0 || document.Text(errors[0], "reason") != reason {
		w.Fatalf("%s %s: want %d %s, got %d %v", method, path, status, reason, got, d)
	}
	return document.Text(d, "error.message")
}

// rest lets time pass.
func (w *world) rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// template creates a template and returns its URL.
func (w *world) template(name string, changes ...func(doc)) string {
	w.Helper()
	d := compute.Example(name)
	document.Place(d, "properties.metadata.items", []any{doc{"key": "user-data", "value": "#cloud-config " + name}})
	document.Place(d, "properties.labels", doc{"owner": "me"})
	for _, c := range changes {
		c(d)
	}
	return document.Text(w.do(http.MethodPost, base+"/global/instanceTemplates", d), "targetLink")
}

// group creates a zonal group of a size from a template.
func (w *world) group(name, template string, size int, changes ...func(doc)) doc {
	w.Helper()
	d := doc{"name": name, "baseInstanceName": name, "instanceTemplate": template, "targetSize": size}
	for _, c := range changes {
		c(d)
	}
	return w.do(http.MethodPost, groups, d)
}

// managed lists the instances of a group by their names.
func (w *world) managed(path string) map[string]doc {
	w.Helper()
	out := map[string]doc{}
	for _, m := range document.Objects(w.do(http.MethodPost, path+"/listManagedInstances", nil), "managedInstances") {
		out[document.Text(m, "name")] = m
	}
	return out
}

// check fails where two values differ.
func check[T comparable](w *world, what string, want, got T) {
	w.Helper()
	if want != got {
		w.Errorf("%s: want %v, got %v", what, want, got)
	}
}

// keys returns the keys of a map in order.
func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

const minute = time.Minute

// signIn gets a token for a service account.
func (w *world) signIn(email string) string {
	w.Helper()
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString([]byte(document.Written(v))) }
	assertion := part(doc{"alg": "RS256"}) + "." + part(doc{"iss": email, "exp": time.Now().Add(time.Hour).Unix()}) + ".c2ln"
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	r, err := http.NewRequestWithContext(w.Context(), http.MethodPost, "http://google.sim/token", strings.NewReader(form.Encode()))
	if err != nil {
		w.Fatal(err)
	}
	resp, err := sim.Transport{Handler: w.Cloud}.RoundTrip(r)
	if err != nil {
		w.Fatal(err)
	}
	d := doc{}
	if err := json.NewDecoder(resp.Body).Decode(&d); err != nil {
		w.Fatal(err)
	}
	return document.Text(d, "access_token")
}

package oci_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/test/specs"
)

const (
	atPools = "/20180222/nodePools"
	keyID   = oci.Tenancy + "/ocid1.user.oc1..me/aa:bb"
	bits    = 2048
)

type doc = document.Object

// newKey returns a key pair.
func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return key
}

// private is the key of all clients.
var private = sync.OnceValue(newKey)

// client sends signed requests to a simulated cloud that has an enhanced cluster, and holds requests and answers against what is published.
type client struct {
	*testing.T
	*oci.Cloud
	cluster string
	// sign changes a request before it is signed, spoil afterwards.
	keyID       string
	key         *rsa.PrivateKey
	sign, spoil func(*http.Request)
	// raw leaves out the comparison with what is published.
	raw bool
}

func inCloud(t *testing.T, o oci.Options, test func(*client)) {
	t.Helper()
	t.Parallel()
	key := private()
	synctest.Test(t, func(t *testing.T) {
		o.Speed = 1
		if o.Keys == nil {
			o.Keys = []oci.Key{{ID: keyID, Public: &key.PublicKey}}
		}
		made, err := oci.New(o)
		if err != nil {
			t.Fatal(err)
		}
		k := &client{T: t, Cloud: made, keyID: keyID, key: key}
		defer func() { _ = k.Close() }()
		shown, err := k.PutCluster(oci.Access{Name: "c", Version: "1.34.2"})
		if err != nil {
			t.Fatal(err)
		}
		k.cluster = document.Text(shown, "id")
		pass(10 * time.Minute)
		test(k)
	})
}

func pass(d time.Duration) { <-time.After(d) }

// request returns a signed request.
func (k *client) request(method, path string, body any) (*http.Request, string) {
	k.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		k.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	req, err := http.NewRequest(method, "https://containerengine.us-ashburn-1.oci.oraclecloud.com"+path, bytes.NewReader(text))
	if err != nil {
		k.Fatal(err)
	}
	req.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if k.sign != nil {
		k.sign(req)
	}
	names := []string{"date", "(request-target)", "host"}
	if method == http.MethodPost || method == http.MethodPut {
		sum := sha256.Sum256(text)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Content-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
		names = append(names, "content-length", "content-type", "x-content-sha256")
	}
	values := map[string]string{"(request-target)": strings.ToLower(method) + " " + req.URL.RequestURI(), "host": req.URL.Host,
		"content-length": fmt.Sprint(len(text))}
	var lines []string
	for _, name := range names {
		value, special := values[name]
		if !special {
			value = req.Header.Get(name)
		}
		lines = append(lines, name+": "+value)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	signature, err := rsa.SignPKCS1v15(nil, k.key, crypto.SHA256, sum[:])
	if err != nil {
		k.Fatal(err)
	}
	req.Header.Set("Authorization", fmt.Sprintf(`Signature version="1",headers="%s",keyId="%s",algorithm="rsa-sha256",signature="%s"`,
		strings.Join(names, " "), k.keyID, base64.StdEncoding.EncodeToString(signature)))
	if k.spoil != nil {
		k.spoil(req)
	}
	return req, string(text)
}

// ask sends a request and returns the reply with its body.
func (k *client) ask(method, path string, body any) (*http.Response, []byte) {
	k.Helper()
	req, text := k.request(method, path, body)
	reply, err := sim.Transport{Handler: k.Cloud}.RoundTrip(req)
	if err != nil {
		k.Fatal(err)
	}
	defer reply.Body.Close()
	out, err := io.ReadAll(reply.Body)
	if err != nil {
		k.Fatal(err)
	}
	if k.raw {
		return reply, out
	}
	if err := specs.OCI().Request(req, text); err != nil && reply.StatusCode < http.StatusBadRequest {
		k.Errorf("%s %s %s is accepted: %v", method, path, text, err)
	}
	if reply.StatusCode < http.StatusBadRequest {
		if err := specs.OCI().Answer(req, text, reply, out); err != nil {
			k.Errorf("%s %s: %v in %.1000s", method, path, err, out)
		}
	}
	if reply.Header.Get("Opc-Request-Id") == "" {
		k.Errorf("%s %s: want an opc-request-id", method, path)
	}
	return reply, out
}

// get returns the resource at a path.
func (k *client) get(path string) doc {
	k.Helper()
	reply, text := k.ask(http.MethodGet, path, nil)
	out := doc{}
	if err := json.Unmarshal(text, &out); err != nil || reply.StatusCode != http.StatusOK {
		k.Fatalf("GET %s: %d %s", path, reply.StatusCode, text)
	}
	return out
}

// list returns the items of all pages of a list.
func (k *client) list(path string) (all []doc) {
	k.Helper()
	for page := ""; ; {
		reply, text := k.ask(http.MethodGet, path+page, nil)
		var items []doc
		if err := json.Unmarshal(text, &items); err != nil || reply.StatusCode != http.StatusOK {
			k.Fatalf("GET %s: %d %s", path+page, reply.StatusCode, text)
		}
		all = append(all, items...)
		next := reply.Header.Get("Opc-Next-Page")
		if next == "" {
			return all
		}
		page = "&page=" + next
	}
}

// ok sends a change that is accepted, and returns its work request.
func (k *client) ok(method, path string, body any) string {
	k.Helper()
	reply, text := k.ask(method, path, body)
	if reply.StatusCode != http.StatusAccepted || reply.Header.Get("Opc-Work-Request-Id") == "" || len(text) > 0 {
		k.Fatalf("%s %s %v: %d %s", method, path, body, reply.StatusCode, text)
	}
	return reply.Header.Get("Opc-Work-Request-Id")
}

// refused holds that a request is refused with a status and a code, and returns the message.
func (k *client) refused(status int, code, method, path string, body any) string {
	k.Helper()
	reply, text := k.ask(method, path, body)
	is := doc{}
	_ = json.Unmarshal(text, &is)
	if reply.StatusCode != status || is["code"] != code || document.Text(is, "message") == "" || len(is) != 2 {
		k.Errorf("%s %s %v: want %d %s, got %d %s", method, path, body, status, code, reply.StatusCode, text)
	}
	return document.Text(is, "message")
}

// body returns a request to create a node pool of a size in all availability domains.
func (k *client) body(size int, more doc) doc {
	var placements []any
	for _, domain := range oci.Domains() {
		placements = append(placements, doc{"availabilityDomain": domain, "subnetId": "ocid1.subnet.oc1.iad.s"})
	}
	body := doc{"name": "p", "compartmentId": oci.Compartment, "clusterId": k.cluster, "nodeShape": "VM.Standard.E4.Flex",
		"nodeSourceDetails": doc{"sourceType": "IMAGE", "imageId": k.image("", "X86_64")},
		"nodeConfigDetails": doc{"size": size, "placementConfigs": placements}}
	for name, value := range more {
		document.Place(body, name, value)
	}
	return body
}

// image returns the first image for a version and an architecture.
func (k *client) image(version, arch string) string {
	k.Helper()
	options := k.get("/20180222/nodePoolOptions/" + k.cluster + "?nodePoolOsArch=" + arch + "&nodePoolK8sVersion=" + version)
	return document.Text(document.Objects(options, "sources")[0], "imageId")
}

// create creates a node pool and returns its path.
func (k *client) create(size int, more doc) string {
	k.Helper()
	work := k.ok(http.MethodPost, atPools, k.body(size, more))
	return atPools + "/" + document.Text(document.Objects(k.get("/20180222/workRequests/"+work), "resources")[0], "identifier")
}

// work returns the type and the status of a work request of either service.
func (k *client) work(id string) string {
	k.Helper()
	version := "20180222"
	if strings.HasPrefix(id, "ocid1.coreservicesworkrequest.") {
		version = "20160918"
	}
	is := k.get("/" + version + "/workRequests/" + id)
	return document.Text(is, "operationType") + " " + document.Text(is, "status")
}

// state returns the state of a pool with those of its nodes.
func (k *client) state(path string) string {
	k.Helper()
	is := k.get(path)
	states := []string{document.Text(is, "lifecycleState")}
	for _, n := range document.Objects(is, "nodes") {
		states = append(states, document.Text(n, "lifecycleState"))
	}
	return strings.Join(states, " ")
}

// want holds that a pool is in a state, with its nodes.
func (k *client) want(path, state string) {
	k.Helper()
	if is := k.state(path); is != state {
		k.Errorf("want the pool %s, got %s", state, is)
	}
}

// ids returns the IDs of the nodes of a pool.
func (k *client) ids(path string) (out []string) {
	k.Helper()
	for _, n := range document.Objects(k.get(path), "nodes") {
		out = append(out, document.Text(n, "id"))
	}
	return out
}

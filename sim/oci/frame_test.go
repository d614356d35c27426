package oci_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/rest"
)

const atClusters = "/20180222/clusters?compartmentId=" + oci.Compartment

// TestSignatures: what is signed otherwise than Oracle's SDKs sign it is not authenticated.
func TestSignatures(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		k.get("/20180222/clusters/" + k.cluster)
		for why, change := range map[string]func(){
			"no signature":        func() { k.spoil = func(r *http.Request) { r.Header.Del("Authorization") } },
			"another key":         func() { k.key = newKey() },
			"an unknown key":      func() { k.keyID = "a/b/c" },
			"another path":        func() { k.spoil = func(r *http.Request) { r.URL.RawQuery += "&limit=1" } },
			"a header not signed": func() { k.spoil = func(r *http.Request) { replace(r, "date (request-target)", "date") } },
			"another algorithm":   func() { k.spoil = func(r *http.Request) { replace(r, "rsa-sha256", "hmac-sha256") } },
			"a clock that is off": func() {
				k.sign = func(r *http.Request) {
					r.Header.Set("Date", time.Now().Add(6*time.Minute).UTC().Format(http.TimeFormat))
				}
			},
		} {
			key := k.key
			change()
			if message := k.refused(http.StatusUnauthorized, "NotAuthenticated", http.MethodGet, atClusters, nil); message == "" {
				t.Errorf("%s: want a message", why)
			}
			k.keyID, k.key, k.sign, k.spoil = keyID, key, nil, nil
		}
		k.spoil = func(r *http.Request) {
			r.Header.Set("X-Content-Sha256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
		}
		k.refused(http.StatusUnauthorized, "NotAuthenticated", http.MethodPost, atPools, doc{"name": "p"})
	})
}

func replace(r *http.Request, old, by string) {
	r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, by, 1))
}

// TestSecurityTokens: a session signs with its own key until its token expires, and has the permissions of its principal.
func TestSecurityTokens(t *testing.T) {
	key := private()
	inCloud(t, oci.Options{Keys: []oci.Key{{ID: keyID, Public: &key.PublicKey, Permissions: []string{"CLUSTER_INSPECT"}}}}, func(k *client) {
		session := newKey()
		token, err := k.SecurityToken(keyID, &session.PublicKey, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		k.keyID, k.key = "ST$"+token, session
		if got := len(k.list(atClusters)); got != 1 {
			t.Errorf("want one cluster, got %d", got)
		}
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, "/20180222/clusters/"+k.cluster, nil)
		if granted, denied := k.Asked(); granted["CLUSTER_INSPECT"] != 1 || denied["CLUSTER_READ"] != 1 {
			t.Errorf("want permissions counted, got %v and %v", granted, denied)
		}
		k.keyID = "ST$" + token[:len(token)-1]
		k.refused(http.StatusUnauthorized, "NotAuthenticated", http.MethodGet, atClusters, nil)
		k.keyID = "ST$" + token
		pass(time.Hour)
		k.refused(http.StatusUnauthorized, "NotAuthenticated", http.MethodGet, atClusters, nil)
	})
}

// TestRetryTokens: a request with a token has its effect once in a day, and what has changed since invalidates the token.
func TestRetryTokens(t *testing.T) {
	for _, on := range []sim.Switches{nil, {rest.TokenAlone}} {
		t.Run(strings.Join([]string{"switches"}, "")+string(append(on, "none")[0]), func(t *testing.T) {
			inCloud(t, oci.Options{Switches: on}, func(k *client) {
				k.sign = func(r *http.Request) { r.Header.Set("Opc-Retry-Token", "t1") }
				first := k.ok(http.MethodPost, atPools, k.body(1, nil))
				pass(10 * time.Minute)
				if again := k.ok(http.MethodPost, atPools, k.body(1, nil)); again != first {
					t.Errorf("want the work request %s again, got %s", first, again)
				}
				if on == nil {
					k.refused(http.StatusConflict, "InvalidatedRetryToken", http.MethodPost, atPools, k.body(2, nil))
				} else if again := k.ok(http.MethodPost, atPools, k.body(2, nil)); again != first {
					t.Errorf("want the work request %s again, got %s", first, again)
				}
				pool := atPools + "/" + document.Text(document.Objects(k.get("/20180222/workRequests/"+first), "resources")[0], "identifier")
				k.ok(http.MethodPut, pool, doc{"nodeConfigDetails": doc{"size": 2}})
				k.refused(http.StatusConflict, "InvalidatedRetryToken", http.MethodPost, atPools, k.body(1, nil))
				pass(25 * time.Hour)
				if again := k.ok(http.MethodPost, atPools, k.body(1, nil)); again == first {
					t.Error("want the token forgotten after a day")
				}
				if got := len(k.list(atPools + "?compartmentId=" + oci.Compartment)); got != 2 {
					t.Errorf("want two pools, got %d", got)
				}
			})
		})
	}
}

// TestFrame: etags, pages, refusals and faults.
func TestFrame(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		pool := k.create(0, nil)
		k.create(0, doc{"name": "q"})
		pass(time.Minute)
		reply, _ := k.ask(http.MethodGet, pool, nil)
		etag := reply.Header.Get("Etag")
		k.sign = func(r *http.Request) { r.Header.Set("If-Match", "other") }
		k.refused(http.StatusPreconditionFailed, "NoEtagMatch", http.MethodPut, pool, doc{"name": "r"})
		k.refused(http.StatusPreconditionFailed, "NoEtagMatch", http.MethodDelete, pool, nil)
		k.sign = func(r *http.Request) { r.Header.Set("If-Match", etag) }
		k.ok(http.MethodPut, pool, doc{"name": "r"})
		k.refused(http.StatusPreconditionFailed, "NoEtagMatch", http.MethodPut, pool, doc{"name": "s"})
		k.sign = nil

		list := atPools + "?compartmentId=" + oci.Compartment
		names := ""
		for _, p := range k.list(list + "&limit=1&sortBy=NAME&sortOrder=DESC") {
			names += document.Text(p, "name")
		}
		if names != "rq" || len(k.list(list+"&name=q")) != 1 || len(k.list(list+"&lifecycleState=DELETING")) != 0 {
			t.Errorf("want r and q in pages and by filters, got %s", names)
		}
		for path, code := range map[string]string{list + "&limit=1001": "InvalidParameter", list + "&page=x": "InvalidParameter",
			list + "&sortBy=SIZE": "InvalidParameter", atPools: "MissingParameter"} {
			k.refused(http.StatusBadRequest, code, http.MethodGet, path, nil)
		}
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, atPools+"?compartmentId=other", nil)
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, atPools+"/other", nil)
		k.refused(http.StatusNotFound, "NotFound", http.MethodGet, "/20180222/addonOptions", nil)
		k.refused(http.StatusMethodNotAllowed, "MethodNotAllowed", http.MethodDelete, "/20180222/clusters/"+k.cluster, nil)
		k.refused(http.StatusBadRequest, "MissingParameter", http.MethodPost, atPools, doc{"name": "p"})
		k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodPost, atPools, doc{"nodes": []any{}})
		if err := k.Faults().Add(sim.Fault{Kind: sim.Throttle, Action: "Get*", Times: 1, Delay: sim.Duration(30 * time.Second)},
			sim.Fault{Kind: sim.ErrorAfter, Action: "UpdateNodePool", Times: 1}); err != nil {
			t.Fatal(err)
		}
		k.refused(http.StatusTooManyRequests, "TooManyRequests", http.MethodGet, pool, nil)
		k.refused(http.StatusInternalServerError, "InternalError", http.MethodPut, pool, doc{"name": "late"})
		if got := document.Text(k.get(pool), "name"); got != "late" {
			t.Errorf("want the effect of a lost answer, got %s", got)
		}
	})
}

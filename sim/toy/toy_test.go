package toy_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/toy"
)

const (
	cluster = "/v1/clusters/" + toy.ClusterName
	pools   = cluster + "/pools"
)

type doc = document.Object

// client asks a simulated cloud that has a cluster.
type client struct {
	*testing.T
	*toy.Cloud
}

func inCloud(t *testing.T, o toy.Options, test func(client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, err := toy.New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer made.Close()
		k := client{t, made}
		k.must(k.putCluster("1.34.2"))
		pass()
		test(k)
	})
}

func pass() { <-time.After(10 * time.Minute) }

func (k client) putCluster(version string) error {
	_, err := k.Console.PutCluster(managed.Cluster{Key: toy.ClusterName, Name: toy.ClusterName, Version: version})
	return err
}

func (k client) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// ask sends a request and returns the status and the body of the reply.
func (k client) ask(method, path string, body any, header ...string) (int, doc) {
	k.Helper()
	text, err := json.Marshal(body)
	k.must(err)
	req, err := http.NewRequest(method, "http://toy"+path, bytes.NewReader(text))
	k.must(err)
	req.Header.Set("Authorization", "Bearer any")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	reply, err := sim.Transport{Handler: k.Cloud}.RoundTrip(req)
	k.must(err)
	defer reply.Body.Close()
	out := doc{}
	k.must(json.NewDecoder(reply.Body).Decode(&out))
	return reply.StatusCode, out
}

// refused holds that a request is refused with a code.
func (k client) refused(code string, method, path string, body any, header ...string) {
	k.Helper()
	if status, is := k.ask(method, path, body, header...); status < 400 || is["code"] != code || is["message"] == "" {
		k.Errorf("%s %s %v: want %s, got %d %v", method, path, body, code, status, is)
	}
}

func TestPool(t *testing.T) {
	inCloud(t, toy.Options{}, func(k client) {
		_, is := k.ask(http.MethodPost, pools, doc{"name": "p", "count": 2, "machineType": "small", "tags": doc{"a": "b"}})
		if is["state"] != "creating" || is["version"] != "1.34.2" || is["image"] != "standard" {
			t.Fatalf("want a pool that is being created, got %v", is)
		}
		k.refused("Busy", http.MethodPatch, pools+"/p", doc{"count": 3})
		k.refused("AlreadyExists", http.MethodPost, pools, doc{"name": "p", "machineType": "small"})
		pass()
		_, is = k.ask(http.MethodGet, pools, nil)
		old := document.Text(document.Objects(is, "pools")[0], "revision")
		k.ask(http.MethodPatch, pools+"/p", doc{"labels": doc{"tier": "x"}}, "If-Match", old)
		k.refused("PreconditionFailed", http.MethodPatch, pools+"/p", doc{"count": 3}, "If-Match", old)
		pass()
		k.must(k.putCluster("1.35.1"))
		pass()
		_, is = k.ask(http.MethodPatch, pools+"/p", doc{"version": "1.35"})
		op := document.Text(is, "lastOperation.id")
		if is["state"] != "upgrading" || is["version"] != "1.35.1" {
			t.Errorf("want an upgrade to the version of the control plane, got %v", is)
		}
		k.refused("NotFound", http.MethodPost, pools+"/p/operations/none/cancel", nil)
		if status, is := k.ask(http.MethodPost, pools+"/p/operations/"+op+"/cancel", nil); status != http.StatusOK ||
			document.Text(is, "lastOperation.state") != "cancelled" {
			t.Errorf("want the upgrade cancelled, got %v", is)
		}
		k.ask(http.MethodDelete, pools+"/p", nil)
		pass()
		k.refused("NotFound", http.MethodDelete, pools+"/p", nil)
	})
}

func TestNodes(t *testing.T) {
	inCloud(t, toy.Options{}, func(k client) {
		k.ask(http.MethodPost, pools, doc{"name": "p", "count": 3, "machineType": "small"})
		pass()
		var ids []string
		for token := ""; ; {
			_, is := k.ask(http.MethodGet, cluster+"/nodes?pageSize=2&pageToken="+token, nil)
			for _, n := range document.Objects(is, "nodes") {
				ids = append(ids, document.Text(n, "id"))
			}
			if token = document.Text(is, "nextPageToken"); token == "" {
				break
			}
		}
		if len(slices.Compact(ids)) != 3 {
			t.Fatalf("want three nodes in two pages, got %v", ids)
		}
		k.refused("NodeNotFound", http.MethodPost, pools+"/p/delete-nodes", doc{"nodes": []string{ids[0], "none"}})
		k.ask(http.MethodPost, pools+"/p/delete-nodes", doc{"nodes": ids[:1]})
		pass()
		k.ask(http.MethodPost, pools+"/p/delete-nodes", doc{"nodes": ids[1:2], "replace": true})
		pass()
		g := k.Console.Snapshot().Group("p")
		left := map[string]bool{}
		for _, m := range g.Members {
			left[m.ID] = true
		}
		if g.Size != 2 || len(left) != 2 || !left[ids[2]] || left[ids[0]] || left[ids[1]] {
			t.Errorf("want node %s and another one, got %v", ids[2], slices.Collect(maps.Keys(left)))
		}
	})
}

func TestRefusals(t *testing.T) {
	inCloud(t, toy.Options{Limits: map[string]core.Rate{}}, func(k client) {
		k.must(k.Console.Create(toy.ClusterName, "p", managed.Spec{Version: "1.34.2", Type: "small", Image: "standard", Zones: toy.Zones(),
			Surge: "1", Missing: "0", Doc: doc{}}))
		pass()
		for field, value := range map[string]any{
			"machineType": "none", "image": "none", "zones": []string{"toyland-a"}, "version": "1.33", "count": -1,
			"autoscaling": doc{"enabled": true, "min": 3, "max": 2}, "taints": []doc{{"key": "k", "effect": "none"}}, "name": "q",
			"upgrade": doc{"maxSurge": "much"},
		} {
			want := field
			if field == "upgrade" {
				want = "upgrade.maxSurge"
			}
			if status, is := k.ask(http.MethodPatch, pools+"/p", doc{field: value}); status != http.StatusBadRequest || is["field"] != want {
				t.Errorf("%s %v: want it refused with the field, got %d %v", field, value, status, is)
			}
		}
		k.refused("InvalidBody", http.MethodPatch, pools+"/p", doc{"surprise": 1})
		k.refused("NotFound", http.MethodGet, "/v1/clusters/none", nil)
		k.refused("NotFound", http.MethodGet, "/v2/surprise", nil)
		k.refused("Unauthenticated", http.MethodGet, cluster, nil, "Authorization", "")
		k.SetLimit(toy.BucketReads, core.Rate{Size: 1})
		k.ask(http.MethodGet, cluster, nil)
		k.refused("TooManyRequests", http.MethodGet, cluster, nil)
	})
}

// TestFoundAgain: a cloud that is opened again has what it had.
func TestFoundAgain(t *testing.T) {
	dir := t.TempDir()
	inCloud(t, toy.Options{Dir: dir}, func(k client) {
		k.ask(http.MethodPost, pools, doc{"name": "p", "count": 2, "machineType": "small"})
		pass()
		want := k.Console.Snapshot()
		k.must(k.Close())
		again, err := toy.New(toy.Options{Dir: dir})
		k.must(err)
		defer again.Close()
		if got := again.Console.Snapshot(); len(got.Groups) != 1 || document.Written(got) != document.Written(want) {
			t.Errorf("want %+v, got %+v", want, got)
		}
	})
}

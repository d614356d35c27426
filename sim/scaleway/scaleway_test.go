package scaleway_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/scaleway"
)

const at = "/k8s/v1/regions/fr-par"

type doc = document.Object

// client asks a simulated cloud, with the ID of a cluster and of the pool p.
type client struct {
	*testing.T
	*scaleway.Cloud
	cluster, pool string
}

func inCloud(t *testing.T, o scaleway.Options, test func(*client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o.Speed = 1
		made, err := scaleway.New(o)
		if err != nil {
			t.Fatal(err)
		}
		k := &client{T: t, Cloud: made}
		defer func() { _ = k.Close() }()
		k.cluster = document.Text(k.ok(http.MethodPost, at+"/clusters", doc{"name": "c", "version": "1.34.6", "cni": "cilium", "type": ""}), "id")
		pass(time.Minute)
		test(k)
	})
}

func pass(d time.Duration) { <-time.After(d) }

// ask sends a request and returns the status and the body of the reply.
func (k *client) ask(method, path string, body any, token ...string) (int, doc) {
	k.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		k.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	req, err := http.NewRequest(method, "http://scaleway"+path, bytes.NewReader(text))
	if err != nil {
		k.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", append(token, scaleway.SecretKey)[0])
	reply, err := sim.Transport{Handler: k.Cloud}.RoundTrip(req)
	if err != nil {
		k.Fatal(err)
	}
	defer reply.Body.Close()
	out := doc{}
	if err := json.NewDecoder(reply.Body).Decode(&out); err != nil {
		k.Fatalf("%s %s: %v", method, path, err)
	}
	return reply.StatusCode, out
}

// ok sends a request that is not refused.
func (k *client) ok(method, path string, body any) doc {
	k.Helper()
	status, out := k.ask(method, path, body)
	if status != http.StatusOK {
		k.Fatalf("%s %s %v: %d %v", method, path, body, status, out)
	}
	return out
}

// refused holds that a request is refused with a type, and returns the error.
func (k *client) refused(kind, method, path string, body any) doc {
	k.Helper()
	status, is := k.ask(method, path, body)
	if status < 400 || is["type"] != kind || is["message"] == "" {
		k.Errorf("%s %s %v: want %s, got %d %v", method, path, body, kind, status, is)
	}
	return is
}

// create creates the pool p of a size.
func (k *client) create(size int, more doc) doc {
	k.Helper()
	body := doc{"name": "p", "node_type": "PRO2-XXS", "size": size}
	for name, value := range more {
		body[name] = value
	}
	out := k.ok(http.MethodPost, at+"/clusters/"+k.cluster+"/pools", body)
	k.pool = document.Text(out, "id")
	return out
}

// is returns a member of the pool.
func (k *client) is(member string) any {
	k.Helper()
	return k.ok(http.MethodGet, at+"/pools/"+k.pool, nil)[member]
}

// nodes returns the nodes of the cluster.
func (k *client) nodes() []doc {
	k.Helper()
	return document.Objects(k.ok(http.MethodGet, at+"/clusters/"+k.cluster+"/nodes", nil), "nodes")
}

// statuses returns the statuses of nodes in the order of their creation.
func (k *client) statuses() []string {
	k.Helper()
	var out []string
	for _, n := range k.nodes() {
		out = append(out, document.Text(n, "status"))
	}
	return out
}

func (k *client) want(what string, want, got any) {
	k.Helper()
	if document.Written(want) != document.Written(got) {
		k.Errorf("%s: want %v, got %v", what, want, got)
	}
}

func (k *client) patch(change doc) doc {
	k.Helper()
	return k.ok(http.MethodPatch, at+"/pools/"+k.pool, change)
}

func (k *client) clusterStatus() any {
	k.Helper()
	return k.ok(http.MethodGet, at+"/clusters/"+k.cluster, nil)["status"]
}

func TestLife(t *testing.T) {
	inCloud(t, scaleway.Options{}, func(k *client) {
		k.want("a cluster without pools", "pool_required", k.clusterStatus())
		made := k.create(2, doc{"labels": nil})
		k.want("a new pool", []any{"scaling", "pro2_xxs", "sbs_5k", doc{}, "1.34.6"},
			[]any{made["status"], made["node_type"], made["root_volume_type"], made["labels"], made["version"]})
		k.want("a cluster with its first pool", "creating", k.clusterStatus())
		pass(20 * time.Minute)
		k.want("the cluster, the pool and its nodes", []any{"ready", "ready", []string{"ready", "ready"}},
			[]any{k.clusterStatus(), k.is("status"), k.statuses()})

		newest := k.nodes()[1]["id"]
		k.want("a pool made smaller", "scaling", k.patch(doc{"size": 1})["status"])
		pass(11 * time.Second)
		k.want("a pool that is ready beside its node", []any{"ready", []string{"ready", "deleting"}}, []any{k.is("status"), k.statuses()})
		k.want("the node that goes", newest, k.nodes()[1]["id"])
		pass(5 * time.Minute)
		k.want("nodes", []string{"ready"}, k.statuses())

		k.ok(http.MethodDelete, at+"/pools/"+k.pool, nil)
		k.want("a pool that is deleted", "deleting", k.is("status"))
		pass(5 * time.Minute)
		k.refused("not_found", http.MethodGet, at+"/pools/"+k.pool, nil)
		k.want("a cluster without pools", "pool_required", k.clusterStatus())
		k.ok(http.MethodDelete, at+"/clusters/"+k.cluster, nil)
		pass(5 * time.Minute)
		k.refused("not_found", http.MethodGet, at+"/clusters/"+k.cluster, nil)
	})
}

func TestUpgrade(t *testing.T) {
	for _, surge := range []int{0, 1} {
		t.Run([]string{"without surge", "with surge"}[surge], func(t *testing.T) {
			inCloud(t, scaleway.Options{}, func(k *client) {
				k.create(1, doc{"upgrade_policy": doc{"max_surge": surge, "max_unavailable": 1 - surge}})
				pass(20 * time.Minute)
				old := k.nodes()[0]
				k.refused("invalid_arguments", http.MethodPost, at+"/pools/"+k.pool+"/upgrade", doc{"version": "1.35.3"})
				k.want("the cluster", "1.35.3",
					k.ok(http.MethodPost, at+"/clusters/"+k.cluster+"/upgrade", doc{"version": "1.35.3"})["version"])
				pass(5 * time.Minute)
				k.want("a pool behind its cluster", []any{"ready", "1.34.6"}, []any{k.is("status"), k.is("version")})
				is := k.ok(http.MethodPost, at+"/pools/"+k.pool+"/upgrade", doc{"version": "1.35.3"})
				k.want("an upgrade", []any{"upgrading", "1.35.3"}, []any{is["status"], is["version"]})
				refused := k.refused("transient_state", http.MethodPatch, at+"/pools/"+k.pool, doc{"size": 2})
				k.want("transient_state", "upgrading", refused["current_state"])
				pass(time.Second)
				if first := k.statuses()[0]; (first == "deleting") != (surge == 0) {
					k.Errorf("want the only node deleting at once without surge alone, got %s", first)
				}
				pass(20 * time.Minute)
				nodes := k.nodes()
				k.want("the pool", "ready", k.is("status"))
				if len(nodes) != 1 || nodes[0]["id"] == old["id"] || nodes[0]["provider_id"] == old["provider_id"] {
					k.Errorf("want another node than %v, got %v", old, nodes)
				}
			})
		})
	}
}

func TestNodes(t *testing.T) {
	inCloud(t, scaleway.Options{}, func(k *client) {
		k.create(3, nil)
		pass(20 * time.Minute)
		first := document.Text(k.nodes()[0], "id")
		page := k.ok(http.MethodGet, at+"/clusters/"+k.cluster+"/nodes?page=2&page_size=2&order_by=name_desc", nil)
		k.want("the second page", []any{1, 3}, []any{len(document.Items(page, "nodes")), page["total_count"]})
		k.ok(http.MethodDelete, at+"/nodes/"+first+"?skip_drain=false", nil)
		k.want("the size", 2, k.is("size"))
		k.want("the node", "deleting", k.ok(http.MethodGet, at+"/nodes/"+first, nil)["status"])
		pass(5 * time.Minute)
		k.refused("not_found", http.MethodGet, at+"/nodes/"+first, nil)
		second := document.Text(k.nodes()[0], "id")
		k.want("a reboot", "rebooting", k.ok(http.MethodPost, at+"/nodes/"+second+"/reboot", doc{})["status"])
		pass(5 * time.Minute)
		k.want("nodes", []string{"ready", "ready"}, k.statuses())
		k.refused("not_found", http.MethodGet, "/k8s/v1/regions/nl-ams/nodes/"+second, nil)
		k.refused("invalid_arguments", http.MethodGet, "/k8s/v1/regions/us-east/nodes/"+second, nil)
	})
}

func TestHealing(t *testing.T) {
	inCloud(t, scaleway.Options{}, func(k *client) {
		k.create(1, doc{"autohealing": true})
		pass(20 * time.Minute)
		id := document.Text(k.nodes()[0], "id")
		if err := k.Console.StopMachine(id); err != nil {
			k.Fatal(err)
		}
		pass(time.Minute)
		k.want("a stopped node", []string{"not_ready"}, k.statuses())
		pass(25 * time.Minute)
		k.want("a node that was rebooted", []any{id, []string{"ready"}}, []any{k.nodes()[0]["id"], k.statuses()})
		if err := k.Faults().Add(sim.Fault{Kind: sim.NeverBoots, Times: 1}); err != nil {
			k.Fatal(err)
		}
		k.patch(doc{"size": 2})
		pass(18 * time.Minute)
		k.want("a pool whose node does not come", "warning", k.is("status"))
		never := k.nodes()[1]["id"]
		pass(40 * time.Minute)
		if nodes := k.nodes(); len(nodes) != 2 || slices.ContainsFunc(nodes, func(n doc) bool { return n["id"] == never }) {
			k.Errorf("want node %s replaced, got %v", never, nodes)
		}
		k.want("the pool", []any{"ready", nil}, []any{k.is("status"), k.is("error_message")})
	})
}

// TestBehaviors shows each of the other answers.
func TestBehaviors(t *testing.T) {
	for name, row := range map[string]struct {
		on   sim.Switches
		test func(*client)
	}{
		"ShowsFailedNodes": {sim.Switches{scaleway.ShowsFailedNodes}, func(k *client) {
			k.noCapacity()
			k.want("the pool and its nodes", []any{"scaling", nil, "ready", "creation_error"},
				[]any{k.is("status"), k.is("error_message"), k.statuses()[0], k.statuses()[1]})
			failed := k.nodes()[1]
			if message := document.Text(failed, "error_message"); !strings.Contains(message, scaleway.NoCapacity) {
				k.Errorf("want the message of the node, got %q", message)
			}
			k.ok(http.MethodDelete, at+"/nodes/"+document.Text(failed, "id"), nil)
			k.want("the size", 1, k.is("size"))
		}},
		"BusyClusters": {sim.Switches{scaleway.BusyClusters}, func(k *client) {
			k.ok(http.MethodPatch, at+"/clusters/"+k.cluster, doc{})
			k.want("current_state", "updating", k.refused("transient_state", http.MethodPatch, at+"/pools/"+k.pool, doc{"size": 2})["current_state"])
		}},
		"BusyPools": {sim.Switches{scaleway.BusyPools}, func(k *client) {
			k.patch(doc{"size": 2})
			k.want("current_state", "scaling", k.refused("transient_state", http.MethodPatch, at+"/pools/"+k.pool, doc{"size": 3})["current_state"])
		}},
		"IgnoresSize": {sim.Switches{scaleway.IgnoresSize}, func(k *client) {
			k.patch(doc{"autoscaling": true, "max_size": 3})
			k.want("the size", 1, k.patch(doc{"size": 2})["size"])
		}},
		"LeavesSize": {sim.Switches{scaleway.LeavesSize}, func(k *client) {
			k.want("the size", 1, k.patch(doc{"autoscaling": true, "min_size": 2, "max_size": 3})["size"])
		}},
		"RefusesOtherwise": {sim.Switches{scaleway.RefusesOtherwise}, func(k *client) {
			k.upgradeCluster()
			k.refused("precondition_failed", http.MethodPatch, at+"/pools/"+k.pool, doc{"size": 3})
		}},
		"UpgradesScaling": {sim.Switches{scaleway.UpgradesScaling}, func(k *client) {
			k.patch(doc{"size": 2})
			k.ok(http.MethodPost, at+"/pools/"+k.pool+"/upgrade", doc{"version": "1.34.6"})
		}},
		"ScalesOn": {sim.Switches{scaleway.ScalesOn}, func(k *client) {
			if err := k.Faults().Add(sim.Fault{Kind: sim.NeverBoots, Times: 1}); err != nil {
				k.Fatal(err)
			}
			k.patch(doc{"size": 2})
			pass(40 * time.Minute)
			k.want("the pool", []any{"scaling", nil}, []any{k.is("status"), k.is("error_message")})
		}},
		"InvalidSize": {sim.Switches{scaleway.InvalidSize}, func(k *client) {
			k.refused("invalid_arguments", http.MethodPatch, at+"/pools/"+k.pool, doc{"size": 1000})
		}},
		"TakesZeroPolicy": {sim.Switches{scaleway.TakesZeroPolicy}, func(k *client) {
			k.patch(doc{"upgrade_policy": doc{"max_unavailable": 0, "max_surge": 0}})
		}},
		"SmallPages": {sim.Switches{scaleway.SmallPages}, func(k *client) {
			k.patch(doc{"size": 25})
			pass(time.Minute)
			k.want("nodes of a page", 20, len(k.nodes()))
		}},
		"RefusesUnknown": {sim.Switches{scaleway.RefusesUnknown}, func(k *client) {
			k.refused("invalid_arguments", http.MethodPatch, at+"/pools/"+k.pool, doc{"colour": "red"})
		}},
		"PlainStatuses": {sim.Switches{scaleway.PlainStatuses}, func(k *client) {
			k.patch(doc{"size": 2})
			if status, is := k.ask(http.MethodPost, at+"/pools/"+k.pool+"/upgrade", doc{"version": "1.34.6"}); status != http.StatusBadRequest {
				k.Errorf("want the status 400, got %d %v", status, is)
			}
			if status, is := k.ask(http.MethodGet, at+"/pools/none", nil); status != http.StatusNotFound {
				k.Errorf("want the status 404, got %d %v", status, is)
			}
		}},
		"none": {nil, func(k *client) {
			k.patch(doc{"colour": "red"})
			k.want("the size", 2, k.patch(doc{"autoscaling": true, "min_size": 2, "max_size": 3})["size"])
			k.want("the size", 3, k.patch(doc{"size": 3})["size"])
			k.patch(doc{"autoscaling": false, "size": 1})
			pass(10 * time.Minute)
			k.noCapacity()
			if message, _ := k.is("error_message").(string); k.is("status") != "warning" || !strings.Contains(message, scaleway.NoCapacity) {
				k.Errorf("want a warning that tells of the capacity, got %v %q", k.is("status"), message)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inCloud(t, scaleway.Options{Switches: row.on}, func(k *client) {
				k.create(1, nil)
				pass(20 * time.Minute)
				row.test(k)
			})
		})
	}
}

// upgradeCluster begins to upgrade the cluster and its pools.
func (k *client) upgradeCluster() {
	k.Helper()
	k.ok(http.MethodPost, at+"/clusters/"+k.cluster+"/upgrade", doc{"version": "1.35.3", "upgrade_pools": true})
	pass(70 * time.Second)
	k.want("the pool", "upgrading", k.is("status"))
}

// noCapacity asks for a second node that there is no machine for.
func (k *client) noCapacity() {
	k.Helper()
	if err := k.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
		k.Fatal(err)
	}
	k.patch(doc{"size": 2})
	pass(time.Minute)
}

func TestRefusals(t *testing.T) {
	keys := []scaleway.Key{{SecretKey: scaleway.SecretKey}, {SecretKey: "reads", Permissions: []string{scaleway.ReadOnly}},
		{SecretKey: "expired", Expired: true}}
	inCloud(t, scaleway.Options{Keys: keys, Quota: map[string]int{"pro2_xxs": 3}}, func(k *client) {
		pools := at + "/clusters/" + k.cluster + "/pools"
		k.create(1, nil)
		pass(20 * time.Minute)
		for argument, body := range map[string]doc{
			"name":           {"name": "p", "node_type": "pro2_xxs", "size": 1},
			"node_type":      {"name": "q", "node_type": "DEV1-S", "size": 1},
			"size":           {"name": "q", "node_type": "pro2_xxs"},
			"zone":           {"name": "q", "node_type": "pro2_xxs", "size": 1, "zone": "nl-ams-1"},
			"upgrade_policy": {"name": "q", "node_type": "pro2_xxs", "size": 1, "upgrade_policy": doc{"max_unavailable": 0, "max_surge": 0}},
		} {
			is := k.refused("invalid_arguments", http.MethodPost, pools, body)
			k.want("the argument", argument, document.Text(document.Objects(is, "details")[0], "argument_name"))
		}
		k.refused("quotas_exceeded", http.MethodPatch, at+"/pools/"+k.pool, doc{"size": 4})
		k.refused("precondition_failed", http.MethodPost, at+"/pools/"+k.pool+"/external-nodes", doc{})
		if err := k.Lock("c", "p", true); err != nil {
			k.Fatal(err)
		}
		k.want("a locked pool", "locked", k.is("status"))
		k.refused("locked", http.MethodPatch, at+"/pools/"+k.pool, doc{"size": 2})
		k.refused("locked", http.MethodDelete, at+"/pools/"+k.pool, nil)
		for token, want := range map[string]string{"reads": "permissions_denied", "expired": "denied_authentication",
			"none": "denied_authentication"} {
			if status, is := k.ask(http.MethodDelete, at+"/pools/"+k.pool, nil, token); status < 400 || is["type"] != want {
				k.Errorf("%s: want %s, got %d %v", token, want, status, is)
			}
		}
		if status, _ := k.ask(http.MethodGet, pools, nil, "reads"); status != http.StatusOK {
			k.Errorf("want reads allowed, got %d", status)
		}
		if granted, denied := k.Asked(); granted[scaleway.ReadOnly] != 1 || denied[scaleway.FullAccess] != 1 {
			k.Errorf("want a read granted and a write denied, got %v, %v", granted, denied)
		}
	})
}

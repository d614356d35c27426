package oci_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/containerengine"
)

func sized(n int) doc { return doc{"nodeConfigDetails": doc{"size": n}} }

// TestNodePool: a pool is created, read, resized and deleted, with work requests that tell how far each is.
func TestNodePool(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		work := k.ok(http.MethodPost, atPools, k.body(3, doc{"initialNodeLabels": []any{doc{"key": "a", "value": "b"}}}))
		if got := k.work(work); got != "NODEPOOL_CREATE ACCEPTED" {
			t.Errorf("want the request accepted, got %s", got)
		}
		pool := atPools + "/" + document.Text(document.Objects(k.get("/20180222/workRequests/"+work), "resources")[0], "identifier")
		pass(time.Minute)
		k.want(pool, "CREATING CREATING CREATING CREATING")
		k.refused(http.StatusConflict, "IncorrectState", http.MethodPut, pool, sized(4))
		pass(5 * time.Minute)
		k.want(pool, "ACTIVE ACTIVE ACTIVE ACTIVE")
		if got := k.work(work); got != "NODEPOOL_CREATE SUCCEEDED" {
			t.Errorf("want the request to succeed, got %s", got)
		}
		domains := map[string]bool{}
		for _, n := range document.Objects(k.get(pool), "nodes") {
			domains[document.Text(n, "availabilityDomain")] = true
			if !strings.HasPrefix(document.Text(n, "id"), "ocid1.instance.oc1.iad.") || !strings.HasPrefix(document.Text(n, "name"), "oke-") {
				t.Errorf("want an instance's OCID and OKE's name, got %v", n)
			}
		}
		if len(domains) != 3 {
			t.Errorf("want a node in each availability domain, got %v", domains)
		}
		for _, p := range k.list(atPools + "?compartmentId=" + oci.Compartment + "&clusterId=" + k.cluster) {
			if p["nodes"] != nil || p["lifecycleState"] != "ACTIVE" {
				t.Errorf("want a summary without nodes, got %v", p)
			}
		}
		before := k.ids(pool)
		k.ok(http.MethodPut, pool, sized(1))
		pass(5 * time.Minute)
		if got := k.ids(pool); !slices.Equal(got, before[:1]) {
			t.Errorf("want the oldest node left, got %v of %v", got, before)
		}
		work = k.ok(http.MethodDelete, pool, nil)
		k.refused(http.StatusConflict, "IncorrectState", http.MethodDelete, pool, nil)
		pass(5 * time.Minute)
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, pool, nil)
		if got := k.work(work); got != "NODEPOOL_DELETE SUCCEEDED" {
			t.Errorf("want the request to succeed, got %s", got)
		}
		works := "/20180222/workRequests?compartmentId=" + oci.Compartment
		if all := k.list(works + "&limit=1"); len(all) != 4 || len(k.list(works+"&resourceType=NODEPOOL&status=SUCCEEDED")) != 3 {
			t.Errorf("want the work requests of a cluster and a pool, got %v", all)
		}
	})
}

// TestDeleteNode: the node that is named goes, with or without another in its place; further ones go at the same time.
func TestDeleteNode(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		pool := k.create(4, nil)
		pass(10 * time.Minute)
		ids := k.ids(pool)
		k.ok(http.MethodDelete, pool+"/node/"+ids[0], nil)
		k.refused(http.StatusConflict, "Conflict", http.MethodDelete, pool+"/node/"+ids[0], nil)
		k.ok(http.MethodDelete, pool+"/node/"+ids[1]+"?isDecrementSize=false&overrideEvictionGraceDuration=PT0M", nil)
		k.want(pool, "UPDATING DELETING DELETING ACTIVE ACTIVE")
		pass(10 * time.Minute)
		k.want(pool, "ACTIVE ACTIVE ACTIVE ACTIVE")
		if got := k.ids(pool); got[0] != ids[2] || got[1] != ids[3] {
			t.Errorf("want the first two of %v gone, got %v", ids, got)
		}
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodDelete, pool+"/node/"+ids[0], nil)
		k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodDelete, pool+"/node/"+ids[2]+"?overrideEvictionGraceDuration=PT61M", nil)
	})
}

// TestCycling: an update replaces nodes where cycling is enabled, in place where boot volumes are replaced, and nothing where it is not.
func TestCycling(t *testing.T) {
	on := func(mode string) doc {
		return doc{"kubernetesVersion": "v1.34.2", "nodePoolCyclingDetails": doc{"isNodeCyclingEnabled": true, "maximumUnavailable": "1",
			"maximumSurge": "50%", "cycleModes": []any{mode}}}
	}
	for mode, kept := range map[string]bool{"INSTANCE_REPLACE": false, "BOOT_VOLUME_REPLACE": true} {
		t.Run(mode, func(t *testing.T) {
			inCloud(t, oci.Options{}, func(k *client) {
				pool := k.create(3, doc{"kubernetesVersion": "v1.33.1"})
				pass(10 * time.Minute)
				before := k.ids(pool)
				k.ok(http.MethodPut, pool, doc{"kubernetesVersion": "v1.34.1"})
				pass(10 * time.Minute)
				if got := k.ids(pool); !slices.Equal(got, before) || k.state(pool) != "ACTIVE ACTIVE ACTIVE ACTIVE" {
					t.Errorf("without cycling want the nodes %v left, got %v", before, got)
				}
				work := k.ok(http.MethodPut, pool, on(mode))
				pass(30 * time.Second)
				k.refused(http.StatusConflict, "IncorrectState", http.MethodPut, pool, sized(1))
				if got := k.work(work); got != "NODEPOOL_CYCLING IN_PROGRESS" {
					t.Errorf("want the pool cycled, got %s", got)
				}
				pass(30 * time.Minute)
				if got := k.ids(pool); slices.Equal(got, before) != kept || k.work(work) != "NODEPOOL_CYCLING SUCCEEDED" {
					t.Errorf("%s: want the IDs kept: %t, got %v and %v, %s", mode, kept, before, got, k.work(work))
				}
				for _, n := range document.Objects(k.get(pool), "nodes") {
					if n["kubernetesVersion"] != "v1.34.2" || n["lifecycleState"] != "ACTIVE" {
						t.Errorf("%s: want all nodes of the new version, got %v", mode, n)
					}
				}
				moved := k.body(3, nil)
				k.refused(http.StatusConflict, "Conflict", http.MethodPut, pool, doc{
					"nodePoolCyclingDetails": doc{"isNodeCyclingEnabled": true, "maximumUnavailable": "1"},
					"nodeConfigDetails":      doc{"placementConfigs": document.Items(moved, "nodeConfigDetails.placementConfigs")[:1]}})
			})
		})
	}
}

// TestCapacity: nodes that can't be launched, or do not join, are told by the pool, by its nodes and by the work request.
func TestCapacity(t *testing.T) {
	for _, row := range []struct {
		name          string
		fault         *sim.Fault
		limits        map[string]int
		image         string
		code, message string
	}{
		{name: "capacity", fault: &sim.Fault{Kind: sim.NoCapacity, Limit: 1}, code: "InternalError", message: "Out of host capacity"},
		{name: "limit", limits: map[string]int{"VM.Standard.E4.Flex": 1}, code: "LimitExceeded", message: "standard-e4-core-count"},
	} {
		t.Run(row.name, func(t *testing.T) {
			inCloud(t, oci.Options{Limits: row.limits}, func(k *client) {
				if row.fault != nil {
					if err := k.Faults().Add(*row.fault); err != nil {
						t.Fatal(err)
					}
				}
				work := k.ok(http.MethodPost, atPools, k.body(2, nil))
				pool := atPools + "/" + document.Text(document.Objects(k.get("/20180222/workRequests/"+work), "resources")[0], "identifier")
				pass(5 * time.Minute)
				k.want(pool, "CREATING ACTIVE FAILING")
				node := document.Objects(k.get(pool), "nodes")[1]
				if node["id"] != nil || document.Text(node, "nodeError.code") != row.code ||
					!strings.Contains(document.Text(node, "nodeError.message"), row.message) {
					t.Errorf("want a node without an ID and the error %s, got %v", row.code, node)
				}
				pass(30 * time.Minute)
				k.want(pool, "NEEDS_ATTENTION ACTIVE FAILING")
				at := "/20180222/workRequests/" + work
				errors := k.list(at + "/errors?compartmentId=" + oci.Compartment)
				if k.work(work) != "NODEPOOL_CREATE FAILED" || len(errors) != 1 || errors[0]["code"] != row.code {
					t.Errorf("want the work request to fail with %s, got %v", row.code, errors)
				}
				if len(k.list(at+"/logs?compartmentId="+oci.Compartment)) != 2 {
					t.Error("want two log entries")
				}
				k.ok(http.MethodPut, pool, sized(1))
				pass(time.Minute)
				k.want(pool, "ACTIVE ACTIVE")
			})
		})
	}
	inCloud(t, oci.Options{}, func(k *client) {
		if err := k.Faults().Add(sim.Fault{Kind: sim.NeverBoots, Times: 1}); err != nil {
			t.Fatal(err)
		}
		pool := k.create(2, nil)
		pass(time.Hour)
		k.want(pool, "NEEDS_ATTENTION FAILING ACTIVE")
		if got := document.Text(k.get(pool), "lifecycleDetails"); !strings.HasPrefix(got, "1 nodes(s) register timeout") {
			t.Errorf("want the timeout told, got %q", got)
		}
		k.ok(http.MethodDelete, pool+"/node/"+k.ids(pool)[0]+"?isDecrementSize=false", nil)
		pass(10 * time.Minute)
		k.want(pool, "ACTIVE ACTIVE ACTIVE")
	})
}

// TestRefusals: what a node pool can't be is refused, and what is not simulated.
func TestRefusals(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		for member, value := range map[string]any{
			"kubernetesVersion": "v1.35.2", "nodeShape": "VM.None", "subnetIds": []any{"s"}, "nodeSourceDetails.imageId": "x",
			"nodeConfigDetails.size": -1, "nodeConfigDetails.placementConfigs": []any{},
			"nodeConfigDetails.nope": 1, "nodePoolCyclingDetails.maximumSurge": "101%",
			"nodePoolCyclingDetails":                             doc{"isNodeCyclingEnabled": true, "maximumSurge": "0"},
			"nodeEvictionNodePoolSettings.evictionGraceDuration": "PT2H",
		} {
			k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodPost, atPools, k.body(1, doc{member: value}))
		}
		k.refused(http.StatusBadRequest, "LimitExceeded", http.MethodPost, atPools, k.body(1001, nil))
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodPost, atPools, k.body(1, doc{"clusterId": "x"}))
		if _, err := k.PutCluster(oci.Access{Name: "basic", Version: "1.33.1", Type: "BASIC_CLUSTER"}); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		basic := document.Text(k.list(atClusters + "&name=basic")[0], "id")
		k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodPost, atPools, k.body(1, doc{"clusterId": basic,
			"nodePoolCyclingDetails": doc{"isNodeCyclingEnabled": true}}))
		options := k.get("/20180222/nodePoolOptions/" + basic + "?shouldListAllPatchVersions=false&nodePoolOsType=OL8&nodePoolOsArch=AARCH64")
		if got := document.Texts(options, "kubernetesVersions"); !slices.Equal(got, []string{"v1.33.1", "v1.32.10", "v1.31.10"}) ||
			len(document.Items(options, "sources")) != 3 {
			t.Errorf("want the versions and images that fit the cluster, got %v", options)
		}
	})
}

// TestSwitches: each switch of a pool gives the other answer.
func TestSwitches(t *testing.T) {
	for on, check := range map[sim.Switch]func(k *client, pool string){
		containerengine.BusyPools: func(k *client, pool string) {
			k.ok(http.MethodPut, pool, sized(1))
			k.refused(http.StatusConflict, "IncorrectState", http.MethodPut, pool, sized(3))
		},
		containerengine.ActiveEarly: func(k *client, _ string) {
			pool := k.create(1, nil)
			pass(time.Minute)
			k.want(pool, "ACTIVE CREATING")
		},
		containerengine.FailsPools: func(k *client, _ string) {
			if err := k.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
				k.Fatal(err)
			}
			pool := k.create(1, nil)
			pass(time.Hour)
			k.want(pool, "FAILED FAILING")
		},
		containerengine.ShowsDeleted: func(k *client, pool string) {
			k.ok(http.MethodDelete, pool, nil)
			pass(10 * time.Minute)
			if got := document.Text(k.get(pool), "lifecycleState"); got != "DELETED" {
				k.Errorf("want the pool DELETED, got %s", got)
			}
			pass(25 * time.Hour)
			k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, pool, nil)
		},
		containerengine.CyclesAll: func(k *client, pool string) {
			before := k.ids(pool)
			k.ok(http.MethodPut, pool, doc{"nodePoolCyclingDetails": doc{"isNodeCyclingEnabled": true}})
			pass(30 * time.Minute)
			if slices.Equal(k.ids(pool), before) {
				k.Error("want all nodes replaced")
			}
		},
		containerengine.CyclesOnRequest: func(k *client, pool string) {
			before := k.ids(pool)
			k.ok(http.MethodPut, pool, doc{"nodePoolCyclingDetails": doc{"isNodeCyclingEnabled": true}})
			pass(10 * time.Minute)
			k.ok(http.MethodPut, pool, doc{"kubernetesVersion": "v1.34.1"})
			pass(30 * time.Minute)
			if !slices.Equal(k.ids(pool), before) {
				k.Error("want no node replaced by an update that does not ask for it")
			}
		},
		containerengine.CyclesInUpdates: func(k *client, pool string) {
			work := k.ok(http.MethodPut, pool, doc{"kubernetesVersion": "v1.34.1", "nodePoolCyclingDetails": doc{"isNodeCyclingEnabled": true}})
			if got := k.work(work); got != "NODEPOOL_UPDATE ACCEPTED" {
				k.Errorf("want an update, got %s", got)
			}
		},
		containerengine.SupersededSucceed: func(k *client, pool string) {
			work := k.ok(http.MethodPut, pool, sized(4))
			k.ok(http.MethodPut, pool, sized(3))
			if got := k.work(work); got != "NODEPOOL_UPDATE SUCCEEDED" {
				k.Errorf("want the first update to succeed, got %s", got)
			}
		},
		containerengine.HidesNodeErrors: func(k *client, pool string) {
			if err := k.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
				k.Fatal(err)
			}
			k.ok(http.MethodPut, pool, sized(3))
			pass(time.Minute)
			k.want(pool, "UPDATING ACTIVE ACTIVE CREATING")
		},
		containerengine.ChoosesImage: func(k *client, _ string) {
			pool := k.create(0, doc{"nodeSourceDetails": nil})
			if got := document.Text(k.get(pool), "nodeSourceDetails.imageId"); got != k.image("v1.34.2", "X86_64") {
				k.Errorf("want an image chosen, got %s", got)
			}
		},
		containerengine.UniqueNames: func(k *client, _ string) {
			k.refused(http.StatusConflict, "Conflict", http.MethodPost, atPools, k.body(0, nil))
		},
		containerengine.OmitsDefaults: func(k *client, pool string) {
			if is := k.get(pool); is["nodeEvictionNodePoolSettings"] != nil {
				k.Errorf("want no defaults, got %v", is)
			}
		},
		containerengine.TakesOldest: func(k *client, pool string) {
			before := k.ids(pool)
			k.ok(http.MethodPut, pool, sized(1))
			pass(10 * time.Minute)
			if got := k.ids(pool); !slices.Equal(got, before[1:]) {
				k.Errorf("want the newest of %v left, got %v", before, got)
			}
		},
	} {
		t.Run(string(on), func(t *testing.T) {
			inCloud(t, oci.Options{Switches: sim.Switches{on}}, func(k *client) {
				pool := k.create(2, nil)
				pass(10 * time.Minute)
				check(k, pool)
			})
		})
	}
}

// TestCancel: a work request that has not started leaves the pool as it was; later it can't be canceled.
func TestCancel(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		pool := k.create(1, nil)
		pass(10 * time.Minute)
		work := "/20180222/workRequests/"
		id := k.ok(http.MethodPut, pool, sized(5))
		if reply, text := k.ask(http.MethodDelete, work+id, nil); reply.StatusCode != http.StatusNoContent {
			t.Errorf("want the update canceled, got %d %s", reply.StatusCode, text)
		}
		k.want(pool, "ACTIVE ACTIVE")
		if got := k.work(id); got != "NODEPOOL_UPDATE CANCELED" {
			t.Errorf("want the update canceled, got %s", got)
		}
		id = k.ok(http.MethodPut, pool, sized(2))
		pass(10 * time.Second)
		k.refused(http.StatusConflict, "IncorrectState", http.MethodDelete, work+id, nil)
	})
}

// TestConsole: the actions of a user of the console reach pools by their names, and the snapshot shows them by these.
func TestConsole(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		if err := k.CreatePool("c", "theirs", 2, map[string]string{"owner": "other"}); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		if _, err := k.Capabilities().OutOfBand.Do(sim.SetSize, sim.Resource{Cluster: "c", Name: "theirs", Size: 1}); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		groups := k.Snapshot().Groups
		if len(groups) != 1 || groups[0].Name != "theirs" || groups[0].Size != 1 || groups[0].Tags["owner"] != "other" ||
			len(groups[0].Members) != 1 || groups[0].Members[0].ID != groups[0].Members[0].ProviderID {
			t.Errorf("want the pool with a node whose provider ID is its OCID, got %+v", groups)
		}
		if gone, err := k.DropCluster("c"); gone || err != nil {
			t.Errorf("want the cluster about to go, got %t, %v", gone, err)
		}
		pass(time.Hour)
		if len(k.list(atClusters)) != 0 {
			t.Error("want the cluster gone")
		}
	})
}

// TestUserDataOfNodePools: what nodes run of their own takes the place of OKE's script, unless it calls that.
func TestUserDataOfNodePools(t *testing.T) {
	host := &powers{on: map[string]sim.Machine{}}
	inCloud(t, oci.Options{MachineHost: host}, func(k *client) {
		for text, own := range map[string]bool{"#!/bin/sh\necho hello\n": true, "#!/bin/sh\nbash /var/run/oke-init.sh\n": false} {
			host.reset()
			k.create(1, doc{"name": text[10:14], "nodeMetadata": doc{"user_data": base64.StdEncoding.EncodeToString([]byte(text))}})
			pass(10 * time.Minute)
			for _, m := range host.now() {
				if string(m.UserData) != text || m.Managed.Own != own {
					t.Errorf("want user data %q that alone joins: %t, got %+v", text, own, m)
				}
			}
			if len(host.now()) != 1 {
				t.Errorf("want one machine, got %v", host.now())
			}
		}
	})
}

package gcp_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

const (
	clusters = "/v1/projects/simulated-project/locations/us-central1-a/clusters"
	pools    = clusters + "/c/nodePools"
	version  = "1.34.2-gke.1234000"
	newer    = "1.34.3-gke.1334000"
)

// gke is a world with the zonal cluster c, whose node pool p has so many nodes.
func gke(t *testing.T, nodes int, f func(*world)) {
	inBubble(t, gcp.Options{Speed: 1}, func(w *world) {
		w.do(http.MethodPost, clusters, doc{"cluster": doc{"name": "c", "initialClusterVersion": newer,
			"releaseChannel": doc{"channel": "UNSPECIFIED"},
			"nodePools":      []any{doc{"name": "p", "initialNodeCount": nodes, "version": version}}}})
		w.settled("c")
		f(w)
	})
}

// settled waits until no operation runs on a cluster.
func (w *world) settled(name string) container.Inspected {
	w.Helper()
	for range 2000 {
		for _, c := range w.State().Clusters {
			if c.Name == name && !c.Busy {
				return c
			}
		}
		w.rest(5 * time.Second)
	}
	w.Fatalf("want cluster %s at rest, got %+v", name, w.State().Clusters)
	return container.Inspected{}
}

// pool returns what the simulator holds of a node pool.
func (w *world) pool(name string) container.InspectedPool {
	w.Helper()
	for _, p := range w.State().Clusters[0].Pools {
		if p.Name == name {
			return p
		}
	}
	w.Fatalf("want node pool %s, got %+v", name, w.State().Clusters)
	return container.InspectedPool{}
}

// operation returns the name of the operation that runs.
func (w *world) operation() string {
	w.Helper()
	for _, op := range document.Objects(w.get("/v1/projects/simulated-project/locations/-/operations"), "operations") {
		if document.Text(op, "status") != "DONE" {
			return document.Text(op, "name")
		}
	}
	w.Fatal("want an operation that runs")
	return ""
}

// TestGKEReplies compares a cluster and its node pools with replies of GKE that were recorded. The recordings are those of
// TestRecordedTraffic, by their exchanges: containercluster-swap 0 (a missing cluster), 1 and 2 (an operation), 3 (the cluster, and its
// node pool) and 4 (the group of the node pool); containernodepool-swap 7 (a missing node pool).
func TestGKEReplies(t *testing.T) {
	inBubble(t, gcp.Options{Speed: 1}, func(w *world) {
		msg := w.refused(http.MethodGet, clusters+"/c", nil, http.StatusNotFound, "notFound")
		check(w, "a missing cluster", "Not found: projects/simulated-project/zones/us-central1-a/clusters/c.", msg)
		op := w.do(http.MethodPost, clusters, doc{"cluster": doc{"name": "c", "initialNodeCount": 1},
			"parent": "projects/simulated-project/locations/us-central1-a"})
		check(w, "type", "CREATE_CLUSTER", document.Text(op, "operationType"))
		check(w, "status", "RUNNING", document.Text(op, "status"))
		root := "https://container.googleapis.com/v1/projects/" + project.DefaultNumber + "/zones/us-central1-a/"
		check(w, "selfLink", root+"operations/"+document.Text(op, "name"), document.Text(op, "selfLink"))
		check(w, "targetLink", root+"clusters/c", document.Text(op, "targetLink"))
		check(w, "status of the cluster", "PROVISIONING", document.Text(w.get(clusters+"/c"), "status"))
		w.settled("c")
		check(w, "status of the operation", "DONE",
			document.Text(w.get("/v1/projects/simulated-project/locations/us-central1-a/operations/"+document.Text(op, "name")), "status"))

		c := w.get(clusters + "/c")
		for path, want := range map[string]string{
			"status": "RUNNING", "location": "us-central1-a", "zone": "us-central1-a", "releaseChannel.channel": "REGULAR", "network": "default",
			"networkConfig.network": "projects/simulated-project/global/networks/default", "currentMasterVersion": "1.34.7-gke.1734500",
			"networkConfig.subnetwork": "projects/simulated-project/regions/us-central1/subnetworks/default",
			"selfLink":                 "https://container.googleapis.com/v1/projects/simulated-project/zones/us-central1-a/clusters/c",
		} {
			check(w, path, want, document.Text(c, path))
		}
		p := w.get(clusters + "/c/nodePools/default-pool")
		for path, want := range map[string]any{
			"config.machineType": "e2-medium", "config.diskType": "pd-balanced", "config.diskSizeGb": 100.0, "config.imageType": "COS_CONTAINERD",
			"config.bootDisk.sizeGb": "100", "config.metadata.disable-legacy-endpoints": "true", "config.serviceAccount": "default",
			"config.resourceLabels.goog-gke-node-pool-provisioning-model": "on-demand", "config.effectiveCgroupMode": "EFFECTIVE_CGROUP_MODE_V2",
			"config.shieldedInstanceConfig.enableIntegrityMonitoring": true, "config.kubeletConfig.insecureKubeletReadonlyPortEnabled": false,
			"management.autoRepair": true, "management.autoUpgrade": true, "maxPodsConstraint.maxPodsPerNode": "110", "podIpv4CidrSize": 24.0,
			"upgradeSettings.maxSurge": 1.0, "upgradeSettings.strategy": "SURGE", "status": "RUNNING", "version": "1.34.7-gke.1734500",
			"initialNodeCount": 1.0,
			"selfLink": "https://container.googleapis.com/v1/projects/simulated-project/zones/us-central1-a/clusters/c/nodePools/" +
				"default-pool",
		} {
			check(w, path, want, document.Dig(p, path))
		}
		if v := document.Under(p, "config.windowsNodeConfig"); v == nil || len(v) > 0 {
			w.Errorf("config.windowsNodeConfig: want {}, got %v", v)
		}
		check(w, "autoscaling", nil, p["autoscaling"])
		check(w, "members without a value", 0, len(document.Under(p, "config.linuxNodeConfig"))+len(document.Under(p, "config.labels")))
		url := document.Texts(p, "instanceGroupUrls")[0]
		prefix := "https://www.googleapis.com/compute/v1/projects/simulated-project/zones/us-central1-a/instanceGroupManagers/gke-c-default-pool-"
		if !strings.HasPrefix(url, prefix) || !strings.HasSuffix(url, "-grp") {
			w.Errorf("instanceGroupUrls: want %s…-grp, got %s", prefix, url)
		}
		path := strings.Replace(url, "https://www.googleapis.com/", "/", 1)
		g := w.get(path)
		for path, want := range map[string]any{
			"updatePolicy.type": "OPPORTUNISTIC", "updatePolicy.minimalAction": "REPLACE", "updatePolicy.maxSurge.fixed": 1.0,
			"instanceLifecyclePolicy.forceUpdateOnRepair": "YES", "listManagedInstancesResults": "PAGINATED", "satisfiesPzi": nil,
			"serviceAccount": "service-" + project.DefaultNumber + "@container-engine-robot.iam.gserviceaccount.com",
		} {
			check(w, path, want, document.Dig(g, path))
		}
		const regional = google + "regions/us-central1/instanceTemplates/gke-c-default-pool-"
		if link := document.Text(g, "instanceTemplate"); !strings.HasPrefix(link, regional) {
			w.Errorf("instanceTemplate: want one of the region, got %s", link)
		}
		path = strings.Replace(document.Text(g, "instanceTemplate"), "https://www.googleapis.com/", "/", 1)
		items, _ := w.get(base + "/aggregated/instanceTemplates")["items"].(doc)
		check(w, "templates of the region", document.Text(w.get(path), "name"),
			document.Text(document.Objects(items, "regions/us-central1.instanceTemplates")[0], "name"))
		path = strings.Replace(url, "https://www.googleapis.com/", "/", 1)
		check(w, "machines", 1, len(w.managed(path)))
		check(w, "clusters of all locations", 1, len(document.Objects(w.get("/v1/projects/simulated-project/locations/-/clusters"), "clusters")))
	})
}

// unseen is a host whose machines no one sees as nodes.
type unseen struct{ host }

func (*unseen) Ready(string) bool       { return false }
func (*unseen) Cordon(string, bool)     {}
func (*unseen) Drain(string, bool) bool { return true }
func (*unseen) Mark(string, sim.Marks)  {}
func (*unseen) Unregister(string)       {}

// TestGKEWithoutAPIServer holds that a cluster that has no API server gets its node pools, and shows an address and a CA of its own.
func TestGKEWithoutAPIServer(t *testing.T) {
	inBubble(t, gcp.Options{Speed: 1, MachineHost: &unseen{host{on: map[string]sim.Machine{}}}}, func(w *world) {
		w.do(http.MethodPost, clusters, doc{"cluster": doc{"name": "c", "initialNodeCount": 2}})
		w.settled("c")
		check(w, "status", "RUNNING", w.pool("default-pool").Status)
		c := w.get(clusters + "/c")
		ca, err := base64.StdEncoding.DecodeString(document.Text(c, "masterAuth.clusterCaCertificate"))
		block, _ := pem.Decode(ca)
		if err != nil || block == nil {
			t.Fatalf("want a certificate, got %s, %v", ca, err)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			t.Error(err)
		}
		address := document.Text(c, "endpoint")
		for path, want := range map[string]any{
			"controlPlaneEndpointsConfig.ipEndpointsConfig.publicEndpoint": address, "privateClusterConfig.publicEndpoint": address,
			"controlPlaneEndpointsConfig.ipEndpointsConfig.enabled":              true,
			"controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic": false,
		} {
			check(w, path, want, document.Dig(c, path))
		}
		if address == "" || !strings.HasSuffix(document.Text(c, "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint"), ".gke.goog") {
			t.Errorf("want an address and a name, got %q", address)
		}
	})
}

// TestGKERefusals compares refusals with GKE's own words.
func TestGKERefusals(t *testing.T) {
	gke(t, 1, func(w *world) {
		for _, c := range []struct {
			why, method, path string
			body              doc
			status            int
			reason, message   string
		}{
			{"an unknown member", http.MethodPost, pools, doc{"nodePool": doc{"name": "q", "config": doc{"cores": 1}}}, 400, "badRequest",
				`Invalid JSON payload received. Unknown name "cores" at 'node_pool.config': Cannot find field.`},
			{"a name that is taken", http.MethodPost, pools, doc{"nodePool": doc{"name": "p"}}, 409, "alreadyExists",
				"Already exists: projects/simulated-project/zones/us-central1-a/clusters/c/nodePools/p."},
			{"nodes newer than the control plane", http.MethodPost, pools, doc{"nodePool": doc{"name": "q", "version": "1.35"}}, 400, "badRequest",
				`Node version "1.35.7-gke.1735500" must not have a greater minor version than master version "1.34.3-gke.1334000".`},
			{"nodes too far behind", http.MethodPost, pools, doc{"nodePool": doc{"name": "q", "version": "1.32"}}, 400, "badRequest",
				`Auto-upgrade is enabled, node version "1.32.7-gke.1732500" must be within one minor version of master version "1.34.3-gke.1334000".`},
			{"a version that is not offered", http.MethodPut, pools + "/p", doc{"nodeVersion": "1.34.2-gke.7"}, 400, "badRequest",
				`Node version "1.34.2-gke.7" is unsupported.`},
			{"an alias of none", http.MethodPut, pools + "/p", doc{"nodeVersion": "1.99"}, 400, "badRequest",
				`No valid versions with the prefix "1.99" found.`},
			{"an update of nothing", http.MethodPut, pools + "/p", doc{}, 400, "badRequest", "Must provide an update."},
			{"a step too far", http.MethodPost, clusters + "/c:updateMaster", doc{"masterVersion": "1.36"}, 400, "badRequest",
				`Master cannot be upgraded to "1.36.7-gke.1736500": cannot upgrade the master more than a minor version at a time.`},
			{"a machine type that is not there", http.MethodPost, pools, doc{"nodePool": doc{"name": "q", "config": doc{"machineType": "z9"}}}, 400,
				"badRequest",
				`Machine type with name "z9" does not exist in zone "us-central1-a".`},
			{"a missing node pool", http.MethodGet, pools + "/q", nil, 404, "notFound",
				`Not found: node pool "q" not found.`},
			{"another etag", http.MethodPut, pools + "/p", doc{"etag": "x", "nodeVersion": newer}, 409, "aborted", ""},
		} {
			if got := w.refused(c.method, c.path, c.body, c.status, c.reason); c.message != "" && got != c.message {
				t.Errorf("%s: want %q, got %q", c.why, c.message, got)
			}
		}
		op := document.Text(w.do(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": 2}), "name")
		status, d := w.ask(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": 3})
		check(w, "status while an operation runs", http.StatusBadRequest, status)
		check(w, "state while an operation runs", "FAILED_PRECONDITION", document.Text(d, "error.status"))
		check(w, "words while an operation runs", "Cluster is running incompatible operation "+op+".", document.Text(d, "error.message"))
		check(w, "reason while an operation runs", "CLUSTER_ALREADY_HAS_OPERATION",
			document.Text(document.Objects(d, "error.details")[0], "reason"))
	})
}

// TestGKESizes walks a node pool through sizes: those that it is given, and those that its groups are given beside it.
func TestGKESizes(t *testing.T) {
	gke(t, 1, func(w *world) {
		check(w, "type", "SET_NODE_POOL_SIZE", document.Text(w.do(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": 3}), "operationType"))
		check(w, "status", "RECONCILING", document.Text(w.get(pools+"/p"), "status"))
		w.settled("c")
		p := w.pool("p")
		check(w, "nodes", 3, len(p.Machines))
		check(w, "initialNodeCount", 3.0, w.get(pools + "/p")["initialNodeCount"])
		path := "/compute/v1/" + p.Groups[0].Path
		w.do(http.MethodPost, path+"/deleteInstances", doc{"instances": []any{"zones/us-central1-a/instances/" + p.Machines[1].Name}})
		w.rest(10 * minute)
		check(w, "nodes after one was deleted by its group", 2, len(w.pool("p").Machines))
		check(w, "initialNodeCount after one was deleted by its group", 3.0, w.get(pools + "/p")["initialNodeCount"])
		w.do(http.MethodPost, pools+"/p:setSize", doc{})
		w.settled("c")
		check(w, "nodes at zero", 0, len(w.pool("p").Machines))
		check(w, "initialNodeCount at zero", nil, w.get(pools + "/p")["initialNodeCount"])

		check(w, "type of setAutoscaling", "UPDATE_CLUSTER", document.Text(w.do(http.MethodPost, pools+"/p:setAutoscaling",
			doc{"autoscaling": doc{"enabled": true, "minNodeCount": 1, "maxNodeCount": 4}}), "operationType"))
		w.settled("c")
		check(w, "location policy", "BALANCED", document.Text(w.get(pools+"/p"), "autoscaling.locationPolicy"))
		if err := w.GKE.Autoscale("c/p", 4); err != nil {
			t.Fatal(err)
		}
		if err := w.GKE.Autoscale("c/p", 5); err == nil {
			t.Error("want the autoscaler to stay within its bounds")
		}
		w.rest(10 * minute)
		check(w, "nodes of the autoscaler", 4, len(w.pool("p").Machines))
		check(w, "initialNodeCount after the autoscaler", nil, w.get(pools + "/p")["initialNodeCount"])
	})
}

// TestGKEInPlace changes what existing nodes get too: no node is replaced, and new ones get it from another template.
func TestGKEInPlace(t *testing.T) {
	gke(t, 1, func(w *world) {
		before := w.pool("p").Machines[0]
		path := "/compute/v1/" + w.pool("p").Groups[0].Path
		template := document.Text(w.get(path), "instanceTemplate")
		w.do(http.MethodPut, pools+"/p", doc{"labels": doc{"labels": doc{"team": "a"}}, "resourceLabels": doc{"labels": doc{"cost": "b"}},
			"taints": doc{"taints": []any{doc{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}}}})
		w.settled("c")
		p := w.get(pools + "/p")
		check(w, "label", "a", document.Text(p, "config.labels.team"))
		check(w, "resource label", "b", document.Text(p, "config.resourceLabels.cost"))
		check(w, "GKE's resource label", "on-demand", document.Text(p, "config.resourceLabels.goog-gke-node-pool-provisioning-model"))
		check(w, "node", before.Name, w.pool("p").Machines[0].Name)
		check(w, "stale", false, w.pool("p").Machines[0].Stale)
		if now := document.Text(w.get(path), "instanceTemplate"); now == template {
			t.Error("want another template for new nodes")
		}
		w.do(http.MethodPut, pools+"/p", doc{"imageType": "ubuntu_containerd"})
		w.settled("c")
		check(w, "image", "UBUNTU_CONTAINERD", w.pool("p").ImageType)
		if m := w.pool("p").Machines; len(m) != 1 || m[0].Name == before.Name {
			t.Errorf("want the node replaced, got %+v", m)
		}
		w.do(http.MethodPut, pools+"/p", doc{"linuxNodeConfig": doc{}})
		name := w.pool("p").Machines[0].Name
		w.settled("c")
		check(w, "node after an update that changes nothing", name, w.pool("p").Machines[0].Name)
	})
}

// TestGKEZoneNeverCreated cancels the change that adds a zone before its group is there: the next upgrade creates it.
func TestGKEZoneNeverCreated(t *testing.T) {
	gke(t, 2, func(w *world) {
		op := document.Text(w.do(http.MethodPut, pools+"/p", doc{"locations": []any{"us-central1-a", "us-central1-f"}}), "name")
		w.cancel(op)
		w.settled("c")
		w.do(http.MethodPut, pools+"/p", doc{"nodeVersion": newer})
		w.settled("c")
		p := w.pool("p")
		check(w, "version", newer, p.Version)
		check(w, "nodes", 4, p.Nodes)
	})
}

// TestGKERegional creates a node pool in all zones of a regional cluster, and moves it to others.
func TestGKERegional(t *testing.T) {
	inBubble(t, gcp.Options{Speed: 1}, func(w *world) {
		at := "/v1/projects/simulated-project/locations/us-central1/clusters"
		w.do(http.MethodPost, at, doc{"cluster": doc{"name": "c", "nodePools": []any{doc{"name": "p", "initialNodeCount": 1}}}})
		w.settled("c")
		check(w, "nodes", 3, len(w.pool("p").Machines))
		check(w, "selfLink", "https://container.googleapis.com/v1/projects/simulated-project/locations/us-central1/clusters/c",
			document.Text(w.get(at+"/c"), "selfLink"))
		w.do(http.MethodPut, at+"/c/nodePools/p", doc{"locations": []any{"us-central1-a", "us-central1-f"}})
		w.settled("c")
		w.rest(10 * minute)
		p := w.pool("p")
		check(w, "groups", 2, len(p.Groups))
		zones := map[string]bool{}
		for _, m := range p.Machines {
			zones[m.Zone] = true
		}
		if len(p.Machines) != 2 || !zones["us-central1-a"] || !zones["us-central1-f"] {
			t.Errorf("want a node in each of two zones, got %+v", p.Machines)
		}
		w.do(http.MethodDelete, at+"/c", nil)
		w.rest(30 * minute)
		check(w, "clusters", 0, len(w.State().Clusters))
		check(w, "groups after the cluster", 0, len(w.State().Groups))
		check(w, "templates after the cluster", 0, len(w.State().Templates))
	})
}

// TestGKENamesAreNotUsedAgain holds that a node pool that is created under the name of a deleted one has groups and templates of other
// names: a template never changes.
func TestGKENamesAreNotUsedAgain(t *testing.T) {
	gke(t, 1, func(w *world) {
		before := w.State()
		w.do(http.MethodDelete, pools+"/p", nil)
		w.settled("c")
		w.do(http.MethodPost, pools, doc{"nodePool": doc{"name": "p", "initialNodeCount": 1, "version": newer}})
		w.settled("c")
		after := w.State()
		if len(before.Templates) != 1 || len(after.Templates) != 1 || before.Templates[0].Name == after.Templates[0].Name {
			t.Errorf("want another template, got %v and %v", before.Templates, after.Templates)
		}
		if len(before.Groups) != 1 || len(after.Groups) != 1 || before.Groups[0].Name == after.Groups[0].Name {
			t.Errorf("want another group, got %v and %v", before.Groups, after.Groups)
		}
	})
}

// TestGKEStockout gives a zone no capacity: the operation fails with GKE's condition, and the node pool stays with an error.
func TestGKEStockout(t *testing.T) {
	gke(t, 1, func(w *world) {
		if err := w.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: "us-central1-a"}); err != nil {
			t.Fatal(err)
		}
		op := document.Text(w.do(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": 2}), "name")
		w.rest(36 * minute)
		w.settled("c")
		d := w.get("/v1/projects/simulated-project/locations/us-central1-a/operations/" + op)
		check(w, "code", "GCE_STOCKOUT", document.Text(document.Objects(d, "nodepoolConditions")[0], "code"))
		check(w, "error", 8.0, document.Dig(d, "error.code"))
		p := w.get(pools + "/p")
		check(w, "status", "RUNNING_WITH_ERROR", document.Text(p, "status"))
		if m := document.Text(p, "statusMessage"); !strings.HasPrefix(m,
			"Google Compute Engine: Not all instances running in IGM after 35m0s. Expected 2, running 1, transitioning 1. "+
				"Current errors: [GCE_STOCKOUT]: Instance 'gke-c-p-") {
			t.Errorf("want GKE's words, got %q", m)
		}
		w.do(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": 1})
		w.settled("c")
		check(w, "status after the node was not wanted any more", "RUNNING", document.Text(w.get(pools+"/p"), "status"))
	})
}

// TestGKEFailedWithoutNodes holds that a node pool that is to have no nodes stays usable when one of its operations fails.
func TestGKEFailedWithoutNodes(t *testing.T) {
	gke(t, 0, func(w *world) {
		if err := w.GKE.UpdatePool("c/p", document.Object{"labels": document.Object{"labels": document.Object{"a": "b"}}}); err != nil {
			t.Fatal(err)
		}
		if err := w.GKE.FailPool("c/p", "GCE_STOCKOUT", "none left"); err != nil {
			t.Fatal(err)
		}
		check(w, "status", "RUNNING_WITH_ERROR", w.pool("p").Status)
	})
}

// TestGKEOutage lets a zone be out of reach: lists say what they may miss, and requests to its clusters fail.
func TestGKEOutage(t *testing.T) {
	gke(t, 1, func(w *world) {
		all := "/v1/projects/simulated-project/locations/-/clusters"
		if err := w.SetReachable(compute.Scope{Scope: "zones/us-central1-a"}); err != nil {
			t.Fatal(err)
		}
		d := w.get(all)
		check(w, "clusters", 0, len(document.Objects(d, "clusters")))
		check(w, "missing zones", "us-central1-a", strings.Join(document.Texts(d, "missingZones"), " "))
		w.refused(http.MethodGet, clusters+"/c", nil, http.StatusServiceUnavailable, "backendError")
		if err := w.SetReachable(compute.Scope{Scope: "zones/us-central1-a", Reachable: true}); err != nil {
			t.Fatal(err)
		}
		d = w.get(all)
		check(w, "clusters", 1, len(document.Objects(d, "clusters")))
		check(w, "missing zones", 0, len(document.Items(d, "missingZones")))
	})
}

// TestGKEByHand does what users and GKE do beside the driver: upgrades, resizes, repairs and deletions.
func TestGKEByHand(t *testing.T) {
	gke(t, 2, func(w *world) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(w.GKE.UpgradeMaster("c", "1.35"))
		w.settled("c")
		check(w, "version of the control plane", "1.35.7-gke.1735500", w.State().Clusters[0].Version)
		must(w.GKE.UpgradePool("c/p", ""))
		w.settled("c")
		check(w, "version of the nodes", "1.35.7-gke.1735500", w.pool("p").Version)
		must(w.GKE.ResizePool("c/p", 3))
		w.settled("c")
		check(w, "nodes", 3, len(w.pool("p").Machines))
		sick := w.pool("p").Machines[1]
		must(w.GKE.Repair("c/p", sick.Name))
		w.settled("c")
		for _, m := range w.pool("p").Machines {
			if m.Name == sick.Name && m.UID == sick.UID {
				t.Errorf("want %s created anew, got the same machine", m.Name)
			}
		}
		must(w.Terminate(w.pool("p").Machines[0].Name))
		w.rest(10 * minute)
		check(w, "nodes after one was deleted", 3, len(w.pool("p").Machines))
		must(w.GKE.CreatePool("c/q", "n2-standard-2", 1))
		w.settled("c")
		must(w.GKE.DeletePool("c/p"))
		w.settled("c")
		check(w, "node pools", 1, len(w.State().Clusters[0].Pools))
	})
}

// TestGKEIgnores ignores a field of an update and the whole of another request: both are answered with an operation that ends.
func TestGKEIgnores(t *testing.T) {
	gke(t, 1, func(w *world) {
		for _, f := range []sim.Fault{
			{Kind: sim.Ignore, Action: "projects.locations.clusters.nodePools.update", Field: "labels"},
			{Kind: sim.Ignore, Action: "projects.locations.clusters.nodePools.setSize"},
		} {
			if err := w.Faults().Add(f); err != nil {
				t.Fatal(err)
			}
		}
		w.do(http.MethodPut, pools+"/p", doc{"labels": doc{"labels": doc{"a": "b"}}, "imageType": "UBUNTU_CONTAINERD"})
		w.settled("c")
		check(w, "label", "", document.Text(w.get(pools+"/p"), "config.labels.a"))
		check(w, "image", "UBUNTU_CONTAINERD", w.pool("p").ImageType)
		op := document.Text(w.do(http.MethodPost, pools+"/p:setSize", doc{"nodeCount": 3}), "name")
		w.rest(minute)
		check(w, "operation", "DONE", document.Text(w.get("/v1/projects/simulated-project/locations/us-central1-a/operations/"+op), "status"))
		check(w, "nodes", 1, len(w.pool("p").Machines))
	})
}

package oci_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
)

// TestVirtualNodePool: a virtual node pool is created, resized and deleted, with virtual nodes in a list of their own.
func TestVirtualNodePool(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		const all = "/20180222/virtualNodePools"
		placement := []any{doc{"availabilityDomain": oci.Domains()[0], "subnetId": "s", "faultDomain": []any{"FAULT-DOMAIN-2"}}}
		body := doc{"displayName": "v", "compartmentId": oci.Compartment, "clusterId": k.cluster, "size": 2,
			"podConfiguration": doc{"shape": "Pod.Standard.E4.Flex", "subnetId": "pods"}, "placementConfigurations": placement,
			"taints": []any{doc{"key": "a", "value": "b", "effect": "NoSchedule"}}}
		work := k.ok(http.MethodPost, all, body)
		resource := document.Objects(k.get("/20180222/workRequests/"+work), "resources")[0]
		if resource["entityType"] != "VirtualNodePool" || k.work(work) != "VIRTUALNODEPOOL_CREATE ACCEPTED" {
			t.Errorf("want a virtual node pool created, got %v", resource)
		}
		pool := all + "/" + document.Text(resource, "identifier")
		pass(10 * time.Minute)
		nodes := k.list(pool + "/virtualNodes?limit=1")
		if len(nodes) != 2 || nodes[0]["lifecycleState"] != "ACTIVE" || nodes[0]["faultDomain"] != "FAULT-DOMAIN-2" {
			t.Errorf("want two virtual nodes in their fault domain, got %v", nodes)
		}
		if one := k.get(pool + "/virtualNodes/" + document.Text(nodes[0], "id")); one["virtualNodePoolId"] != resource["identifier"] {
			t.Errorf("want the virtual node of the pool, got %v", one)
		}
		k.ok(http.MethodPut, pool, doc{"displayName": "w"})
		k.ok(http.MethodPut, pool, doc{"size": 1})
		pass(10 * time.Minute)
		if is := k.get(pool); is["size"] != 1.0 || is["displayName"] != "w" || is["lifecycleState"] != "ACTIVE" ||
			is["kubernetesVersion"] != "v1.34.2" {
			t.Errorf("want a pool of one, got %v", is)
		}
		if got := len(k.list(all + "?compartmentId=" + oci.Compartment + "&name=w")); got != 1 {
			t.Errorf("want one virtual node pool, got %d", got)
		}
		if got := len(k.list(atPools + "?compartmentId=" + oci.Compartment)); got != 0 {
			t.Errorf("want no other node pool, got %d", got)
		}
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, atPools+"/"+document.Text(resource, "identifier"), nil)
		body["podConfiguration"] = doc{"shape": "Pod.None", "subnetId": "pods"}
		k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodPost, all, body)
		if got := len(k.list("/20180222/podShapes?compartmentId=" + oci.Compartment)); got == 0 {
			t.Error("want pod shapes")
		}
		k.ok(http.MethodDelete, pool+"?overrideEvictionGraceDurationVnp=PT0M", nil)
		pass(10 * time.Minute)
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, pool, nil)
	})
}

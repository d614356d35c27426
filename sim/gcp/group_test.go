package gcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
)

func TestGroupBootsItsInstances(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		op := w.group("pool", w.template("tmpl"), 2)
		check(w, "the operation's type", "compute.instanceGroupManagers.insert", document.Text(op, "operationType"))
		w.rest(minute)
		on := w.host.machines()
		check(w, "machines", 2, len(on))
		for name, m := range on {
			check(w, "the provider ID", "gce://simulated-project/us-central1-b/"+name, m.ProviderID)
			check(w, "the user data", "#cloud-config tmpl", string(m.UserData))
			check(w, "the kubelet", "v1.33.1", m.KubeletVersion)
		}
		g := w.get(groups + "/pool")
		check(w, "stable", true, document.Truth(g, "status.isStable"))
		for name, m := range w.managed(groups + "/pool") {
			check(w, name+" action", "NONE", document.Text(m, "currentAction"))
			check(w, name+" state", "RUNNING", document.Text(m, "instanceStatus"))
		}
	})
}

func TestDeleteInstancesLowersTheSize(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("tmpl"), 3)
		w.rest(minute)
		name := keys(w.managed(groups + "/pool"))[1]
		w.do(http.MethodPost, groups+"/pool/deleteInstances", doc{"instances": []any{"zones/" + zone + "/instances/" + name}})
		g := w.get(groups + "/pool")
		size, _ := document.Number(g, "targetSize")
		check(w, "the size", 2, size)
		check(w, "the action", "DELETING", document.Text(w.managed(groups + "/pool")[name], "currentAction"))
		w.rest(minute)
		check(w, "instances", 2, len(w.managed(groups+"/pool")))
		if _, there := w.host.machines()[name]; there {
			t.Errorf("want %s off", name)
		}
	})
}

// TestTemplateOfARegion holds that a region's templates are listed apart from the global ones, and serve the groups of the region's zones.
func TestTemplateOfARegion(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		const all = base + "/regions/us-central1/instanceTemplates"
		w.template("global")
		link := document.Text(w.do(http.MethodPost, all, compute.Example("tmpl")), "targetLink")
		check(w, "the region's", 1, len(document.Objects(w.get(all), "items")))
		check(w, "the global ones", 1, len(document.Objects(w.get(base+"/global/instanceTemplates"), "items")))
		check(w, "the region", "us-central1", project.LastOf(document.Text(w.get(all+"/tmpl"), "region")))
		w.group("pool", link, 1)
		w.rest(minute)
		check(w, "machines", 1, len(w.host.machines()))
		w.refused(http.MethodDelete, all+"/tmpl", nil, 400, "resourceInUseByAnotherResource")
	})
}

func TestResizeAndDelete(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("tmpl"), 1)
		w.do(http.MethodPost, groups+"/pool/resize?size=4", nil)
		w.rest(minute)
		check(w, "machines", 4, len(w.host.machines()))
		op := w.do(http.MethodDelete, groups+"/pool", nil)
		w.refused(http.MethodPost, groups+"/pool/resize?size=5", nil, 400, "resourceNotReady")
		w.rest(minute)
		done := w.get(strings.TrimPrefix(document.Text(op, "selfLink"), "https://www.googleapis.com"))
		check(w, "the operation", "DONE", document.Text(done, "status"))
		w.refused(http.MethodGet, groups+"/pool", nil, 404, "notFound")
		check(w, "machines", 0, len(w.host.machines()))
		w.do(http.MethodDelete, base+"/global/instanceTemplates/tmpl", nil)
	})
}

func TestTemplateInUseIsKept(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		first, second := w.template("first"), w.template("second")
		w.group("pool", first, 1)
		w.rest(minute)
		w.refused(http.MethodDelete, base+"/global/instanceTemplates/first", nil, 400, "resourceInUseByAnotherResource")
		w.do(http.MethodPost, groups+"/pool/setInstanceTemplate", doc{"instanceTemplate": second})
		w.rest(minute)
		for _, m := range w.managed(groups + "/pool") {
			check(w, "the instance's template", first, document.Text(m, "version.instanceTemplate"))
		}
		check(w, "the version is reached", false, document.Truth(w.get(groups+"/pool"), "status.versionTarget.isReached"))
		w.refused(http.MethodDelete, base+"/global/instanceTemplates/first", nil, 400, "resourceInUseByAnotherResource")
	})
}

func TestUnknownMethod(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		for _, path := range []string{base + "/global/nonsense", "/v1/projects/simulated-project/nonsense", "/nonsense"} {
			check(w, path, "Method not found.", w.refused(http.MethodGet, path, nil, 404, "notFound"))
		}
	})
}

// TestInstancesOfInstanceGroups lists the members of zonal and of regional instance groups as clients do that know no manager.
func TestInstancesOfInstanceGroups(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		link := w.template("first")
		w.group("pool", link, 2)
		w.do(http.MethodPost, base+"/regions/us-central1/instanceGroupManagers", doc{"name": "pool", "targetSize": 3, "instanceTemplate": link})
		w.rest(10 * minute)
		for place, want := range map[string]int{"zones/" + zone: 2, "regions/us-central1": 3} {
			at := base + "/" + place + "/instanceGroups"
			check(w, place+": size", any(float64(want)), w.get(at + "/pool")["size"])
			check(w, place+": groups", 1, len(document.Objects(w.get(at), "items")))
			for _, state := range []string{"ALL", "RUNNING"} {
				items := document.Objects(w.do(http.MethodPost, at+"/pool/listInstances", doc{"instanceState": state}), "items")
				check(w, place+": instances", want, len(items))
				check(w, place+": status", "RUNNING", document.Text(items[0], "status"))
			}
			w.refused(http.MethodPost, at+"/none/listInstances", nil, 404, "notFound")
		}
	})
}

package gcp_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
)

func TestRequestIDsMakeWritesIdempotent(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		const id = "?requestId=11111111-2222-4333-8444-555555555555"
		body := doc{"name": "pool", "targetSize": 1, "instanceTemplate": w.template("first")}
		first := w.do(http.MethodPost, groups+id, body)
		again := w.do(http.MethodPost, groups+id, body)
		check(w, "the operation", document.Text(first, "name"), document.Text(again, "name"))
		check(w, "the client's ID", "11111111-2222-4333-8444-555555555555", document.Text(again, "clientOperationId"))
		w.refused(http.MethodPost, groups, body, 409, "alreadyExists")
		w.refused(http.MethodPost, groups+"?requestId=00000000-0000-0000-0000-000000000000", body, 400, "invalid")
		w.refused(http.MethodPost, groups+"?requestId=mine", body, 400, "invalid")
		w.refused(http.MethodPost, groups+"/pool/resize"+id+"&size=2", nil, 400, "invalid")
		w.rest(61 * minute)
		w.refused(http.MethodPost, groups+id, body, 409, "alreadyExists")
	})
}

func TestFingerprintGuardsAPatch(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		seen := document.Text(w.get(groups+"/pool"), "fingerprint")
		patch := doc{"fingerprint": seen, "updatePolicy": doc{"minimalAction": "RESTART"}}
		w.do(http.MethodPatch, groups+"/pool", patch)
		w.refused(http.MethodPatch, groups+"/pool", patch, 412, "conditionNotMet")
		w.do(http.MethodPatch, groups+"/pool", doc{"updatePolicy": doc{"minimalAction": "REPLACE"}})
	})
}

func TestListsHavePages(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		for n := range 5 {
			w.template("t" + strconv.Itoa(n))
		}
		var names []string
		token := ""
		for pages := 0; pages == 0 || token != ""; pages++ {
			d := w.get(base + "/global/instanceTemplates?maxResults=2&pageToken=" + url.QueryEscape(token))
			for _, one := range document.Objects(d, "items") {
				names = append(names, document.Text(one, "name"))
			}
			token = document.Text(d, "nextPageToken")
		}
		check(w, "the names", "t0 t1 t2 t3 t4", strings.Join(names, " "))
		if err := w.Faults().Add(sim.Fault{Kind: sim.PageLimit, Limit: 1}); err != nil {
			t.Fatal(err)
		}
		check(w, "items of a short page", 1, len(document.Objects(w.get(base+"/global/instanceTemplates"), "items")))
	})
}

func TestListsHaveFilters(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.template("a1")
		w.template("a2", func(d doc) { document.Place(d, "properties.labels", doc{"owner": "you", "muster-dev_owner-id": "x-1"}) })
		w.template("b1")
		for filter, want := range map[string]string{
			"name=a1":                         "a1",
			`name = "b1"`:                     "b1",
			"name != b1":                      "a1 a2",
			"name eq a.*":                     "a1 a2",
			"name:a*":                         "a1 a2",
			"name=a1 OR name=b1":              "a1 b1",
			"(name=a1 OR name=a2) AND name:2": "a2",
			"properties.labels.owner=you":     "a2",
			"properties.labels.muster-dev_owner-id=x-1": "a2",
			"properties.labels.muster-dev_owner-id:*":   "a2",
			"NOT name=b1": "a1 a2",
			"selfLink eq https://www.googleapis.com/compute/v1/projects/simulated-project/global/instanceTemplates/a.*": "a1 a2",
			"(selfLink = https://www.googleapis.com/compute/v1/projects/simulated-project/global/instanceTemplates/b1)": "b1",
			"name=none": "",
		} {
			var names []string
			for _, one := range document.Objects(w.get(base+"/global/instanceTemplates?filter="+url.QueryEscape(filter)), "items") {
				names = append(names, document.Text(one, "name"))
			}
			check(w, filter, want, strings.Join(names, " "))
		}
		w.refused(http.MethodGet, base+"/global/instanceTemplates?filter="+url.QueryEscape("name"), nil, 400, "invalid")
	})
}

func TestAggregatedListTellsOfScopesThatCannotBeReached(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		w.region(1)
		const all = base + "/aggregated/instanceGroupManagers"
		d := w.get(all)
		code := func(d doc, scope string) string {
			items, _ := d["items"].(doc)
			under, _ := items[scope].(doc)
			return document.Text(under, "warning.code")
		}
		check(w, "a scope without groups", "NO_RESULTS_ON_PAGE", code(d, "zones/us-central1-a"))
		check(w, "the group's scope", "", code(d, "zones/"+zone))
		check(w, "the region", "", code(d, "regions/us-central1"))
		if err := w.SetReachable(compute.Scope{Scope: "zones/" + zone}); err != nil {
			t.Fatal(err)
		}
		w.refused(http.MethodGet, all, nil, 503, "backendError")
		w.refused(http.MethodGet, groups+"/pool", nil, 503, "backendError")
		d = w.get(all + "?returnPartialSuccess=true")
		check(w, "the lost scope", "UNREACHABLE", code(d, "zones/"+zone))
		check(w, "the region", "", code(d, "regions/us-central1"))
		check(w, "unreachables", 1, len(document.Items(d, "unreachables")))
	})
}

func TestTokensAndPermissions(t *testing.T) {
	const email = "muster@simulated-project.iam.gserviceaccount.com"
	account := gcp.Account{Email: email, Denied: []string{"compute.instanceGroupManagers.update"}}
	inBubble(t, gcp.Options{Accounts: []gcp.Account{account}}, func(w *world) {
		w.refused(http.MethodGet, groups+"/pool", nil, 401, "authError")
		w.bearer = ""
		w.refused(http.MethodGet, groups+"/pool", nil, 401, "required")
		w.bearer = w.signIn(email)
		op := w.group("pool", w.template("first"), 1)
		check(w, "the user", email, document.Text(op, "user"))
		message := w.refused(http.MethodPost, groups+"/pool/resize?size=2", nil, 403, "forbidden")
		check(w, "the words", "Required 'compute.instanceGroupManagers.update' permission for 'projects/simulated-project/zones/"+zone+
			"/instanceGroupManagers/pool'", message)
		w.rest(61 * minute)
		w.refused(http.MethodGet, groups+"/pool", nil, 401, "authError")
	})
}

func TestQuotaOfRequests(t *testing.T) {
	limits := gcp.Limits{project.BucketRead: 2}
	inBubble(t, gcp.Options{Limits: limits}, func(w *world) {
		w.template("first")
		const one = base + "/global/instanceTemplates/first"
		w.get(one)
		w.get(one)
		w.refused(http.MethodGet, one, nil, 403, "rateLimitExceeded")
		w.refused(http.MethodGet, groups+"/none", nil, 404, "notFound") // a region has quotas of its own
		w.rest(59 * time.Second)
		w.refused(http.MethodGet, one, nil, 403, "rateLimitExceeded")
		w.rest(time.Second)
		w.get(one)
	})
}

func TestWaitAnswersWhenTheOperationIsDone(t *testing.T) {
	inBubble(t, gcp.Options{Speed: 1}, func(w *world) {
		op := w.group("pool", w.template("first"), 1)
		path := strings.TrimPrefix(document.Text(op, "selfLink"), "https://www.googleapis.com")
		check(w, "the operation is done", false, document.Text(op, "status") == "DONE")
		check(w, "the status after the wait", "DONE", document.Text(w.do(http.MethodPost, path+"/wait", nil), "status"))
	})
}

func TestStaleReads(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		if err := w.Faults().Add(sim.Fault{Kind: sim.Stale, Writes: 1, Times: 1}); err != nil {
			t.Fatal(err)
		}
		w.refused(http.MethodGet, groups+"/pool", nil, 404, "notFound")
		w.get(groups + "/pool")
		if err := w.Faults().Add(sim.Fault{Kind: sim.Stale, Writes: 9}); err != nil {
			t.Fatal(err)
		}
		w.get(base + "/global/images/family/capi-ubuntu-2404-k8s-v1-33")
	})
}

func TestIgnoredFieldsAreAcceptedAndDoNothing(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		if err := w.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "instanceGroupManagers.patch", Field: "updatePolicy"}); err != nil {
			t.Fatal(err)
		}
		op := w.do(http.MethodPatch, groups+"/pool", doc{"updatePolicy": doc{"type": "PROACTIVE"}, "targetSize": 2})
		g := w.get(groups + "/pool")
		size, _ := document.Number(g, "targetSize")
		check(w, "the size", 2, size)
		check(w, "the policy", "OPPORTUNISTIC", document.Text(g, "updatePolicy.type"))
		w.get(strings.TrimPrefix(document.Text(op, "selfLink"), "https://www.googleapis.com"))
		w.Faults().Clear()
		if err := w.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "instanceGroupManagers.resize"}); err != nil {
			t.Fatal(err)
		}
		op = w.do(http.MethodPost, groups+"/pool/resize?size=5", nil)
		size, _ = document.Number(w.get(groups+"/pool"), "targetSize")
		check(w, "the size", 2, size)
		w.rest(minute)
		check(w, "the operation", "DONE", document.Text(w.get(strings.TrimPrefix(document.Text(op, "selfLink"), "https://www.googleapis.com")),
			"status"))
	})
}

func TestStateSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	inBubble(t, gcp.Options{Dir: dir}, func(w *world) {
		w.group("pool", w.template("first"), 2)
		w.rest(minute)
	})
	inBubble(t, gcp.Options{Dir: dir}, func(w *world) {
		check(w, "machines", 2, len(w.host.machines()))
		check(w, "instances", 2, len(w.managed(groups+"/pool")))
	})
}

func TestBadRequests(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		first := w.template("first")
		elsewhere := document.Text(w.do(http.MethodPost, base+"/regions/europe-west1/instanceTemplates", compute.Example("first")), "targetLink")
		group := func(changes doc) doc {
			d := doc{"name": "pool", "targetSize": 1, "instanceTemplate": first}
			document.Merge(d, changes)
			return d
		}
		for _, c := range []struct {
			why    string
			body   doc
			status int
			reason string
		}{
			{"a name in capitals", group(doc{"name": "Pool"}), 400, "invalid"},
			{"no name", group(doc{"name": nil}), 400, "required"},
			{"no size", group(doc{"targetSize": nil}), 400, "required"},
			{"no template", group(doc{"instanceTemplate": nil}), 400, "required"},
			{"a template that does not exist", group(doc{"instanceTemplate": "global/instanceTemplates/none"}), 404, "notFound"},
			{"a template of another region", group(doc{"instanceTemplate": elsewhere}), 400, "invalid"},
			{"an instance as a template", group(doc{"instanceTemplate": "zones/us-central1-b/instances/x"}), 400, "invalid"},
			{"a field that does not exist", group(doc{"colour": "red"}), 400, "invalid"},
			{"zones of a zonal group", group(doc{"distributionPolicy": doc{"targetShape": "EVEN"}}), 400, "invalid"},
			{"neither surge nor unavailability", group(doc{"updatePolicy": doc{"maxSurge": doc{"fixed": 0}, "maxUnavailable": doc{"fixed": 0}}}),
				400, "invalid"},
			{"a type of updates that does not exist", group(doc{"updatePolicy": doc{"type": "SOMETIMES"}}), 400, "invalid"},
			{"percent of a small group", group(doc{"updatePolicy": doc{"maxSurge": doc{"percent": 10}}}), 400, "invalid"},
			{"a health check that does not exist", group(doc{"autoHealingPolicies": []any{doc{"healthCheck": "global/healthChecks/none"}}}), 404,
				"notFound"},
			{"more than all percent", group(doc{"targetSize": 20, "updatePolicy": doc{"maxSurge": doc{"percent": 101}}}), 400, "invalid"},
			{"a share of a version below nothing", group(doc{"instanceTemplate": nil, "versions": []any{doc{"instanceTemplate": first},
				doc{"instanceTemplate": first, "targetSize": doc{"percent": -1}}}}), 400, "invalid"},
			{"a template at a link-local address", group(doc{
				"instanceTemplate": strings.Replace(first, "www.googleapis.com", "169.254.169.254", 1)}), 404, "notFound"},
			{"a label in capitals", group(doc{"allInstancesConfig": doc{"properties": doc{"labels": doc{"Owner": "me"}}}}), 400, "invalid"},
		} {
			t.Log(c.why)
			w.refused(http.MethodPost, groups, c.body, c.status, c.reason)
		}
		w.refused(http.MethodPost, base+"/zones/us-central1-x/instanceGroupManagers", group(nil), 404, "notFound")
		for _, c := range []struct {
			member string
			value  any
			want   string
		}{
			{"sourceImage", "http://169.254.169.254/compute/v1/projects/simulated-project/global/images/family/capi-ubuntu-2404-k8s-v1-33",
				"malformed"},
			{"sourceImage", "https://images.example/noble.tar.gz", "malformed"},
			{"sourceImage", "zones/us-central1-a/disks/mine", "malformed"},
			{"diskSizeGb", "-1", "[1, 65536]"},
			{"diskSizeGb", "70000", "[1, 65536]"},
		} {
			d := compute.Example("t")
			document.Place(document.Objects(d, "properties.disks")[0], "initializeParams."+c.member, c.value)
			got := w.refused(http.MethodPost, base+"/global/instanceTemplates", d, 400, "invalid")
			if !strings.Contains(got, "disks[0].initializeParams."+c.member) || !strings.Contains(got, c.want) {
				t.Errorf("%s %v: want the field named and %s, got %s", c.member, c.value, c.want, got)
			}
		}
		w.refused(http.MethodGet, "/compute/v1/projects/none/global/instanceTemplates", nil, 404, "notFound")
		w.refused(http.MethodPost, base+"/global/instanceTemplates", doc{"name": "t", "properties": doc{
			"machineType": "e2-medium", "disks": []any{doc{"boot": true}}, "networkInterfaces": []any{doc{"network": "global/networks/none"}},
		}}, 400, "invalid")
	})
}

func TestAutoscalerSizesItsGroup(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		if err := w.Autoscale(sim.Resource{Name: "pool", Size: 2}); err == nil {
			t.Error("want no resize without an autoscaler")
		}
		const all = base + "/zones/" + zone + "/autoscalers"
		w.do(http.MethodPost, all, doc{
			"name": "a", "target": "zones/" + zone + "/instanceGroupManagers/pool",
			"autoscalingPolicy": doc{"minNumReplicas": 1, "maxNumReplicas": 4},
		})
		if err := w.Autoscale(sim.Resource{Name: "pool", Size: 9}); err != nil {
			t.Fatal(err)
		}
		g := w.get(groups + "/pool")
		size, _ := document.Number(g, "targetSize")
		check(w, "the size", 4, size)
		check(w, "the autoscaler", google+"zones/"+zone+"/autoscalers/a", document.Text(g, "status.autoscaler"))
		w.do(http.MethodDelete, all+"/a", nil)
		check(w, "the autoscaler", "", document.Text(w.get(groups+"/pool"), "status.autoscaler"))
	})
}

func TestTemplateNeedsItsOwnPermission(t *testing.T) {
	const email = "muster@simulated-project.iam.gserviceaccount.com"
	account := gcp.Account{Email: email, Denied: []string{"compute.instanceTemplates.useReadOnly"}}
	inBubble(t, gcp.Options{Accounts: []gcp.Account{account}}, func(w *world) {
		w.bearer = "simulated:" + email
		body := doc{"name": "pool", "targetSize": 1, "instanceTemplate": w.template("first")}
		w.refused(http.MethodPost, groups, body, 403, "forbidden")
		w.bearer = "simulated:other"
		w.refused(http.MethodGet, groups, nil, 403, "forbidden")
	})
}

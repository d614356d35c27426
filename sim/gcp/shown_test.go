package gcp_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
)

// No traffic of the real service is published for what these tests hold: they go by its API description and documentation, and by the
// groups of node pools in the recordings of TestRecordedTraffic.

// google begins the links to the resources of Compute Engine.
const google = "https://www.googleapis.com/compute/v1/projects/simulated-project/"

// fact is what Compute Engine shows at a path of an answer: a value, or with any that there is one.
type fact struct {
	path string
	want any
}

// present stands for any value.
const present = "(any)"

// holds checks an answer against facts, and that it has no members beside those named.
func (w *world) holds(what string, d doc, members string, facts []fact) {
	w.Helper()
	check(w, what+": members", members, strings.Join(keys(d), " "))
	for _, f := range facts {
		got := at(d, f.path)
		if f.want == present && got != nil {
			continue
		}
		check(w, what+": "+f.path, fmt.Sprint(f.want), fmt.Sprint(got))
	}
}

// at returns what lies at a path, in which numbers are places in lists.
func at(d doc, path string) any {
	var v any = d
	for part := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case doc:
			v = node[part]
		case []any:
			var n int
			if _, err := fmt.Sscan(part, &n); err != nil || n >= len(node) {
				return nil
			}
			v = node[n]
		default:
			return nil
		}
	}
	return v
}

func TestShownOperations(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		running := "id insertTime kind name operationType progress selfLink startTime status targetId targetLink user"
		link := w.template("tmpl")
		w.group("seed", link, 0)
		for _, c := range []struct {
			why, method, path string
			body              doc
			kind, target      string
			place             string
		}{
			{"a template is created", http.MethodPost, "/global/instanceTemplates", example("other"), "compute.instanceTemplates.insert",
				"global/instanceTemplates/other", ""},
			{"a template is deleted", http.MethodDelete, "/global/instanceTemplates/other", nil, "delete", "global/instanceTemplates/other", ""},
			{"a health check is created", http.MethodPost, "/global/healthChecks", doc{"name": "hc", "type": "HTTP"}, "insert",
				"global/healthChecks/hc", ""},
			{"a health check is deleted", http.MethodDelete, "/global/healthChecks/hc", nil, "delete", "global/healthChecks/hc", ""},
			{
				"a zonal group is created", http.MethodPost, "/zones/" + zone + "/instanceGroupManagers",
				doc{"name": "z", "targetSize": 0, "instanceTemplate": link},
				"compute.instanceGroupManagers.insert", "zones/" + zone + "/instanceGroupManagers/z", "zone",
			},
			{
				"a zonal group is changed", http.MethodPatch, "/zones/" + zone + "/instanceGroupManagers/z", doc{"targetSize": 1},
				"patch", "zones/" + zone + "/instanceGroupManagers/z", "zone",
			},
			{
				"a zonal group is deleted", http.MethodDelete, "/zones/" + zone + "/instanceGroupManagers/z", nil,
				"compute.instanceGroupManagers.delete", "zones/" + zone + "/instanceGroupManagers/z", "zone",
			},
			{
				"a regional group is created", http.MethodPost, "/regions/us-central1/instanceGroupManagers",
				doc{"name": "r", "targetSize": 0, "instanceTemplate": link},
				"compute.instanceGroupManagers.insert", "regions/us-central1/instanceGroupManagers/r", "region",
			},
			{
				"a regional group is deleted", http.MethodDelete, "/regions/us-central1/instanceGroupManagers/r", nil,
				"compute.instanceGroupManagers.delete", "regions/us-central1/instanceGroupManagers/r", "region",
			},
		} {
			op := w.do(c.method, base+c.path, c.body)
			w.rest(minute)
			done := w.get(strings.TrimPrefix(document.Text(op, "selfLink"), "https://www.googleapis.com"))
			members := "endTime " + running
			if c.place != "" {
				parts := strings.Split(members, " ")
				parts = append(parts, c.place)
				slices.Sort(parts)
				members = strings.Join(parts, " ")
				check(w, c.why+": the place", google+strings.Join(strings.Split(c.target, "/")[:2], "/"), document.Text(done, c.place))
			}
			w.holds(c.why, done, members, []fact{
				{"kind", "compute#operation"}, {"operationType", c.kind}, {"status", "DONE"}, {"progress", 100}, {"targetLink", google + c.target},
				{"targetId", present},
			})
		}
	})
}

// example is a small template.
func example(name string) doc {
	return doc{"name": name, "properties": doc{
		"machineType": "n1-standard-1", "metadata": doc{}, "tags": doc{}, "labels": doc{"managed": "true"},
		"disks": []any{doc{
			"autoDelete": true, "boot": true, "interface": "SCSI", "mode": "READ_WRITE", "type": "PERSISTENT",
			"initializeParams": doc{"diskType": "pd-standard", "sourceImage": "projects/debian-cloud/global/images/family/debian-11"},
		}},
		"networkInterfaces": []any{doc{"network": "projects/simulated-project/global/networks/default"}},
		"scheduling":        doc{"onHostMaintenance": "MIGRATE"},
	}}
}

func TestShownTemplate(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.do(http.MethodPost, base+"/global/instanceTemplates", example("tmpl"))
		d := w.get(base + "/global/instanceTemplates/tmpl")
		w.holds("the template", d, "creationTimestamp description id kind name properties selfLink", []fact{
			{"description", ""}, {"kind", "compute#instanceTemplate"}, {"selfLink", google + "global/instanceTemplates/tmpl"},
		})
		w.holds("its properties", document.Under(d, "properties"), "disks labels machineType metadata networkInterfaces scheduling tags", []fact{
			{"machineType", "n1-standard-1"},
			{"disks.0.deviceName", "persistent-disk-0"}, {"disks.0.index", 0}, {"disks.0.kind", "compute#attachedDisk"},
			{"disks.0.initializeParams.sourceImage", "projects/debian-cloud/global/images/family/debian-11"},
			{"disks.0.initializeParams.diskType", "pd-standard"},
			{"metadata.kind", "compute#metadata"}, {"metadata.fingerprint", present}, {"tags", doc{}},
			{"networkInterfaces.0.kind", "compute#networkInterface"}, {"networkInterfaces.0.name", "nic0"},
			{"networkInterfaces.0.network", google + "global/networks/default"},
			{"scheduling.automaticRestart", true}, {"scheduling.onHostMaintenance", "MIGRATE"}, {"scheduling.preemptible", false},
			{"scheduling.provisioningModel", "STANDARD"},
		})
		beta := w.get(strings.Replace(base, "/v1/", "/beta/", 1) + "/global/instanceTemplates/tmpl")
		check(w, "the link of another version", strings.Replace(google, "/v1/", "/beta/", 1)+"global/instanceTemplates/tmpl",
			document.Text(beta, "selfLink"))
	})
}

// groupFacts are what zonal and regional groups show alike.
func groupFacts(place, template string) []fact {
	return []fact{
		{"kind", "compute#instanceGroupManager"}, {"fingerprint", present}, {"id", present}, {"creationTimestamp", present},
		{"instanceGroup", google + place + "/instanceGroups/pool"}, {"selfLink", google + place + "/instanceGroupManagers/pool"},
		{"instanceTemplate", template}, {"versions.0.instanceTemplate", template}, {"versions.0.targetSize.calculated", 3},
		{"listManagedInstancesResults", "PAGELESS"}, {"standbyPolicy.mode", "MANUAL"}, {"targetSizePolicy.mode", "INDIVIDUAL"},
		{"targetSize", 3}, {"targetStoppedSize", 0}, {"targetSuspendedSize", 0}, {"satisfiesPzs", true},
		{"serviceAccount", "123456789012@cloudservices.gserviceaccount.com"},
		{"instanceLifecyclePolicy.defaultActionOnFailure", "REPAIR"}, {"instanceLifecyclePolicy.forceUpdateOnRepair", "NO"},
		{"instanceLifecyclePolicy.onFailedHealthCheck", "DEFAULT_ACTION"},
		{"autoHealingPolicies.0.healthCheck", google + "global/healthChecks/hc"}, {"autoHealingPolicies.0.initialDelaySec", 300},
		{"currentActions.creating", 3}, {"currentActions.none", 0}, {"currentActions.creatingWithoutRetries", 0},
		{"currentActions.suspending", 0},
		{"status.isStable", false}, {"status.versionTarget.isReached", true}, {"status.allInstancesConfig", doc{"effective": true}},
		{"status.stateful", doc{"hasStatefulConfig": false, "isStateful": false, "perInstanceConfigs": doc{"allEffective": true}}},
		{"updatePolicy.maxSurge", doc{"calculated": 3, "fixed": 3}}, {"updatePolicy.maxUnavailable", doc{"calculated": 3, "fixed": 3}},
		{"updatePolicy.minReadySec", 0}, {"updatePolicy.minimalAction", "RESTART"}, {"updatePolicy.replacementMethod", "SUBSTITUTE"},
		{"updatePolicy.type", "OPPORTUNISTIC"},
	}
}

func TestShownGroups(t *testing.T) {
	common := "autoHealingPolicies baseInstanceName creationTimestamp currentActions fingerprint id instanceGroup instanceLifecyclePolicy " +
		"instanceTemplate kind " +
		"listManagedInstancesResults name satisfiesPzs selfLink serviceAccount standbyPolicy status targetSize targetSizePolicy " +
		"targetStoppedSize targetSuspendedSize updatePolicy versions"
	for _, c := range []struct {
		why, place, more string
		facts            []fact
	}{
		{why: "a zonal group", place: "zones/" + zone, more: "zone",
			facts: []fact{{"zone", google + "zones/" + zone}, {"updatePolicy.instanceRedistributionType", nil}}},
		{why: "a regional group", place: "regions/us-central1", more: "distributionPolicy region", facts: []fact{
			{"region", google + "regions/us-central1"}, {"updatePolicy.instanceRedistributionType", "PROACTIVE"},
			{"distributionPolicy.targetShape", "EVEN"},
			{"distributionPolicy.zones.0.zone", google + "zones/us-central1-b"}, {"distributionPolicy.zones.1.zone", google + "zones/us-central1-c"},
			{"distributionPolicy.zones.2.zone", google + "zones/us-central1-f"},
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			inBubble(t, gcp.Options{}, func(w *world) {
				check := document.Text(w.do(http.MethodPost, base+"/global/healthChecks", doc{"name": "hc", "type": "HTTP"}), "targetLink")
				template := w.template("tmpl")
				w.do(http.MethodPost, base+"/"+c.place+"/instanceGroupManagers", doc{
					"name": "pool", "baseInstanceName": "app", "targetSize": 3, "instanceTemplate": template,
					"autoHealingPolicies": []any{doc{"healthCheck": check, "initialDelaySec": 300}},
					"updatePolicy": doc{
						"type": "OPPORTUNISTIC", "minimalAction": "RESTART", "replacementMethod": "SUBSTITUTE", "maxSurge": doc{"fixed": 3},
						"maxUnavailable": doc{"fixed": 3},
					},
				})
				members := strings.Split(common+" "+c.more, " ")
				slices.Sort(members)
				d := w.get(base + "/" + c.place + "/instanceGroupManagers/pool")
				w.holds(c.why, d, strings.Join(members, " "), append(groupFacts(c.place, template), c.facts...))
				d2 := w.get(base + "/" + c.place + "/instanceGroupManagers/pool")
				if document.Text(d, "fingerprint") != document.Text(d2, "fingerprint") {
					t.Error("want the fingerprint unchanged by a read")
				}
			})
		})
	}
}

func TestMissingGroup(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		status, d := w.ask(http.MethodGet, base+"/zones/"+zone+"/instanceGroupManagers/none", nil)
		const words = "The resource 'projects/simulated-project/zones/us-central1-b/instanceGroupManagers/none' was not found"
		check(w, "the status", 404, status)
		w.holds("a missing group", d, "error", []fact{
			{"error.code", 404}, {"error.message", words}, {"error.status", nil},
			{"error.errors", []any{doc{"domain": "global", "message": words, "reason": "notFound"}}},
		})
	})
}

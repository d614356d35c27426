package gcp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
)

const regional = base + "/regions/us-central1/instanceGroupManagers"

// instances names instances of the zone as requests do.
func instances(names ...string) doc {
	list := []any{}
	for _, n := range names {
		list = append(list, "zones/"+zone+"/instances/"+n)
	}
	return doc{"instances": list}
}

// ids returns the IDs of a group's instances by their names, "" for those that do not exist.
func (w *world) ids(path string) map[string]string {
	w.Helper()
	out := map[string]string{}
	for name, m := range w.managed(path) {
		out[name] = document.Text(m, "id")
	}
	return out
}

// zonesOf counts the instances of a regional group by zone, those on their way out left aside.
func (w *world) zonesOf(path string) map[string]int {
	w.Helper()
	out := map[string]int{}
	for _, m := range w.managed(path) {
		if document.Text(m, "currentAction") != "DELETING" {
			out[strings.Split(document.Text(m, "instance"), "/")[8]]++
		}
	}
	return out
}

// staying counts the instances of a group that are not being deleted.
func (w *world) staying(path string) int {
	w.Helper()
	n := 0
	for _, m := range w.managed(path) {
		if document.Text(m, "currentAction") != "DELETING" {
			n++
		}
	}
	return n
}

func TestOpportunisticGroupNeverRolls(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 3)
		w.rest(minute)
		before := w.ids(groups + "/pool")
		w.do(http.MethodPatch, groups+"/pool", doc{"versions": []any{doc{"instanceTemplate": w.template("second")}}})
		w.rest(10 * minute)
		for name, id := range w.ids(groups + "/pool") {
			check(w, "the instance "+name, before[name], id)
		}
		check(w, "stable", true, document.Truth(w.get(groups+"/pool"), "status.isStable"))
	})
}

func TestProactiveGroupRollsWithinItsBounds(t *testing.T) {
	for _, c := range []struct {
		why               string
		surge, unavail    int
		method            string
		most, least       int
		keepsNames, moves bool
	}{
		{why: "a surge keeps as many available", surge: 1, unavail: 0, most: 4, least: 3, moves: true},
		{why: "without a surge one is missing", surge: 0, unavail: 1, most: 3, least: 2, moves: true},
		{why: "recreated instances keep their names", surge: 0, unavail: 1, method: "RECREATE", most: 3, least: 2, keepsNames: true, moves: true},
	} {
		t.Run(c.why, func(t *testing.T) {
			inBubble(t, gcp.Options{}, func(w *world) {
				w.group("pool", w.template("first"), 3)
				w.rest(minute)
				before := w.ids(groups + "/pool")
				policy := doc{"type": "PROACTIVE", "maxSurge": doc{"fixed": c.surge}, "maxUnavailable": doc{"fixed": c.unavail}}
				if c.method != "" {
					policy["replacementMethod"] = c.method
				}
				second := w.template("second")
				w.do(http.MethodPatch, groups+"/pool", doc{"updatePolicy": policy, "versions": []any{doc{"instanceTemplate": second}}})
				most, least := 0, 9
				for range 600 {
					w.rest(100 * time.Millisecond)
					most, least = max(most, w.staying(groups+"/pool")), min(least, len(w.host.machines()))
				}
				check(w, "the most instances", c.most, most)
				check(w, "the fewest machines", c.least, least)
				after := w.ids(groups + "/pool")
				for name, id := range after {
					if slices.Contains(keys(before), name) != c.keepsNames || before[name] == id {
						t.Errorf("instance %s: want it another one, with its name kept: %t", name, c.keepsNames)
					}
				}
				g := w.get(groups + "/pool")
				check(w, "stable", true, document.Truth(g, "status.isStable"))
				check(w, "the version is reached", true, document.Truth(g, "status.versionTarget.isReached"))
			})
		})
	}
}

func TestRecreatedInstanceKeepsItsNameAndGetsTheTemplate(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		w.rest(minute)
		before := w.ids(groups + "/pool")
		name := keys(before)[0]
		second := w.template("second")
		w.do(http.MethodPost, groups+"/pool/setInstanceTemplate", doc{"instanceTemplate": second})
		w.do(http.MethodPost, groups+"/pool/recreateInstances", instances(name))
		check(w, "the action", "RECREATING", document.Text(w.managed(groups + "/pool")[name], "currentAction"))
		w.rest(minute)
		m := w.managed(groups + "/pool")[name]
		check(w, "the template", second, document.Text(m, "version.instanceTemplate"))
		if document.Text(m, "id") == before[name] {
			t.Errorf("want another ID than %s", before[name])
		}
		check(w, "the user data", "#cloud-config second", string(w.host.machines()[name].UserData))
	})
}

func TestAbandonedInstanceRunsOn(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 2)
		w.rest(minute)
		name := keys(w.ids(groups + "/pool"))[0]
		w.do(http.MethodPost, groups+"/pool/abandonInstances", instances(name))
		w.rest(minute)
		size, _ := document.Number(w.get(groups+"/pool"), "targetSize")
		check(w, "the size", 1, size)
		check(w, "members", 1, len(w.managed(groups+"/pool")))
		check(w, "machines", 2, len(w.host.machines()))
		check(w, "the state", "RUNNING", document.Text(w.get(base+"/zones/"+zone+"/instances/"+name), "status"))
	})
}

func TestCreatedInstanceHasItsName(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 0)
		w.do(http.MethodPost, groups+"/pool/createInstances", doc{"instances": []any{doc{"name": "mine"}}})
		w.refused(http.MethodPost, groups+"/pool/createInstances", doc{"instances": []any{doc{"name": "mine"}}}, 409, "alreadyExists")
		w.rest(minute)
		if _, there := w.host.machines()["mine"]; !there {
			t.Errorf("want a machine of the name, got %v", keys(w.host.machines()))
		}
	})
}

func TestConfigurationOfAllInstances(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1, func(d doc) {
			document.Place(d, "allInstancesConfig.properties.labels", doc{"owner": "you"})
		})
		w.rest(minute)
		name := keys(w.ids(groups + "/pool"))[0]
		label := func() string {
			return document.Text(w.get(base+"/zones/"+zone+"/instances/"+name), "labels.owner")
		}
		check(w, "the label", "you", label())
		check(w, "effective", true, document.Truth(w.get(groups+"/pool"), "status.allInstancesConfig.effective"))
		w.do(http.MethodPatch, groups+"/pool", doc{"allInstancesConfig": doc{"properties": doc{"labels": doc{"owner": "them"}}}})
		w.rest(minute)
		check(w, "the label", "you", label())
		check(w, "effective", false, document.Truth(w.get(groups+"/pool"), "status.allInstancesConfig.effective"))
		id := w.ids(groups + "/pool")[name]
		w.do(http.MethodPost, groups+"/pool/applyUpdatesToInstances", doc{"allInstances": true, "mostDisruptiveAllowedAction": "REFRESH"})
		w.rest(minute)
		check(w, "the label", "them", label())
		check(w, "the ID", id, w.ids(groups + "/pool")[name])
	})
}

// TestLabelsOfOneInstance holds that labels are set on an instance only by who has seen the ones before, that it takes a moment, and that
// an update of the group puts the group's beside them.
func TestLabelsOfOneInstance(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		w.rest(minute)
		path := base + "/zones/" + zone + "/instances/" + keys(w.ids(groups + "/pool"))[0]
		seen := document.Text(w.get(path), "labelFingerprint")
		w.refused(http.MethodPost, path+"/setLabels", doc{"labels": doc{"owner": "you"}, "labelFingerprint": "b3RoZXI="},
			http.StatusPreconditionFailed, "conditionNotMet")
		w.do(http.MethodPost, path+"/setLabels", doc{"labels": doc{"owner": "you"}, "labelFingerprint": seen})
		check(w, "the fingerprint at once", seen, document.Text(w.get(path), "labelFingerprint"))
		w.rest(minute)
		check(w, "the label", "you", document.Text(w.get(path), "labels.owner"))
		w.do(http.MethodPatch, groups+"/pool", doc{"allInstancesConfig": doc{"properties": doc{"labels": doc{"team": "a"}}}})
		w.do(http.MethodPost, groups+"/pool/applyUpdatesToInstances", doc{"allInstances": true})
		w.rest(minute)
		check(w, "both labels", "you a", document.Text(w.get(path), "labels.owner")+" "+document.Text(w.get(path), "labels.team"))
	})
}

func TestUpdateThatIsTooDisruptiveFails(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 1)
		w.rest(minute)
		second := w.template("second", func(d doc) { document.Objects(d, "properties.disks")[0]["diskSizeGb"] = "50" })
		w.do(http.MethodPost, groups+"/pool/setInstanceTemplate", doc{"instanceTemplate": second})
		op := w.do(http.MethodPost, groups+"/pool/applyUpdatesToInstances", doc{"allInstances": true, "mostDisruptiveAllowedAction": "RESTART"})
		w.rest(minute)
		done := w.get(strings.TrimPrefix(document.Text(op, "selfLink"), "https://www.googleapis.com"))
		code, _ := document.Number(done, "httpErrorStatusCode")
		check(w, "the operation's status", 400, code)
		w.do(http.MethodPost, groups+"/pool/applyUpdatesToInstances", doc{"allInstances": true})
		w.rest(minute)
		check(w, "the version is reached", true, document.Truth(w.get(groups+"/pool"), "status.versionTarget.isReached"))
	})
}

func TestInstancesOfOthersFailADeletion(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.group("pool", w.template("first"), 2)
		w.rest(minute)
		mine := keys(w.ids(groups + "/pool"))[0]
		op := w.do(http.MethodPost, groups+"/pool/deleteInstances", instances(mine, "pool-none"))
		w.rest(minute)
		done := w.get(strings.TrimPrefix(document.Text(op, "selfLink"), "https://www.googleapis.com"))
		check(w, "errors", 1, len(document.Objects(done, "error.errors")))
		check(w, "instances", 2, len(w.managed(groups+"/pool")))
		body := instances(mine, "pool-none")
		body["skipInstancesOnValidationError"] = true
		w.do(http.MethodPost, groups+"/pool/deleteInstances", body)
		w.rest(minute)
		check(w, "instances", 1, len(w.managed(groups+"/pool")))
		w.refused(http.MethodPost, groups+"/pool/deleteInstances", doc{"instances": []any{"pool-none"}}, 400, "invalid")
		w.refused(http.MethodPost, groups+"/pool/deleteInstances", doc{"instances": []any{"zones/us-central1-a/instances/x"}}, 400, "invalid")
	})
}

func TestRepairs(t *testing.T) {
	harms := map[string]func(*world, string) error{
		"stopped":   func(w *world, name string) error { return w.Stop(name) },
		"deleted":   func(w *world, name string) error { return w.Terminate(name) },
		"preempted": func(w *world, name string) error { return w.Preempt(name) },
	}
	for harm, do := range harms {
		for _, repairs := range []bool{true, false} {
			t.Run(harm, func(t *testing.T) {
				inBubble(t, gcp.Options{}, func(w *world) {
					first := w.template("first", func(d doc) { document.Place(d, "properties.scheduling", doc{"provisioningModel": "SPOT"}) })
					w.group("pool", first, 1, func(d doc) {
						if !repairs {
							document.Place(d, "instanceLifecyclePolicy.defaultActionOnFailure", "DO_NOTHING")
						}
					})
					w.rest(minute)
					before := w.ids(groups + "/pool")
					name := keys(before)[0]
					w.do(http.MethodPost, groups+"/pool/setInstanceTemplate", doc{"instanceTemplate": w.template("second")})
					if err := do(w, name); err != nil {
						t.Fatal(err)
					}
					w.rest(2 * minute)
					m := w.managed(groups + "/pool")[name]
					check(w, "runs", repairs, document.Text(m, "instanceStatus") == "RUNNING")
					check(w, "the action", "NONE", document.Text(m, "currentAction"))
					check(w, "the template", first, document.Text(m, "version.instanceTemplate"))
					check(w, "machines", map[bool]int{true: 1, false: 0}[repairs], len(w.host.machines()))
					if repairs && document.Text(m, "id") == before[name] {
						t.Errorf("want another ID than %s", before[name])
					}
				})
			})
		}
	}
}

func TestAutohealingWaitsForTheInitialDelay(t *testing.T) {
	inBubble(t, gcp.Options{Speed: 1}, func(w *world) {
		link := document.Text(w.do(http.MethodPost, base+"/global/healthChecks", doc{"name": "hc", "type": "HTTP"}), "targetLink")
		w.group("pool", w.template("first"), 1, func(d doc) {
			d["autoHealingPolicies"] = []any{doc{"healthCheck": link, "initialDelaySec": 300}}
		})
		w.rest(15 * time.Second)
		name := keys(w.ids(groups + "/pool"))[0]
		check(w, "the action", "VERIFYING", document.Text(w.managed(groups + "/pool")[name], "currentAction"))
		w.rest(minute)
		check(w, "the action", "NONE", document.Text(w.managed(groups + "/pool")[name], "currentAction"))
		if err := w.Sicken(name); err != nil {
			t.Fatal(err)
		}
		before := w.ids(groups + "/pool")[name]
		w.rest(2 * minute)
		check(w, "the ID", before, w.ids(groups + "/pool")[name])
		w.rest(3 * minute)
		if after := w.ids(groups + "/pool")[name]; after == before {
			t.Errorf("want the unhealthy instance replaced, got %s still", after)
		}
		w.refused(http.MethodDelete, base+"/global/healthChecks/hc", nil, 400, "resourceInUseByAnotherResource")
	})
}

// An instance that stops while its group verifies it is repaired as any other.
func TestInstanceThatStopsWhileItIsVerifiedIsRepaired(t *testing.T) {
	inBubble(t, gcp.Options{Speed: 1}, func(w *world) {
		link := document.Text(w.do(http.MethodPost, base+"/global/healthChecks", doc{"name": "hc", "type": "HTTP"}), "targetLink")
		if err := w.Faults().Add(sim.Fault{Kind: sim.Dies, Delay: sim.Duration(20 * time.Second), Times: 1}); err != nil {
			t.Fatal(err)
		}
		w.group("pool", w.template("first"), 1, func(d doc) {
			d["autoHealingPolicies"] = []any{doc{"healthCheck": link, "initialDelaySec": 300}}
		})
		w.rest(20 * time.Second)
		name := keys(w.ids(groups + "/pool"))[0]
		check(w, "the action", "VERIFYING", document.Text(w.managed(groups + "/pool")[name], "currentAction"))
		w.rest(5 * minute)
		check(w, "the state", "RUNNING", document.Text(w.managed(groups + "/pool")[name], "instanceStatus"))
	})
}

func TestFailedCreationsAreToldAndRetried(t *testing.T) {
	for _, c := range []struct {
		why, code, words string
		template         func(doc)
		before, after    func(*world)
	}{
		{
			why: "a zone without capacity", code: "ZONE_RESOURCE_POOL_EXHAUSTED", words: compute.NoCapacity,
			before: func(w *world) {
				if err := w.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: zone}); err != nil {
					w.Fatal(err)
				}
			},
			after: func(w *world) { w.Faults().Clear() },
		},
		{
			why: "a quota", code: "QUOTA_EXCEEDED", words: "Quota 'CPUS' exceeded.  Limit: 2.0 in region us-central1.",
			before: func(w *world) { w.quota(2) }, after: func(w *world) { w.quota(100) },
		},
		{
			why: "an image that does not exist", code: "RESOURCE_NOT_FOUND", words: "global/images/late' was not found",
			template: func(d doc) {
				document.Place(document.Objects(d, "properties.disks")[0], "initializeParams.sourceImage", "global/images/late")
			},
			after: func(w *world) {
				if err := w.PutImage(compute.Image{Project: project.DefaultID, Name: "late", Family: "late"}); err != nil {
					w.Fatal(err)
				}
			},
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			inBubble(t, gcp.Options{}, func(w *world) {
				if c.before != nil {
					c.before(w)
				}
				var changes []func(doc)
				if c.template != nil {
					changes = append(changes, c.template)
				}
				w.group("pool", w.template("first", changes...), 2)
				w.rest(minute)
				failed := 0
				for _, m := range w.managed(groups + "/pool") {
					for _, e := range document.Objects(m, "lastAttempt.errors.errors") {
						failed++
						check(w, "the code", c.code, document.Text(e, "code"))
						check(w, "the action", "CREATING", document.Text(m, "currentAction"))
						if !strings.Contains(document.Text(e, "message"), c.words) {
							t.Errorf("want the words %q, got %v", c.words, e)
						}
					}
				}
				if failed == 0 {
					t.Error("want a failed attempt, got none")
				}
				if len(document.Objects(w.get(groups+"/pool/listErrors"), "items")) == 0 {
					t.Error("want errors listed, got none")
				}
				check(w, "stable", false, document.Truth(w.get(groups+"/pool"), "status.isStable"))
				c.after(w)
				w.rest(3 * minute)
				check(w, "machines", 2, len(w.host.machines()))
				check(w, "stable", true, document.Truth(w.get(groups+"/pool"), "status.isStable"))
			})
		})
	}
}

func (w *world) quota(cpus float64) {
	w.Helper()
	if err := w.SetQuota(compute.Quota{Region: "us-central1", Metric: "CPUS", Limit: cpus}); err != nil {
		w.Fatal(err)
	}
}

// region creates a regional group of three zones.
func (w *world) region(size int, changes ...func(doc)) {
	w.Helper()
	zones := []any{}
	for _, z := range []string{"a", "b", "c"} {
		zones = append(zones, doc{"zone": "zones/us-central1-" + z})
	}
	d := doc{
		"name": "pool", "targetSize": size, "instanceTemplate": w.template("regional"), "distributionPolicy": doc{"zones": zones},
	}
	for _, c := range changes {
		c(d)
	}
	w.do(http.MethodPost, regional, d)
}

func TestRegionalGroupIsEven(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.region(6)
		w.rest(minute)
		for z, n := range w.zonesOf(regional + "/pool") {
			check(w, z, 2, n)
		}
		check(w, "machines", 6, len(w.host.machines()))
	})
}

func TestRegionalGroupRedistributesUnlessToldNotTo(t *testing.T) {
	for _, kind := range []string{"", "NONE"} {
		t.Run("redistribution "+kind, func(t *testing.T) {
			inBubble(t, gcp.Options{}, func(w *world) {
				w.region(6, func(d doc) {
					if kind != "" {
						document.Place(d, "updatePolicy.instanceRedistributionType", kind)
					}
				})
				w.rest(minute)
				gone := []any{}
				for _, m := range w.managed(regional + "/pool") {
					if link := document.Text(m, "instance"); strings.Contains(link, "/us-central1-a/") {
						gone = append(gone, link)
					}
				}
				before := keys(w.ids(regional + "/pool"))
				w.do(http.MethodPost, regional+"/pool/deleteInstances", doc{"instances": gone})
				w.rest(2 * minute)
				check(w, "instances", 4, len(w.managed(regional+"/pool")))
				moved := 0
				for name := range w.managed(regional + "/pool") {
					if !slices.Contains(before, name) {
						moved++
					}
				}
				check(w, "instances that came", map[string]int{"": 1, "NONE": 0}[kind], moved)
				check(w, "in the emptied zone", map[string]int{"": 1, "NONE": 0}[kind], w.zonesOf(regional + "/pool")["us-central1-a"])
			})
		})
	}
}

func TestGroupOfAnyShapeEvadesAZoneWithoutCapacity(t *testing.T) {
	for shape, on := range map[string]int{"EVEN": 4, "BALANCED": 6, "ANY": 6} {
		t.Run(shape, func(t *testing.T) {
			inBubble(t, gcp.Options{}, func(w *world) {
				if err := w.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: "us-central1-a"}); err != nil {
					t.Fatal(err)
				}
				w.region(6, func(d doc) { document.Place(d, "distributionPolicy.targetShape", shape) })
				w.rest(minute)
				check(w, "machines", on, len(w.host.machines()))
			})
		})
	}
}

func TestZonesOfARegionalGroupAreFixed(t *testing.T) {
	inBubble(t, gcp.Options{}, func(w *world) {
		w.region(1)
		w.refused(http.MethodPatch, regional+"/pool", doc{"distributionPolicy": doc{"zones": []any{doc{"zone": "zones/us-central1-f"}}}}, 400,
			"invalid")
		w.refused(http.MethodPatch, regional+"/pool", doc{"updatePolicy": doc{"maxSurge": doc{"fixed": 1}}}, 400, "invalid")
	})
}

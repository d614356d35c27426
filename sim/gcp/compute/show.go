package compute

import (
	"maps"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// template returns a template as it goes over the wire.
func (w *views) template(x *project.Call, t *template) document.Object {
	properties := document.Copied(w.properties(t.Content))
	linkInterfaces(x, properties)
	out := document.Object{
		"kind": "compute#instanceTemplate", "id": project.Digits(t.ID), "creationTimestamp": project.Stamp(t.Created), "name": t.Name,
		"description": t.Description,
		"selfLink":    x.Link(t.path()), "properties": properties,
	}
	if t.Region != "" {
		out["region"] = x.Link("projects/" + t.Project + "/regions/" + t.Region)
	}
	return out
}

// linkInterfaces shows the networks of interfaces with their URLs.
func linkInterfaces(x *project.Call, d document.Object) {
	for _, n := range document.Objects(d, "networkInterfaces") {
		for _, kind := range []string{"network", "subnetwork"} {
			if path := document.Text(n, kind); path != "" {
				n[kind] = x.Link(path)
			}
		}
	}
}

// manager returns a group as it goes over the wire.
func (w *views) manager(x *project.Call, g *manager) document.Object {
	d := document.Copied(g.Doc)
	kind, where := "zone", g.Zone
	if g.regional() {
		kind, where = "region", g.Region
	}
	maps.Copy(d, document.Object{
		"kind": "compute#instanceGroupManager", "id": project.Digits(g.ID), "creationTimestamp": project.Stamp(g.Created), "name": g.Name,
		"selfLink": x.Link(g.path()),
		kind:       x.Link("projects/" + g.Project + "/" + kind + "s/" + where), "fingerprint": g.fingerprint(), "targetSize": g.Target,
		"instanceGroup":  x.Link("projects/" + g.Project + "/" + g.scope() + "/instanceGroups/" + g.Name),
		"satisfiesPzs":   true,
		"currentActions": w.actions(g), "status": w.status(x, g),
	})
	document.WithDefaults(d, document.Object{
		"serviceAccount":              project.DefaultNumber + "@cloudservices.gserviceaccount.com",
		"listManagedInstancesResults": "PAGELESS", "standbyPolicy": document.Object{"mode": "MANUAL"},
		"targetSizePolicy":  document.Object{"mode": "INDIVIDUAL"},
		"targetStoppedSize": 0, "targetSuspendedSize": 0,
	})
	showVersions(x, g, d)
	showPolicies(x, g, d)
	return d
}

// showVersions adds the templates of a group. The one template of them all is shown where there is one.
func showVersions(x *project.Call, g *manager, d document.Object) {
	list := []any{}
	for i, v := range g.Versions {
		size := document.Copied(v.Size)
		if size == nil {
			size = document.Object{}
		}
		size["calculated"] = g.calculated(i)
		one := document.Object{"instanceTemplate": x.Link(v.Template), "targetSize": size}
		if v.Name != "" {
			one["name"] = v.Name
		}
		list = append(list, one)
	}
	d["versions"] = list
	if len(g.Versions) == 1 {
		d["instanceTemplate"] = x.Link(g.Versions[0].Template)
	}
	if len(g.Config) > 0 {
		d["allInstancesConfig"] = document.Object{"properties": document.Copied(g.Config)}
	}
}

// showPolicies adds the defaults of policies, and URLs in place of paths.
func showPolicies(x *project.Call, g *manager, d document.Object) {
	for _, path := range []string{"updatePolicy", "instanceLifecyclePolicy"} {
		if d[path] == nil {
			d[path] = document.Object{}
		}
	}
	document.WithDefaults(document.Under(d, "instanceLifecyclePolicy"), document.Object{
		"defaultActionOnFailure": "REPAIR", "forceUpdateOnRepair": "NO", "onFailedHealthCheck": "DEFAULT_ACTION",
	})
	policy := document.Under(d, "updatePolicy")
	document.WithDefaults(policy, document.Object{"type": "OPPORTUNISTIC", "minimalAction": "REPLACE", "replacementMethod": "SUBSTITUTE",
		"minReadySec": 0})
	if g.regional() {
		document.WithDefaults(policy, document.Object{"instanceRedistributionType": "PROACTIVE"})
	}
	for name, n := range map[string]int{"maxSurge": g.surge(), "maxUnavailable": g.unavailable()} {
		if policy[name] == nil {
			policy[name] = document.Object{"fixed": n}
		}
		document.Place(policy, name+".calculated", n)
	}
	for _, healing := range document.Objects(d, "autoHealingPolicies") {
		if path := document.Text(healing, "healthCheck"); path != "" {
			healing["healthCheck"] = x.Link(path)
		}
	}
	for _, z := range document.Objects(d, "distributionPolicy.zones") {
		z["zone"] = x.Link(document.Text(z, "zone"))
	}
}

// actions counts the actions that go on.
func (w *views) actions(g *manager) document.Object {
	d := document.Object{}
	for _, name := range allActions {
		d[name] = 0
	}
	counts := map[string]int{}
	for _, m := range w.members(g) {
		counts[allActions[m.Action]]++
	}
	for name, n := range counts {
		d[name] = n
	}
	return d
}

// status returns the status block of a group.
func (w *views) status(x *project.Call, g *manager) document.Object {
	stable, reached, effective := w.progress(g)
	config := document.Object{"effective": effective}
	if !g.Revision.IsZero() {
		config["currentRevision"] = project.Stamp(g.Revision)
	}
	stateful := g.Doc["statefulPolicy"] != nil
	d := document.Object{
		"isStable": stable, "versionTarget": document.Object{"isReached": reached}, "allInstancesConfig": config,
		"stateful": document.Object{"hasStatefulConfig": stateful, "isStateful": stateful,
			"perInstanceConfigs": document.Object{"allEffective": true}},
	}
	if a := w.autoscalerOf(g); a != nil {
		d["autoscaler"] = x.Link(a.Path)
	}
	return d
}

// progress reports whether nothing happens to a group, whether all instances are of its versions, and whether all have its configuration.
func (w *views) progress(g *manager) (stable, reached, effective bool) {
	stable, reached, effective = g.Deletion == "", len(w.outdated(g)) == 0, true
	count := 0
	for _, m := range w.members(g) {
		stable = stable && m.Action == actionNone
		if m.leaving() {
			continue
		}
		count++
		effective = effective && (!m.exists() || m.Revision.Equal(g.Revision))
	}
	return stable && count == g.Target && (!g.proactive() || reached && effective), reached, effective
}

// hasVersion reports whether a template is one of the group's.
func (g *manager) hasVersion(path string) bool {
	for _, v := range g.Versions {
		if v.Template == path {
			return true
		}
	}
	return false
}

// autoscalerOf returns the autoscaler that targets a group, nil for none.
func (w *views) autoscalerOf(g *manager) *catalogue.Resource {
	for _, r := range w.Catalogue.Resources.All() {
		if document.Text(r.Doc, "kind") == "compute#autoscaler" && document.Text(r.Doc, "target") == g.path() {
			return r
		}
	}
	return nil
}

// managed returns an instance as listManagedInstances shows it.
func (w *views) managed(x *project.Call, g *manager, m *instance) document.Object {
	d := document.Object{"name": m.Name, "instance": x.Link(m.path()), "currentAction": m.Action}
	if m.exists() {
		d["id"], d["instanceStatus"] = project.Digits(m.ID), m.State
	}
	if !m.leaving() {
		v := document.Object{"instanceTemplate": x.Link(m.Template)}
		if m.Version != "" {
			v["name"] = m.Version
		}
		d["version"] = v
	}
	if len(m.Failures) > 0 {
		list := []any{}
		for _, f := range m.Failures {
			list = append(list, f.Body())
		}
		d["lastAttempt"] = document.Object{"errors": document.Object{"errors": list}}
	}
	if check, _ := g.healthCheck(); check != "" && m.exists() {
		d["instanceHealth"] = []any{document.Object{"healthCheck": x.Link(check), "detailedHealthState": health(m)}}
	}
	return d
}

// health returns the state of an instance's health check.
func health(m *instance) string {
	switch {
	case m.State != stateRunning:
		return "UNKNOWN"
	case m.Unhealthy:
		return "UNHEALTHY"
	case m.Action == actionVerifying:
		return "TIMEOUT"
	}
	return "HEALTHY"
}

package compute

import (
	"maps"

	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// template returns a template as it goes over the wire.
func (w *views) template(x *project.Call, t *template) project.Document {
	properties := project.Copied(w.properties(t.Content))
	linkInterfaces(x, properties)
	return project.Document{
		"kind": "compute#instanceTemplate", "id": project.Digits(t.ID), "creationTimestamp": project.Stamp(t.Created), "name": t.Name, "description": t.Description,
		"selfLink": x.Link(t.path()), "properties": properties,
	}
}

// linkInterfaces shows the networks of interfaces with their URLs.
func linkInterfaces(x *project.Call, d project.Document) {
	for _, n := range project.Objects(d, "networkInterfaces") {
		for _, kind := range []string{"network", "subnetwork"} {
			if path := project.Text(n, kind); path != "" {
				n[kind] = x.Link(path)
			}
		}
	}
}

// manager returns a group as it goes over the wire.
func (w *views) manager(x *project.Call, g *manager) project.Document {
	d := project.Copied(g.Doc)
	kind, where := "zone", g.Zone
	if g.regional() {
		kind, where = "region", g.Region
	}
	maps.Copy(d, project.Document{
		"kind": "compute#instanceGroupManager", "id": project.Digits(g.ID), "creationTimestamp": project.Stamp(g.Created), "name": g.Name, "selfLink": x.Link(g.path()),
		kind: x.Link("projects/" + g.Project + "/" + kind + "s/" + where), "fingerprint": g.fingerprint(), "targetSize": g.Target,
		"instanceGroup": x.Link("projects/" + g.Project + "/" + g.scope() + "/instanceGroups/" + g.Name),
		"satisfiesPzi":  false, "satisfiesPzs": true, "serviceAccount": project.DefaultNumber + "@cloudservices.gserviceaccount.com",
		"currentActions": w.actions(g), "status": w.status(x, g),
	})
	project.WithDefaults(d, project.Document{
		"listManagedInstancesResults": "PAGELESS", "standbyPolicy": project.Document{"mode": "MANUAL"}, "targetSizePolicy": project.Document{"mode": "INDIVIDUAL"},
		"targetStoppedSize": 0, "targetSuspendedSize": 0,
	})
	showVersions(x, g, d)
	showPolicies(x, g, d)
	return d
}

// showVersions adds the templates of a group. The one template of them all is shown where there is one.
func showVersions(x *project.Call, g *manager, d project.Document) {
	list := []any{}
	for i, v := range g.Versions {
		size := project.Copied(v.Size)
		if size == nil {
			size = project.Document{}
		}
		size["calculated"] = g.calculated(i)
		one := project.Document{"instanceTemplate": x.Link(v.Template), "targetSize": size}
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
		d["allInstancesConfig"] = project.Document{"properties": project.Copied(g.Config)}
	}
}

// showPolicies adds the defaults of policies, and URLs in place of paths.
func showPolicies(x *project.Call, g *manager, d project.Document) {
	for _, path := range []string{"updatePolicy", "instanceLifecyclePolicy"} {
		if d[path] == nil {
			d[path] = project.Document{}
		}
	}
	project.WithDefaults(project.Under(d, "instanceLifecyclePolicy"), project.Document{
		"defaultActionOnFailure": "REPAIR", "forceUpdateOnRepair": "NO", "onFailedHealthCheck": "DEFAULT_ACTION",
	})
	policy := project.Under(d, "updatePolicy")
	project.WithDefaults(policy, project.Document{"type": "OPPORTUNISTIC", "minimalAction": "REPLACE", "replacementMethod": "SUBSTITUTE", "minReadySec": 0})
	if g.regional() {
		project.WithDefaults(policy, project.Document{"instanceRedistributionType": "PROACTIVE"})
	}
	for name, n := range map[string]int{"maxSurge": g.surge(), "maxUnavailable": g.unavailable()} {
		if policy[name] == nil {
			policy[name] = project.Document{"fixed": n}
		}
		project.Place(policy, name+".calculated", n)
	}
	for _, healing := range project.Objects(d, "autoHealingPolicies") {
		if path := project.Text(healing, "healthCheck"); path != "" {
			healing["healthCheck"] = x.Link(path)
		}
	}
	for _, z := range project.Objects(d, "distributionPolicy.zones") {
		z["zone"] = x.Link(project.Text(z, "zone"))
	}
}

// actions counts the actions that go on.
func (w *views) actions(g *manager) project.Document {
	d := project.Document{}
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
func (w *views) status(x *project.Call, g *manager) project.Document {
	stable, reached, effective := w.progress(g)
	config := project.Document{"effective": effective}
	if !g.Revision.IsZero() {
		config["currentRevision"] = project.Stamp(g.Revision)
	}
	stateful := g.Doc["statefulPolicy"] != nil
	d := project.Document{
		"isStable": stable, "versionTarget": project.Document{"isReached": reached}, "allInstancesConfig": config,
		"stateful": project.Document{"hasStatefulConfig": stateful, "isStateful": stateful, "perInstanceConfigs": project.Document{"allEffective": true}},
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
		if project.Text(r.Doc, "kind") == "compute#autoscaler" && project.Text(r.Doc, "target") == g.path() {
			return r
		}
	}
	return nil
}

// managed returns an instance as listManagedInstances shows it.
func (w *views) managed(x *project.Call, g *manager, m *instance) project.Document {
	d := project.Document{"name": m.Name, "instance": x.Link(m.path()), "currentAction": m.Action}
	if m.exists() {
		d["id"], d["instanceStatus"] = project.Digits(m.ID), m.State
	}
	if !m.leaving() {
		v := project.Document{"instanceTemplate": x.Link(m.Template)}
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
		d["lastAttempt"] = project.Document{"errors": project.Document{"errors": list}}
	}
	if check, _ := g.healthCheck(); check != "" && m.exists() {
		d["instanceHealth"] = []any{project.Document{"healthCheck": x.Link(check), "detailedHealthState": health(m)}}
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

package compute

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// instance returns an instance as it goes over the wire.
func (w *views) instance(x *project.Call, m *instance) document.Object {
	d := document.Copied(w.properties(m.Content))
	linkInterfaces(x, d)
	zone := "projects/" + m.Project + "/zones/" + m.Zone
	labels := w.labels(m)
	maps.Copy(d, document.Object{
		"kind": "compute#instance", "id": project.Digits(m.ID), "creationTimestamp": project.Stamp(m.Created), "name": m.Name, "status": m.State,
		"selfLink": x.Link(m.path()), "zone": x.Link(zone), "machineType": x.Link(zone + "/machineTypes/" + m.Type),
		"labelFingerprint": project.Fingerprint(labels), "deletionProtection": false,
	})
	delete(d, "labels")
	if len(labels) > 0 {
		d["labels"] = document.OfStrings(labels)
	}
	metadata := w.metadata(m)
	if m.Group != "" {
		metadata["created-by"], metadata["instance-template"] = numbered(m.Group), numbered(m.Template)
	}
	list := []any{}
	for _, k := range slices.Sorted(maps.Keys(metadata)) {
		list = append(list, document.Object{"key": k, "value": metadata[k]})
	}
	d["metadata"] = document.Object{"kind": "compute#metadata", "fingerprint": project.Fingerprint(metadata), "items": list}
	for i, n := range document.Objects(d, "networkInterfaces") {
		if i == 0 {
			n["networkIP"] = m.Address
		}
	}
	if m.powered() {
		d["lastStartTimestamp"] = project.Stamp(m.Running)
	}
	return d
}

// numbered returns the path of a resource with the number of its project in place of the ID, as Compute Engine writes it in metadata.
func numbered(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return "projects/" + project.DefaultNumber + "/" + parts[len(parts)-1]
}

// shownInstances are the instances of a project that exist and are wanted.
func (w *others) shownInstances(x *project.Call, wanted func(*instance) bool) []project.Named {
	var all []project.Named
	for _, m := range w.instances.All() {
		if m.Project == x.Vars["project"] && m.exists() && wanted(m) {
			all = append(all, project.Named{Key: m.path(), Doc: w.views.instance(x, m)})
		}
	}
	return all
}

func (w *others) listInstances(x *project.Call) (*project.Answer, error) {
	return w.List(x, "compute#instanceList", w.shownInstances(x, func(m *instance) bool { return m.Zone == x.Vars["zone"] }))
}

func (w *others) aggregateInstances(x *project.Call) (*project.Answer, error) {
	return catalogue.Scoped(w.Core, x, "compute#instanceAggregatedList", "instances", catalogue.ZoneScopes(),
		w.shownInstances(x, func(*instance) bool { return true }))
}

func (w *others) getInstance(x *project.Call) (*project.Answer, error) {
	m, err := w.asked(x)
	if err != nil {
		return nil, err
	}
	return project.OK(w.views.instance(x, m)), nil
}

// deleteInstance answers instances.delete. The group of an instance creates it again.
func (w *others) deleteInstance(x *project.Call) (*project.Answer, error) {
	m, err := w.asked(x)
	if err != nil {
		return nil, err
	}
	o := w.Start(x, "delete", m.path(), m.ID)
	w.life.lose(m)
	return project.OK(o.Show(x, w.Now)), nil
}

// setLabels answers instances.setLabels: the labels of one instance, on the condition that they are those that the client has seen.
func (w *others) setLabels(x *project.Call) (*project.Answer, error) {
	m, err := w.asked(x)
	if err != nil {
		return nil, err
	}
	d, err := catalogue.Body(x, "InstancesSetLabelsRequest")
	if err != nil {
		return nil, err
	}
	labels := document.Under(d, "labels")
	if err := project.CheckLabels(labels, "labels"); err != nil {
		return nil, err
	}
	if document.Text(d, "labelFingerprint") != project.Fingerprint(w.labels(m)) {
		return nil, project.Unmet("Labels fingerprint either invalid or resource labels have changed")
	}
	m.Relabel, m.RelabelAt = document.Pairs(d, "labels"), w.Now.Add(w.Life(lifeRelabel))
	w.touch(m)
	return w.Begin(x, "setLabels", m.path(), m.ID)
}

// lose deletes an instance that its group has not deleted.
func (w *life) lose(m *instance) {
	w.off(m)
	if m.Group == "" {
		w.instances.Delete(m.key())
		return
	}
	w.vanish(m)
	m.Next = w.Now.Add(w.Life(lifeAccept))
	if !m.leaving() && m.Action != actionRecreating {
		m.Action, m.Next = actionNone, m.StopsAt
	}
	if m.leaving() {
		m.State = stateStopping
	}
	w.touch(m)
	w.look(m)
}

// asked finds the instance of the request's path, which can be its name or its ID.
func (w *others) asked(x *project.Call) (*instance, error) {
	path := project.Zonal(x.Vars["project"], x.Vars["zone"], "instances", x.Vars["instance"])
	for _, m := range w.instances.All() {
		if m.exists() && (m.path() == path || m.Zone == x.Vars["zone"] && project.Digits(m.ID) == x.Vars["instance"]) {
			return m, nil
		}
	}
	return nil, project.NotFound(path)
}

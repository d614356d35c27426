package compute

import (
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// group returns the instance group that a manager keeps its instances in.
func (w *views) group(x *project.Call, g *manager) document.Object {
	kind, where := "zone", g.Zone
	if g.regional() {
		kind, where = "region", g.Region
	}
	size := 0
	for _, m := range w.members(g) {
		if m.exists() {
			size++
		}
	}
	return document.Object{
		"kind": "compute#instanceGroup", "id": project.Digits(g.ID), "name": g.Name, "size": size, "creationTimestamp": project.Stamp(g.Created),
		"selfLink": x.Link(groupPath(g)), kind: x.Link("projects/" + g.Project + "/" + kind + "s/" + where), "fingerprint": g.fingerprint(),
		"description": "This instance group is controlled by Instance Group Manager '" + g.Name + "'. To modify instances in this group, use " +
			"the Instance Group Manager API.",
	}
}

func groupPath(g *manager) string {
	return "projects/" + g.Project + "/" + g.scope() + "/instanceGroups/" + g.Name
}

func (w *groups) getGroup(x *project.Call) (*project.Answer, error) {
	g, err := w.found(x)
	if err != nil {
		return nil, err
	}
	return project.OK(w.views.group(x, g)), nil
}

func (w *groups) listGroups(x *project.Call) (*project.Answer, error) {
	kind := "compute#instanceGroupList"
	if x.Vars["region"] != "" {
		kind = "compute#regionInstanceGroupList"
	}
	var all []project.Named
	for key, g := range w.managers.Under("projects/" + x.Vars["project"] + "/") {
		if g.Zone == x.Vars["zone"] && g.Region == x.Vars["region"] {
			all = append(all, project.Named{Key: key, Doc: w.views.group(x, g)})
		}
	}
	return w.List(x, kind, all)
}

// listMembers lists the instances of an instance group that exist: all, or those that run.
func (w *groups) listMembers(x *project.Call) (*project.Answer, error) {
	g, err := w.found(x)
	if err != nil {
		return nil, err
	}
	d, err := x.Document()
	if err != nil {
		return nil, err
	}
	running, kind := document.Text(d, "instanceState") == stateRunning, "compute#instanceGroupsListInstances"
	if g.regional() {
		kind = "compute#regionInstanceGroupsListInstances"
	}
	var all []project.Named
	for _, m := range w.members(g) {
		if m.exists() && (!running || m.State == stateRunning) {
			all = append(all, project.Named{Key: m.path(), Doc: document.Object{"instance": x.Link(m.path()), "status": m.State}})
		}
	}
	return w.List(x, kind, all)
}

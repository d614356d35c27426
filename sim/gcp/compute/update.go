package compute

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// What an update does to an instance, from the least to the most disruptive.
const (
	updateNone    = "NONE"
	updateRefresh = "REFRESH"
	updateRestart = "RESTART"
	updateReplace = "REPLACE"
)

// updates are the actions of updates, ordered by how disruptive they are.
var updates = []string{updateNone, updateRefresh, updateRestart, updateReplace}

// worse returns the more disruptive of two actions.
func worse(a, b string) string {
	if slices.Index(updates, a) < slices.Index(updates, b) {
		return b
	}
	return a
}

// refreshed and restarted are the properties that can be changed on an instance that runs, and on one that is stopped. A change of any
// other replaces the instance.
var (
	refreshed = []string{"labels", "metadata", "tags", "description"}
	restarted = []string{"machineType", "serviceAccounts", "minCpuPlatform", "scheduling", "canIpForward", "shieldedInstanceConfig",
		"guestAccelerators"}
)

// outdated returns the members of a group that are not of its versions, and those of a version that has more than it shall have.
func (w *Service) outdated(g *manager) []*instance {
	left := map[string]int{}
	for i, v := range g.Versions {
		left[v.Template] += g.calculated(i)
		if v.Size == nil {
			left[v.Template] += maxSize
		}
	}
	var out []*instance
	for _, m := range w.staying(g) {
		if left[m.Template]--; left[m.Template] < 0 {
			out = append(out, m)
		}
	}
	return out
}

// needed returns what must be done to an instance so that it is as its group has it.
func (w *scaling) needed(g *manager, m *instance, outdated bool) string {
	action := updateNone
	if m.exists() && !m.Revision.Equal(g.Revision) {
		action = updateRefresh
	}
	if !outdated {
		return action
	}
	probe := *m
	w.life.renew(g, &probe)
	have, want := w.properties(m.Content), w.properties(probe.Content)
	for k := range document.Overlaid(have, want) {
		switch {
		case document.Written(have[k]) == document.Written(want[k]):
		case slices.Contains(refreshed, k):
			action = worse(action, updateRefresh)
		case slices.Contains(restarted, k):
			action = worse(action, updateRestart)
		default:
			return updateReplace
		}
	}
	return worse(action, updateRefresh)
}

// update does something to an instance, so that it is as its group has it.
func (w *scaling) update(m *instance, action string, outdated bool) {
	m.Renew = outdated
	switch action {
	case updateRefresh:
		if m.Action == actionNone {
			m.Action, m.Next = actionRefreshing, w.Now.Add(w.Life(lifeRefresh))
		}
	case updateRestart:
		if m.Action == actionNone {
			w.life.stop(m)
			m.Action = actionRestarting
		}
	case updateReplace:
		w.life.recreate(m, outdated)
	}
	w.touch(m)
}

// applyUpdates answers applyUpdatesToInstances.
func (w *scaling) applyUpdates(x *project.Call) (*project.Answer, error) {
	g, err := w.manager(x)
	if err != nil {
		return nil, err
	}
	d, err := catalogue.Body(x, "InstanceGroupManagersApplyUpdatesRequest")
	if err != nil {
		return nil, err
	}
	members := w.staying(g)
	var failures []project.Failure
	if !document.Truth(d, "allInstances") {
		if members, failures, err = w.named(g, d); err != nil {
			return nil, err
		}
	}
	least, most := textOr(d, "minimalAction", updateNone), textOr(d, "mostDisruptiveAllowedAction", updateReplace)
	old := w.outdated(g)
	actions := map[*instance]string{}
	for _, m := range members {
		actions[m] = worse(w.needed(g, m, slices.Contains(old, m)), least)
		if worse(actions[m], most) != most {
			failures = append(failures, project.Failure{Code: "INVALID_USAGE", Message: fmt.Sprintf(
				"Instance '%s' needs the action %s, which is more disruptive than the allowed action %s.", m.path(), actions[m], most)})
		}
	}
	const kind = "compute.instanceGroupManagers.applyUpdatesToInstances"
	if len(failures) > 0 {
		return w.BeginFailed(x, kind, g.path(), g.ID, http.StatusBadRequest, failures)
	}
	for _, m := range members {
		w.update(m, actions[m], slices.Contains(old, m))
	}
	w.changed(g)
	return w.Begin(x, kind, g.path(), g.ID)
}

func textOr(d document.Object, path, otherwise string) string {
	if s := document.Text(d, path); s != "" {
		return s
	}
	return otherwise
}

func (w *scaling) recreateInstances(x *project.Call) (*project.Answer, error) {
	return w.onInstances(x, "recreateInstances", func(_ *manager, m *instance) { w.life.recreate(m, true) })
}

func (w *scaling) abandonInstances(x *project.Call) (*project.Answer, error) {
	return w.onInstances(x, "abandonInstances", w.abandon)
}

// createInstances answers createInstances: instances with given names, by which the group's size grows.
func (w *scaling) createInstances(x *project.Call) (*project.Answer, error) {
	g, err := w.manager(x)
	if err != nil {
		return nil, err
	}
	d, err := catalogue.Body(x, "InstanceGroupManagersCreateInstancesRequest")
	if err != nil {
		return nil, err
	}
	asked := document.Objects(d, "instances")
	if len(asked) == 0 {
		return nil, project.Required("instances")
	}
	for i, one := range asked {
		name := document.Text(one, "name")
		if err := project.CheckName(fmt.Sprintf("instances[%d].name", i), name); err != nil {
			return nil, err
		}
		if w.nameTaken(g, name) {
			return nil, project.AlreadyExists(project.Zonal(g.Project, w.placement.order(g)[0], "instances", name))
		}
	}
	for _, one := range asked {
		w.life.rename(w.life.add(g), document.Text(one, "name"))
		g.Target++
	}
	w.changed(g)
	return w.Begin(x, "compute.instanceGroupManagers.createInstances", g.path(), g.ID)
}

// nameTaken reports whether an instance of the group's zones has a name.
func (w *scaling) nameTaken(g *manager, name string) bool {
	for _, m := range w.instances.All() {
		if m.Project == g.Project && m.Name == name && slices.Contains(g.zones(), m.Zone) {
			return true
		}
	}
	return false
}

// rename gives an instance that does not exist yet another name.
func (w *life) rename(m *instance, name string) {
	w.instances.Delete(m.key())
	m.Name = name
	w.instances.Put(m.key(), m)
}

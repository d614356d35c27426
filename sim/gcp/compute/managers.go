package compute

import (
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Managers is how another service uses managed instance groups: without requests, limits or faults of requests. Groups are named by their
// paths, as in projects/p/zones/z/instanceGroupManagers/g. Errors are Google's.
type Managers struct{ service *Service }

// Managers returns the groups of the service.
func (w *Service) Managers() Managers { return Managers{w} }

// PutTemplate creates an instance template from the body of an insert request, a global one without a region, and returns its path.
func (m Managers) PutTemplate(id, region string, body document.Object) (string, error) {
	t, err := m.service.groups.addTemplate(id, region, body)
	if err != nil {
		return "", err
	}
	return t.path(), nil
}

// DropTemplate deletes a template, and refuses while a group uses it. One that does not exist is no error.
func (m Managers) DropTemplate(path string) error {
	t := m.service.templates.Get(path)
	if t == nil {
		return nil
	}
	return m.service.groups.dropTemplate(t)
}

// Put creates a zonal group from the body of an insert request, which acts as a service account, and returns its path.
func (m Managers) Put(id, zone, account string, body document.Object) (string, error) {
	g, err := m.service.groups.addManager(id, zone, "", body)
	if err != nil {
		return "", err
	}
	g.Doc["serviceAccount"] = account
	return g.path(), nil
}

// Patch changes a group by the body of a patch request: its template, its size, its policies.
func (m Managers) Patch(path string, body document.Object) error {
	return m.on(path, func(g *manager) error { return m.service.groups.patch(g, body) })
}

// Drop begins to delete a group with its instances. One that does not exist is no error.
func (m Managers) Drop(path string) {
	if g := m.service.managers.Get(path); g != nil && g.Deletion == "" {
		m.service.groups.drop(g, m.service.byHand(g, "compute.instanceGroupManagers.delete"))
	}
}

// Exists reports whether a group exists; one that is being deleted does.
func (m Managers) Exists(path string) bool { return m.service.managers.Get(path) != nil }

// Size returns the target size of a group, 0 for one that does not exist.
func (m Managers) Size(path string) int {
	if g := m.service.managers.Get(path); g != nil {
		return g.Target
	}
	return 0
}

// Member is an instance of a group as another service sees it.
type Member struct {
	Name, Zone string
	// ID is the instance's ID by which the MachineHost knows it, "" while it does not exist.
	ID, ProviderID string
	// Template is the path of the template that it is, or will be, created from.
	Template string
	// State is its status such as RUNNING, Action what the group does with it, such as NONE or CREATING.
	State, Action string
	// Failures are what went wrong in the last attempt.
	Failures []project.Failure
	Created  time.Time
	// Running is since when it runs, the zero time while it does not; NeverBoots is true for one inside which nothing happens.
	Running    time.Time
	NeverBoots bool
}

// Members returns the instances of a group in the order in which they were added.
func (m Managers) Members(path string) []Member {
	g := m.service.managers.Get(path)
	if g == nil {
		return nil
	}
	var out []Member
	for _, one := range m.service.members(g) {
		shown := Member{
			Name: one.Name, Zone: one.Zone, ProviderID: providerID(one), Template: one.Template, State: one.State, Action: one.Action,
			Failures: one.Failures,
			Created:  one.Created, NeverBoots: one.NeverBoots,
		}
		if one.powered() {
			shown.Running = one.Running
		}
		if one.exists() {
			shown.ID = project.Digits(one.ID)
		}
		out = append(out, shown)
	}
	return out
}

// Delete deletes an instance of a group, and lowers the group's size by it.
func (m Managers) Delete(path, name string) error {
	return m.onMember(path, name, m.service.scaling.takeOut)
}

// Recreate deletes an instance of a group and creates it again under its name, from the group's template of now.
func (m Managers) Recreate(path, name string) error {
	return m.onMember(path, name, func(_ *manager, one *instance) { m.service.life.recreate(one, true) })
}

// on does something to a group that exists.
func (m Managers) on(path string, do func(*manager) error) error {
	g := m.service.managers.Get(path)
	if g == nil {
		return project.NotFound(path)
	}
	if err := g.ready(); err != nil {
		return err
	}
	return do(g)
}

// onMember does something to an instance of a group.
func (m Managers) onMember(path, name string, do func(*manager, *instance)) error {
	return m.on(path, func(g *manager) error {
		for _, one := range m.service.members(g) {
			if one.Name == name && !one.leaving() {
				do(g, one)
				m.service.changed(g)
				return nil
			}
		}
		return project.NotFound(project.Zonal(g.Project, g.Zone, "instances", name))
	})
}

// byHand begins an operation that no request has begun.
func (w *Service) byHand(g *manager, kind string) *project.Operation {
	o := &project.Operation{Type: kind, Project: g.Project, Scope: g.scope(), Target: g.path(), TargetID: g.ID, User: "console@" + g.Project,
		Inserted: w.Now}
	w.Put(o)
	return o
}

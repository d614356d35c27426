package compute

import (
	"net/http"
	"strconv"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// insertManager answers insert of zonal and of regional groups.
func (w *groups) insertManager(x *project.Call) (*project.Answer, error) {
	d, err := catalogue.Body(x, "InstanceGroupManager")
	if err != nil {
		return nil, err
	}
	g, err := w.addManager(x.Vars["project"], x.Vars["zone"], x.Vars["region"], d)
	if err != nil {
		return nil, err
	}
	return w.Begin(x, "compute.instanceGroupManagers.insert", g.path(), g.ID)
}

// addManager creates a group from the body of an insert request.
func (w *groups) addManager(id, zone, region string, d document.Object) (*manager, error) {
	g := &manager{Project: id, Zone: zone, Region: region, Name: document.Text(d, "name"), Created: w.Now, Doc: document.Object{}}
	if err := project.CheckName("resource.name", g.Name); err != nil {
		return nil, err
	}
	if w.managers.Get(g.path()) != nil {
		return nil, project.AlreadyExists(g.path())
	}
	size, given := document.Number(d, "targetSize")
	switch {
	case !given:
		return nil, project.Required("resource.targetSize")
	case size < 0 || size > maxSize:
		return nil, badSize("resource.targetSize", strconv.Itoa(size))
	}
	g.Target = size
	if err := w.accept(g, d); err != nil {
		return nil, err
	}
	if len(g.Versions) == 0 {
		return nil, project.Required("resource.instanceTemplate")
	}
	g.ID = w.NewID()
	w.managers.Put(g.path(), g)
	w.changed(g)
	w.scaling.grow(g)
	return g, nil
}

// maxSize is the largest number of instances of a group.
const maxSize = 2000

func badSize(field, value string) error {
	return project.Invalid(field, value, "Values must be within the following range: [0, %d]", maxSize)
}

// patchManager answers patch: a JSON merge patch of what clients can set.
func (w *groups) patchManager(x *project.Call) (*project.Answer, error) {
	g, err := w.manager(x)
	if err != nil {
		return nil, err
	}
	d, err := catalogue.Patch(x, "InstanceGroupManager")
	if err != nil {
		return nil, err
	}
	if err := w.patch(g, d); err != nil {
		return nil, err
	}
	return w.Begin(x, "patch", g.path(), g.ID)
}

// patch changes a group by the body of a patch request.
func (w *groups) patch(g *manager, d document.Object) error {
	if given := document.Text(d, "fingerprint"); given != "" && given != g.fingerprint() {
		return project.Unmet("Invalid fingerprint.")
	}
	size, sized := document.Number(d, "targetSize")
	if sized && (size < 0 || size > maxSize) {
		return badSize("resource.targetSize", strconv.Itoa(size))
	}
	next := *g
	next.Doc = document.Copied(g.Doc)
	if sized {
		next.Target = size
	}
	if err := w.accept(&next, d); err != nil {
		return err
	}
	g.Doc, g.Versions, g.Config, g.Revision = next.Doc, next.Versions, next.Config, next.Revision
	w.changed(g)
	if sized {
		w.scaling.resize(g, size)
	}
	return nil
}

// fingerprint returns what stands for the current state of a group.
func (g *manager) fingerprint() string { return project.Fingerprint([]any{g.ID, g.Changes}) }

func (w *groups) getManager(x *project.Call) (*project.Answer, error) {
	g, err := w.found(x)
	if err != nil {
		return nil, err
	}
	return project.OK(w.views.manager(x, g)), nil
}

func (w *groups) listManagers(x *project.Call) (*project.Answer, error) {
	kind := "compute#instanceGroupManagerList"
	if x.Vars["region"] != "" {
		kind = "compute#regionInstanceGroupManagerList"
	}
	return w.List(x, kind, w.shownManagers(x, func(g *manager) bool { return g.Zone == x.Vars["zone"] && g.Region == x.Vars["region"] }))
}

func (w *groups) aggregateManagers(x *project.Call) (*project.Answer, error) {
	all := w.shownManagers(x, func(*manager) bool { return true })
	return catalogue.Scoped(w.Core, x, "compute#instanceGroupManagerAggregatedList", "instanceGroupManagers",
		append(catalogue.RegionScopes(), catalogue.ZoneScopes()...), all)
}

// shownManagers are the groups of a project that are wanted, in the order of their paths.
func (w *groups) shownManagers(x *project.Call, wanted func(*manager) bool) []project.Named {
	var all []project.Named
	for key, g := range w.managers.Under("projects/" + x.Vars["project"] + "/") {
		if wanted(g) {
			all = append(all, project.Named{Key: key, Doc: w.views.manager(x, g)})
		}
	}
	return all
}

// deleteManager answers delete: the group goes together with its instances.
func (w *groups) deleteManager(x *project.Call) (*project.Answer, error) {
	g, err := w.manager(x)
	if err != nil {
		return nil, err
	}
	o := w.Start(x, "compute.instanceGroupManagers.delete", g.path(), g.ID)
	w.drop(g, o)
	return project.OK(o.Show(x, w.Now)), nil
}

// drop begins to delete a group. The operation ends when the group is gone.
func (w *groups) drop(g *manager, o *project.Operation) {
	g.Deletion, o.Open = o.Path(), true
	for _, m := range w.members(g) {
		w.life.remove(m)
	}
	w.changed(g)
}

// found finds the group of the request's path.
func (w *Service) found(x *project.Call) (*manager, error) {
	path := managerPath(x.Vars["project"], x.Vars["zone"], x.Vars["region"], x.Vars["manager"])
	if g := w.managers.Get(path); g != nil {
		return g, nil
	}
	return nil, project.NotFound(path)
}

// manager finds the group of the request's path to change it: one that is being deleted takes no change.
func (w *Service) manager(x *project.Call) (*manager, error) {
	g, err := w.found(x)
	if err != nil {
		return nil, err
	}
	return g, g.ready()
}

// ready refuses a group that is being deleted.
func (g *manager) ready() error {
	if g.Deletion != "" {
		return project.Refuse(http.StatusBadRequest, "resourceNotReady", "The resource '%s' is not ready", g.path())
	}
	return nil
}

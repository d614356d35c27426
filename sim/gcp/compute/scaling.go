package compute

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// maxNamed limits the instances that one request names.
const maxNamed = 1000

// grow adds as many instances as the group's size lacks, to be created.
func (w *scaling) grow(g *manager) {
	for n := g.Target - len(w.staying(g)); n > 0; n-- {
		w.life.add(g)
	}
}

// resize sets the size of a group, and removes instances of the group's choice where it has more.
func (w *scaling) resize(g *manager, size int) {
	have := w.staying(g)
	g.Target = size
	w.changed(g)
	for _, m := range w.surplus(g, have, len(have)-size) {
		w.life.remove(m)
	}
	w.grow(g)
}

// surplus chooses n instances to delete: those that do not run first, then those that are unhealthy, then those of another version, those
// in the zone with the most, and the newest.
func (w *scaling) surplus(g *manager, have []*instance, n int) []*instance {
	class := func(m *instance) int {
		switch {
		case !m.exists():
			return 0
		case m.State != stateRunning:
			return 1
		case m.Unhealthy:
			return 2
		case !g.hasVersion(m.Template):
			return 3
		}
		return 4
	}
	return fleet.Surplus(have, have, n, func(stay []*instance) func(a, b *instance) int {
		spread := fleet.SpreadOf(stay)
		return func(a, b *instance) int {
			return cmp.Or(cmp.Compare(class(a), class(b)), spread.ByMost(a.Zone, b.Zone), cmp.Compare(b.Number, a.Number))
		}
	})
}

func (w *scaling) resizeManager(x *project.Call) (*project.Answer, error) {
	g, err := w.manager(x)
	if err != nil {
		return nil, err
	}
	asked := x.Query.Get("size")
	size, err := strconv.Atoi(asked)
	if err != nil || size < 0 || size > maxSize {
		return nil, badSize("size", asked)
	}
	w.resize(g, size)
	return w.Begin(x, "compute.instanceGroupManagers.resize", g.path(), g.ID)
}

func (w *scaling) setTemplate(x *project.Call) (*project.Answer, error) {
	g, err := w.manager(x)
	if err != nil {
		return nil, err
	}
	d, err := catalogue.Body(x, "InstanceGroupManagersSetInstanceTemplateRequest")
	if err != nil {
		return nil, err
	}
	path, err := w.groups.checkTemplate("instanceTemplate", document.Text(d, "instanceTemplate"), g)
	if err != nil {
		return nil, err
	}
	g.Versions = []version{{Template: path}}
	w.changed(g)
	return w.Begin(x, "compute.instanceGroupManagers.setInstanceTemplate", g.path(), g.ID)
}

// named reads the instances that a request names: those that are members and stay, and why others are refused. A URL that is malformed, or
// of another place, is refused at once.
func (w *scaling) named(g *manager, d document.Object) (members []*instance, failures []project.Failure, err error) {
	links := document.Texts(d, "instances")
	if len(links) == 0 {
		return nil, nil, project.Required("instances")
	}
	if len(links) > maxNamed {
		return nil, nil, project.Invalid("instances", strconv.Itoa(len(links)), "At most %d instances can be specified.", maxNamed)
	}
	for i, link := range links {
		field := "instances[" + strconv.Itoa(i) + "]"
		path := project.PathOf(link, g.Project)
		parts := strings.Split(path, "/")
		if len(parts) != 6 || parts[2] != "zones" || parts[4] != "instances" {
			return nil, nil, project.Invalid(field, link, "The URL is malformed.")
		}
		if !slices.Contains(g.zones(), parts[3]) {
			return nil, nil, project.Invalid(field, link, "The instance is not in the zones of the managed instance group.")
		}
		m := w.instances.Get(g.path() + "|" + path)
		if m == nil || m.leaving() {
			failures = append(failures, project.Failure{Code: "INVALID_USAGE", Message: "Invalid value for field '" + field + "': '" + link +
				"'. The instance is not a member of the managed instance group, or is already being deleted or abandoned."})
			continue
		}
		members = append(members, m)
	}
	return members, failures, nil
}

// onInstances answers a request that does something to named instances. It fails as a whole where one of them is not a member, unless the
// request skips those.
func (w *scaling) onInstances(x *project.Call, name string, do func(*manager, *instance)) (*project.Answer, error) {
	g, err := w.manager(x)
	if err != nil {
		return nil, err
	}
	d, err := catalogue.Body(x, "InstanceGroupManagers"+strings.ToUpper(name[:1])+name[1:]+"Request")
	if err != nil {
		return nil, err
	}
	members, failures, err := w.named(g, d)
	if err != nil {
		return nil, err
	}
	kind := "compute.instanceGroupManagers." + name
	if len(failures) > 0 && !document.Truth(d, "skipInstancesOnValidationError") {
		return w.BeginFailed(x, kind, g.path(), g.ID, http.StatusBadRequest, failures)
	}
	for _, m := range members {
		do(g, m)
	}
	w.changed(g)
	return w.Begin(x, kind, g.path(), g.ID)
}

func (w *scaling) deleteInstances(x *project.Call) (*project.Answer, error) {
	return w.onInstances(x, "deleteInstances", w.takeOut)
}

// takeOut deletes an instance and lowers the group's size by it.
func (w *scaling) takeOut(g *manager, m *instance) {
	g.Target = max(0, g.Target-1)
	w.life.remove(m)
}

func (w *scaling) listManaged(x *project.Call) (*project.Answer, error) {
	g, err := w.found(x)
	if err != nil {
		return nil, err
	}
	var all []project.Named
	for _, m := range w.members(g) {
		all = append(all, project.Named{Key: m.path(), Doc: w.views.managed(x, g, m)})
	}
	kept, err := project.Filtered(x, all)
	if err != nil {
		return nil, err
	}
	d := document.Object{}
	if g.text("listManagedInstancesResults", "PAGELESS") == "PAGINATED" {
		page, next, err := w.Page(x, kept)
		if err != nil {
			return nil, err
		}
		if kept = page; next != "" {
			d["nextPageToken"] = next
		}
	}
	if len(kept) > 0 {
		d["managedInstances"] = project.Documents(kept)
	}
	return project.OK(d), nil
}

func (w *scaling) listErrors(x *project.Call) (*project.Answer, error) {
	g, err := w.found(x)
	if err != nil {
		return nil, err
	}
	var all []project.Named
	for i, e := range slices.Backward(g.Errors) {
		details := document.Object{"instance": x.Link(e.Instance), "action": e.Action,
			"version": document.Object{"instanceTemplate": x.Link(e.Template)}}
		all = append(all, project.Named{Key: strconv.Itoa(1<<20 - i), Doc: document.Object{
			"error": e.Failure.Body(), "instanceActionDetails": details, "timestamp": project.Stamp(e.At),
		}})
	}
	page, next, err := w.Page(x, all)
	if err != nil {
		return nil, err
	}
	d := document.Object{}
	if len(page) > 0 {
		d["items"] = project.Documents(page)
	}
	if next != "" {
		d["nextPageToken"] = next
	}
	return project.OK(d), nil
}

// abandon takes an instance out of its group, and lowers the group's size by it. The instance goes on.
func (w *scaling) abandon(g *manager, m *instance) {
	g.Target = max(0, g.Target-1)
	m.Action, m.Next = actionAbandoning, w.Now.Add(w.Life(lifeAbandon))
	w.touch(m)
}

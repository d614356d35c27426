// Package compute simulates Compute Engine: instance templates, managed instance groups of a zone or a region, and their instances.
//
// Instances are created one after another and go through the states of real ones, all at sim.Speed. Groups act by themselves as in the real
// service: they retry what failed, repair what stopped, roll when their update policy is proactive, and even out zones. None of that
// drains a node.
package compute

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Service is Compute Engine with all that it holds. Its operations run one at a time.
type Service struct {
	*project.Core
	// Catalogue is what groups and templates refer to.
	Catalogue *catalogue.Service

	templates *core.Table[template]
	contents  core.Contents[document.Object]
	managers  *core.Table[manager]
	instances *fleet.Machines[instance, *instance]

	groups  *groups
	scaling *scaling
	life    *life
	keeper  *keeper
	views   *views

	placement *placement

	// NodeOf returns what an instance that another service manages learns from it, and its version of Kubernetes; nil for others. group and
	// template are paths.
	NodeOf func(group, template, zone string) (*sim.Managed, string)
}

// The parts of the service, by what they decide. Each embeds the Service, which holds the tables.
type (
	// groups are the operations on templates and on groups as a whole.
	groups struct{ *Service }
	// scaling are the operations on the instances of groups.
	scaling struct{ *Service }
	// life creates, powers and removes instances.
	life struct{ *Service }
	// placement chooses zones and decides whether an instance can be created there.
	placement struct{ *Service }
	// keeper is what groups do by themselves.
	keeper struct{ *Service }
	// views are groups and instances as clients see them.
	views struct{ *Service }
	// others are the operations on instances.
	others struct{ *Service }
)

// New returns the empty service.
func New(base *project.Core) *Service {
	w := &Service{
		Core:      base,
		templates: core.NewTable[template]("template/"),
		contents:  core.NewContents[document.Object]("content/"),
		managers:  core.NewTable[manager]("manager/"),
	}
	w.instances = fleet.New(base.State, "instance/", fleet.Kind[*instance]{
		Group:    func(m *instance) string { return project.LastOf(m.Group) },
		Occupies: func(m *instance) bool { return m.exists() && !m.leaving() }, Runs: (*instance).powered,
		Guest: func(m *instance) sim.Machine { return w.life.guest(m) },
	})
	w.groups, w.scaling, w.life, w.keeper = &groups{w}, &scaling{w}, &life{w}, &keeper{w}
	w.views, w.placement = &views{w}, &placement{w}
	w.Catalogue = catalogue.New(base, w.placement.used, func(path string) string { return healedBy(w.managers, path) })
	return w
}

// Tables returns the tables of the service.
func (w *Service) Tables() core.Tables {
	return core.Tables{w.templates, w.contents, w.managers, w.instances}
}

// Resume powers on again the instances that ran, and drops properties that nothing refers to any more.
func (w *Service) Resume() {
	used := map[string]bool{}
	for _, t := range w.templates.All() {
		used[t.Content] = true
	}
	for _, m := range w.instances.All() {
		used[m.Content] = true
	}
	w.contents.Sweep(used)
	w.instances.Resume()
}

// keep stores properties once and returns where.
func (w *Service) keep(properties document.Object) string {
	return w.contents.Keep(document.Written(properties), properties)
}

// properties returns the properties that are kept under a key.
func (w *Service) properties(key string) document.Object { return w.contents.Kept(key) }

// members are the instances of a group in the order in which they were added.
func (w *Service) members(g *manager) []*instance { return w.instances.Of(g.path() + "|") }

// staying are the members of a group that are not on their way out.
func (w *Service) staying(g *manager) []*instance {
	return slices.DeleteFunc(w.members(g), (*instance).leaving)
}

// groupOf returns the group of an instance, nil for one that has none.
func (w *Service) groupOf(m *instance) *manager { return w.managers.Get(m.Group) }

func (w *Service) touch(m *instance) { w.instances.Touch(m.key()) }

// changed notes that a group has changed, and lets it look after its instances at once.
func (w *Service) changed(g *manager) {
	g.Changes++
	g.NextLook = w.Now
	w.managers.Touch(g.path())
}

// Tick brings the service to the present and returns when something is due next; the zero time means never.
func (w *Service) Tick() time.Time {
	w.Forget()
	for key, m := range w.instances.All() {
		w.life.tick(key, m)
	}
	var next time.Time
	for _, g := range w.managers.All() {
		next = core.Earliest(next, w.keeper.tick(g))
	}
	// What groups have just done to their instances has times of its own.
	for _, m := range w.instances.All() {
		next = core.Earliest(next, m.due())
	}
	return next
}

// Power tells the machine host what has become of the instances.
func (w *Service) Power() { w.instances.Power() }

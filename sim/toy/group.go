package toy

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/managed"
)

// GroupTemplate describes the machines of groups. It never changes.
type GroupTemplate struct {
	Name        string            `json:"name"`
	MachineType string            `json:"machineType"`
	Image       string            `json:"image"`
	Version     string            `json:"version"`
	Tags        map[string]string `json:"tags"`
	Created     time.Time         `json:"createdAt"`
}

// content is all that distinguishes machines from each other.
func (t *GroupTemplate) content() string {
	return strings.Join([]string{t.Version, t.MachineType, t.Image}, "|")
}

// heldTemplate is a template with what no answer shows.
type heldTemplate struct {
	GroupTemplate
	UserData []byte `json:"userData"`
}

// Group is a group of machines, as clients see it. The cloud brings it to its size and never replaces a machine by itself.
type Group struct {
	Name     string            `json:"name"`
	Count    int               `json:"count"`
	Template string            `json:"template"`
	Zones    []string          `json:"zones"`
	Tags     map[string]string `json:"tags"`
	State    managed.State     `json:"state"`
	Account  string            `json:"account"`
	Revision int64             `json:"revision,string"`
	Created  time.Time         `json:"createdAt"`
	// Problem is why machines are missing.
	Problem *Problem `json:"problem,omitempty"`
}

// heldGroup is a group with when the next launch is tried; zero for at once.
type heldGroup struct {
	Group
	Retry time.Time
}

// lifeRetry is how long after a launch that failed the next one is tried, in life.
const lifeRetry = 30 * time.Second

// groups are the groups of the region, with their templates and machines.
type groups struct {
	*core.State
	rows      *core.Table[heldGroup]
	templates *core.Table[heldTemplate]
	machines  *managed.Instances
}

func newGroups(state *core.State) *groups {
	g := &groups{State: state, rows: core.NewTable[heldGroup]("toy/group/"), templates: core.NewTable[heldTemplate]("toy/template/")}
	g.machines = managed.NewInstances(state, "toy/group-", g.guest)
	return g
}

func (s *groups) tables() core.Tables { return core.Tables{s.rows, s.templates, s.machines.Rows} }

// guest is what a machine learns from its cloud.
func (s *groups) guest(i *managed.Instance) sim.Machine {
	m := sim.Machine{Cloud: "toy", Region: Region, Zone: i.Zone, ID: i.ID, ProviderID: providerID("groups", i.ID), Hostname: i.Name,
		Address: i.Address, Type: i.Type, CPUs: types[i.Type].CPUs, MemoryMiB: types[i.Type].MemoryMiB, KubeletVersion: "v" + i.Version,
		Launched: i.Booted}
	if t := s.templates.Get(i.Model); t != nil {
		m.UserData = t.UserData
	}
	return m
}

// tick brings the groups to the present and returns when something is due next; the zero time means never.
func (s *groups) tick() time.Time {
	next := s.machines.Tick()
	for _, g := range s.rows.All() {
		next = core.Earliest(next, s.bring(g))
	}
	return core.Earliest(next, s.machines.Tick())
}

// staying returns the machines of a group that are not being deleted.
func (s *groups) staying(g *heldGroup) []*managed.Instance {
	return slices.DeleteFunc(s.machines.Of(g.Name), func(i *managed.Instance) bool { return i.Deleting })
}

// bring brings a group to its size, and returns when a launch that failed is tried again.
func (s *groups) bring(g *heldGroup) time.Time {
	staying := s.staying(g)
	if g.State == managed.Deleting && len(s.machines.Of(g.Name)) == 0 {
		s.rows.Delete(g.Name)
		return time.Time{}
	}
	for _, surplus := range staying[:max(0, len(staying)-g.Count)] {
		s.machines.Delete(surplus)
	}
	if len(staying) >= g.Count {
		g.Retry, g.Problem = time.Time{}, nil
		return time.Time{}
	}
	if g.Retry.After(s.Now) {
		return g.Retry
	}
	s.rows.Touch(g.Name)
	t := s.templates.Get(g.Template)
	for range g.Count - len(staying) {
		one := managed.Instance{Machine: fleet.Machine{Type: t.MachineType}, Pool: g.Name, Name: g.Name, Version: t.Version, Model: t.Name}
		if failure := s.machines.Launch(one, g.Zones); failure != nil {
			g.Problem, g.Retry = problem(failure), s.Now.Add(s.Life(lifeRetry))
			return g.Retry
		}
	}
	g.Problem, g.Retry = nil, time.Time{}
	return time.Time{}
}

// changed notes that a client has changed a group.
func (s *groups) changed(g *heldGroup) {
	g.Revision++
	g.Retry = time.Time{}
	s.rows.Touch(g.Name)
}

// inUse reports whether a group or a machine is of a template.
func (s *groups) inUse(name string) bool {
	for _, g := range s.rows.All() {
		of := func(i *managed.Instance) bool { return i.Model == name }
		if g.Template == name || slices.ContainsFunc(s.machines.Of(g.Name), of) {
			return true
		}
	}
	return false
}

const (
	atTemplates = "/v1/templates"
	atGroups    = "/v1/groups"
	atGroup     = atGroups + "/{group}"
)

// groupRoutes are the operations on groups and their templates.
var groupRoutes = []route{
	reads("ListTemplates", atTemplates, (*exchange).listTemplates),
	writes("CreateTemplate", http.MethodPost, atTemplates, (*exchange).createTemplate),
	writes("DeleteTemplate", http.MethodDelete, atTemplates+"/{template}", (*exchange).deleteTemplate),
	reads("ListGroups", atGroups, (*exchange).listGroups),
	reads("ListMachines", "/v1/machines", (*exchange).listMachines),
	writes("CreateGroup", http.MethodPost, atGroups, (*exchange).createGroup),
	writes("UpdateGroup", http.MethodPatch, atGroup, onGroup((*exchange).updateGroup)),
	writes("DeleteGroup", http.MethodDelete, atGroup, onGroup((*exchange).deleteGroup)),
	writes("DeleteMachines", http.MethodPost, atGroup+"/delete-machines", onGroup((*exchange).deleteMachines)),
}

// Machine is a machine of a group as clients see it.
type Machine struct {
	ID         string    `json:"id"`
	Group      string    `json:"group"`
	ProviderID string    `json:"providerId"`
	Zone       string    `json:"zone"`
	State      string    `json:"state"`
	Template   string    `json:"template"`
	Created    time.Time `json:"createdAt"`
}

func showMachine(i *managed.Instance) Machine {
	return Machine{ID: i.ID, Group: i.Pool, ProviderID: providerID("groups", i.ID), Zone: i.Zone, State: i.State(&managed.Pool{}),
		Template: i.Model, Created: i.Created}
}

func (x *exchange) listTemplates(w *region) (any, error) {
	var all []GroupTemplate
	for _, t := range w.groups.templates.All() {
		all = append(all, t.GroupTemplate)
	}
	return page(x, w, "templates", all, func(t GroupTemplate) string { return t.Name })
}

func (x *exchange) listGroups(w *region) (any, error) {
	var all []Group
	for _, g := range w.groups.rows.All() {
		all = append(all, g.Group)
	}
	return page(x, w, "groups", all, func(g Group) string { return g.Name })
}

func (x *exchange) listMachines(w *region) (any, error) {
	var all []Machine
	for _, i := range w.groups.machines.Rows.All() {
		all = append(all, showMachine(i))
	}
	return page(x, w, "machines", all, func(m Machine) string { return m.ID })
}

func (x *exchange) createTemplate(w *region) (any, error) {
	t := &heldTemplate{GroupTemplate: GroupTemplate{Image: defaultImage}}
	if err := read(x.Body, t); err != nil {
		return nil, err
	}
	if w.groups.templates.Get(t.Name) != nil {
		return nil, refuse(http.StatusConflict, "AlreadyExists", "There is a template %s already.", t.Name)
	}
	t.Created = w.Now
	return t.GroupTemplate, w.groups.addTemplate(t)
}

// addTemplate adds a template, unless it is not possible.
func (s *groups) addTemplate(t *heldTemplate) error {
	if err := broken(
		rule{!nameOf.MatchString(t.Name), "name", "That can't be the name of a template."},
		rule{types[t.MachineType].Name == "", "machineType", "There is no machine type " + strconv.Quote(t.MachineType) + "."},
		rule{t.Image != defaultImage && t.Image != otherImage, "image", "There is no image " + strconv.Quote(t.Image) + "."},
		rule{!slices.Contains(versions, t.Version), "version", "Version " + strconv.Quote(t.Version) + " is not offered."},
	); err != nil {
		return err
	}
	s.templates.Put(t.Name, t)
	return nil
}

func (x *exchange) deleteTemplate(w *region) (any, error) {
	return struct{}{}, w.groups.dropTemplate(x.Vars["template"])
}

func (s *groups) dropTemplate(name string) error {
	switch {
	case s.templates.Get(name) == nil:
		return missing("template", name)
	case s.inUse(name):
		return refuse(http.StatusConflict, "InUse", "Template %s is in use.", name)
	}
	s.templates.Delete(name)
	return nil
}

// onGroup finds the group of a change, and refuses the change of another revision or of a group that is being deleted.
func onGroup(run func(*exchange, *region, *heldGroup) error) func(*exchange, *region) (any, error) {
	return func(x *exchange, w *region) (any, error) {
		g := w.groups.rows.Get(x.Vars["group"])
		if g == nil {
			return nil, missing("group", x.Vars["group"])
		}
		if want, is := x.Request.Header.Get("If-Match"), strconv.FormatInt(g.Revision, 10); want != "" && want != is {
			return nil, refuse(http.StatusPreconditionFailed, "PreconditionFailed", "Group %s has revision %s and not %s.", g.Name, is, want)
		}
		if g.State == managed.Deleting {
			return nil, refuse(http.StatusConflict, "Busy", "Group %s is being deleted.", g.Name)
		}
		if err := run(x, w, g); err != nil {
			return nil, err
		}
		w.groups.changed(g)
		return g.Group, nil
	}
}

func (x *exchange) createGroup(w *region) (any, error) {
	g := &heldGroup{Group: Group{Zones: Zones()}}
	if err := read(x.Body, &g.Group); err != nil {
		return nil, err
	}
	if w.groups.rows.Get(g.Name) != nil {
		return nil, refuse(http.StatusConflict, "AlreadyExists", "There is a group %s already.", g.Name)
	}
	if err := w.groups.check(g.Group); err != nil {
		return nil, err
	}
	w.groups.add(g)
	return g.Group, nil
}

func (s *groups) add(g *heldGroup) {
	g.State, g.Account, g.Created, g.Revision = managed.Running, Account, s.Now, 1
	s.rows.Put(g.Name, g)
}

func (x *exchange) updateGroup(w *region, g *heldGroup) error {
	changed := g.Group
	next := struct {
		Count    *int              `json:"count"`
		Template *string           `json:"template"`
		Tags     map[string]string `json:"tags"`
	}{Count: &changed.Count, Template: &changed.Template}
	if err := read(x.Body, &next); err != nil {
		return err
	}
	if next.Tags != nil {
		changed.Tags = next.Tags
	}
	if err := w.groups.check(changed); err != nil {
		return err
	}
	g.Group = changed
	return nil
}

// check refuses a group that is not possible.
func (s *groups) check(g Group) error {
	if s.templates.Get(g.Template) == nil {
		return missing("template", g.Template)
	}
	return broken(
		rule{!nameOf.MatchString(g.Name), "name", "That can't be the name of a group."},
		rule{g.Count < 0 || g.Count > mostNodes, "count", "A group has 0 to " + strconv.Itoa(mostNodes) + " machines."},
		rule{!offersZones(g.Zones), "zones", "The zones of " + Region + " are " + strings.Join(Zones(), ", ") + "."},
	)
}

func (x *exchange) deleteGroup(_ *region, g *heldGroup) error {
	g.State, g.Count = managed.Deleting, 0
	return nil
}

// deleteMachines deletes exactly the machines that a request names, with others in their place if it asks for those.
func (x *exchange) deleteMachines(w *region, g *heldGroup) error {
	var body struct {
		Machines []string `json:"machines"`
		Replace  bool     `json:"replace"`
	}
	if err := read(x.Body, &body); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(w.groups.staying(g), func(i *managed.Instance) bool { return !slices.Contains(body.Machines, i.ID) })
	if len(chosen) != len(body.Machines) {
		return refuse(http.StatusNotFound, "MachineNotFound", "%d of %d machines are in group %s.", len(chosen), len(body.Machines), g.Name)
	}
	for _, i := range chosen {
		w.groups.machines.Delete(i)
	}
	if !body.Replace {
		g.Count -= len(chosen)
	}
	return nil
}

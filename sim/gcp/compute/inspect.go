package compute

import (
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Group is the simulator's state of a managed instance group.
type Group struct {
	Path, Name, Zone, Region string
	Size                     int
	// Templates are the paths of the templates that it creates instances from.
	Templates []string
	// Labels are those of allInstancesConfig.
	Labels map[string]string
	// Policy is its update policy as it was set, Doc all that clients have set.
	Doc      document.Object
	Deleting bool
	Created  time.Time
	// Errors are the messages of its last errors, the newest last.
	Errors    []string
	Instances []Instance
}

// Instance is the simulator's state of an instance of a group.
type Instance struct {
	Name, Zone, ProviderID string
	// ID is that by which the MachineHost knows it, "" while it does not exist.
	ID string
	// Template is the path of its template, Content a fingerprint of the properties that it has.
	Template, Content string
	// Properties are those that Content stands for. They must not be changed.
	Properties             document.Object `json:"-"`
	State, Action, Address string
	Type                   string
	Spot                   bool
	Labels                 map[string]string
	UserData               []byte
	Code, Message          string
	Created                time.Time
}

// Template is the simulator's state of an instance template.
type Template struct {
	Path, Name string
	// Content is a fingerprint of its properties, which must not be changed.
	Content    string
	Properties document.Object `json:"-"`
	Labels     map[string]string
	Created    time.Time
}

// Inspect returns all groups with their instances.
func (w *Service) Inspect() []Group {
	out := []Group{}
	for key, g := range w.managers.All() {
		shown := Group{
			Path: key, Name: g.Name, Zone: g.Zone, Region: g.Region, Size: g.Target, Labels: document.Pairs(g.Config, "labels"),
			Doc:      document.Copied(g.Doc),
			Deleting: g.Deletion != "", Created: g.Created,
		}
		for _, v := range g.Versions {
			shown.Templates = append(shown.Templates, v.Template)
		}
		for _, e := range g.Errors {
			shown.Errors = append(shown.Errors, e.Failure.Message)
		}
		for _, m := range w.members(g) {
			shown.Instances = append(shown.Instances, w.inspect(m))
		}
		out = append(out, shown)
	}
	return out
}

func (w *Service) inspect(m *instance) Instance {
	out := Instance{
		Name: m.Name, Zone: m.Zone, ProviderID: providerID(m), Template: m.Template, Content: m.Content, Properties: w.properties(m.Content),
		State: m.State, Action: m.Action, Address: m.Address,
		Type: m.Type, Spot: m.Spot, Labels: w.labels(m), UserData: userData(w.metadata(m)), Created: m.Created,
	}
	if m.exists() {
		out.ID = project.Digits(m.ID)
	}
	for _, f := range m.Failures {
		out.Code, out.Message = f.Code, f.Message
	}
	return out
}

// InspectTemplates returns all templates.
func (w *Service) InspectTemplates() []Template {
	out := []Template{}
	for key, t := range w.templates.All() {
		properties := w.properties(t.Content)
		out = append(out, Template{Path: key, Name: t.Name, Content: t.Content, Properties: properties,
			Labels: document.Pairs(properties, "labels"), Created: t.Created})
	}
	return out
}

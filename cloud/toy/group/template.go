package group

import (
	"maps"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// The documents of groups, as far as they are read.
type (
	templateDoc struct {
		Name, MachineType, Image, Version string
		Tags                              map[string]string
		CreatedAt                         time.Time
	}

	groupDoc struct {
		Name, Revision, State, Template, Account string
		Count                                    int
		Zones                                    []string
		Tags                                     map[string]string
		CreatedAt                                time.Time
		Problem                                  *session.Problem
	}

	machineDoc struct {
		ID, Group, ProviderID, Zone, State, Template string
		CreatedAt                                    time.Time
	}

	// shape is a group with the template that it launches from, as they are or as they are wanted.
	shape struct {
		*groupDoc
		template *templateDoc
	}
)

// tag returns the value of a tag; empty without one.
func (g *groupDoc) tag(key string) string { return g.Tags[key] }

// tag returns the value of a tag; empty without one.
func (t *templateDoc) tag(key string) string { return t.Tags[key] }

// rows are the fields of a group and of its templates, by their members in requests and documents.
var rows = fields.Table[shape, session.Body]{
	ofTemplate("version", fields.Version, func(t *templateDoc) string { return t.Version }),
	ofTemplate("machineType", session.FieldMachineType, func(t *templateDoc) string { return t.MachineType }),
	ofTemplate("image", "spec.image", func(t *templateDoc) string { return t.Image }),
	{Name: "zones", Spec: "spec.zones", Effect: fields.Fixed, Owned: session.Ours, Value: func(s shape) any { return fields.Set(s.Zones) }},
	{Name: "tags", Spec: "spec.tags", Compare: fields.Exact, Owned: session.Consent, Value: func(s shape) any { return s.Tags },
		Put: func(b session.Body, want, is shape) {
			b["tags"] = fields.With(session.Consent, want.Tags, is.Tags)
		}},
}

// ofTemplate returns the row of a field of templates: they never change, so that another value is another template.
func ofTemplate(name, spec string, value func(*templateDoc) string) fields.Field[shape, session.Body] {
	return fields.Field[shape, session.Body]{Name: name, Spec: spec, Effect: fields.Rolls,
		Value: func(s shape) any { return fields.Text(value(s.template)) }}
}

// The tags of a template that tell what it was made of. The cloud shows no user data.
const tagContent, tagData = session.TagDomain + "content", session.TagDomain + "data"

// fieldBootstrap is the core object's field that names the bootstrap configuration.
const fieldBootstrap = "spec.template.spec.bootstrap"

// templateDigits is the number of digits at the end of a template's name.
const templateDigits = 12

// desired is the group that the specification asks for.
type desired struct {
	shape
	// made is the template by its hashes; its ref is its name, which follows from them.
	made pool.Template
}

// desire translates the specification.
func (t target) desire() (desired, error) {
	s := t.Spec
	zones := s.Zones
	if len(zones) == 0 {
		zones = t.FailureDomains
	}
	tags := session.Entries(s.Tags)
	maps.Copy(tags, session.Spelling.Tags(t.Owner))
	want := desired{shape: shape{
		groupDoc: &groupDoc{Name: t.name, Zones: zones, Tags: tags},
		template: &templateDoc{MachineType: s.MachineType, Image: s.Image, Tags: maps.Clone(tags)},
	}}
	version, valid := upgrade.Parse(t.KubernetesVersion)
	if t.KubernetesVersion == "" || !valid {
		return want, cloud.Invalidf(rows.SpecOf("version"), "%q is no Kubernetes version of the form v1.36.3", t.KubernetesVersion)
	}
	want.template.Version = version.String()
	want.made = pool.Template{Content: t.Bootstrap.Content(want.contentOf(want.template)), Data: t.Bootstrap.Hash()}
	want.made.Ref = TemplateName(t.Owner, want.made)
	want.template.Name = want.made.Ref
	want.template.Tags[tagContent], want.template.Tags[tagData] = want.made.Content, want.made.Data
	return want, nil
}

// TemplateName returns the name of an owner's template: it follows from what is in it, so that one is made once.
func TemplateName(o cloud.Owner, t pool.Template) string {
	return o.ResourceName() + "-" + cloud.Digest([]byte(o.ID+"\n"+t.Content+"\n"+t.Data), templateDigits)
}

// contentOf returns the content of a template as far as the specification names its fields.
func (d desired) contentOf(is *templateDoc) string {
	return session.ContentOf(rows.Rolling(d.shape, shape{d.groupDoc, is}))
}

// templateOf returns a template that exists: the pool's own by its tags, any other by its fields.
func (d desired) templateOf(t target, is *templateDoc) pool.Template {
	if t.Claim(session.Spelling, is.tag).Owned {
		return pool.Template{Ref: is.Name, Content: is.Tags[tagContent], Data: is.Tags[tagData]}
	}
	return pool.Template{Ref: is.Name, Content: d.contentOf(is), UserManaged: true}
}

// launchedFrom returns the template of a name; without content if it is not shown.
func (d desired) launchedFrom(t target, read groupRead, name string) pool.Template {
	if is := read.template(name); is != nil {
		return d.templateOf(t, is)
	}
	return pool.Template{Ref: name}
}

// differing returns the fields of the specification in which the wanted template differs from another.
func (d desired) differing(is *templateDoc, made pool.Template) []string {
	switch {
	case d.made.Content == "" || made.Same(d.made):
		return nil
	case cloud.OtherBootstrap(made.Content, d.made.Content):
		return []string{fieldBootstrap}
	}
	return rows.Differing(d.shape, shape{d.groupDoc, is}, fields.Rolls).Specs()
}

// foreign returns the conflict with a template that has the name of the wanted one and is not the pool's; nil if there is none.
func (d desired) foreign(t target, read groupRead) *pool.Cause {
	is := read.template(d.made.Ref)
	if d.made.Ref == "" || is == nil || t.Claim(session.Spelling, is.tag).Owned {
		return nil
	}
	return &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: "template " + is.Name +
		" exists and is not this pool's: its tags are missing or another's. It is left alone. Delete it"}
}

// problem returns why machines are missing, in the cloud's words.
func (g *groupDoc) problem() []pool.Cause {
	if g.Problem == nil {
		return nil
	}
	return []pool.Cause{driverkit.FailureOf(g.Problem.Error())}
}

// instanceState returns the state of a machine in package pool's words.
func (m *machineDoc) instanceState() pool.InstanceState {
	switch m.State {
	case "creating":
		return pool.Pending
	case stateDeleting:
		return pool.Terminating
	case "stopped":
		return pool.Failed
	}
	return pool.Running
}

package pool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// nextTemplate returns the template that the group should launch from: the newest, unless that is not the wanted one or a provider rollout
// sets it, as it always does where it replaces every instance of another template.
func (v *steps) nextTemplate() string {
	latest := v.in.o.Latest()
	unwanted := v.in.o.Wanted.Content != "" && !latest.Same(v.in.o.Wanted)
	if latest.Ref == "" || unwanted || v.in.t.RolloutOnTemplateChange || v.rollout.pointedByRollout() || v.in.providerRolloutRuns() &&
		!v.in.launchesDeletedVersion() {
		return v.in.o.Group.Template
	}
	return latest.Ref
}

// updateGroupStep repairs the fields of the group and points it at the newest template. A lower maximum waits until size and instances
// allow it: the cloud would otherwise choose instances by itself and terminate them undrained.
func (v *steps) updateGroupStep() *Step {
	g, latest := v.in.o.Group, v.nextTemplate()
	fields := make([]string, 0, len(g.Drift))
	for _, f := range g.Drift {
		if f == v.in.d.MaxField && v.in.d.MaxReplicas() < max(g.Size, v.fleet.counted, v.budget.minSize) {
			continue
		}
		fields = append(fields, f)
	}
	if g.Template == latest && len(fields) == 0 {
		return nil
	}
	s := &Step{Kind: UpdateGroup, Template: latest, Fields: fields}
	if len(fields) == 0 {
		s.Cause = Cause{"TemplateOutOfDate", fmt.Sprintf("the %s launches from %s, the newest is %s", v.in.t.Group, g.Template, latest)}
		return s
	}
	s.Cause = Cause{"GroupChanged", fmt.Sprintf("the %s differs in %s", v.in.t.Group, strings.Join(fields, ", "))}
	return s
}

// dataLost reports whether no instance launched from a template can join any more.
func (v *inputs) dataLost(t Template) bool {
	return t.Data != "" && slices.Contains(v.d.LostBootstrapData, t.Data)
}

// known reports whether a version exists.
func (v *inputs) known(ref string) bool {
	for _, version := range v.o.Versions {
		if version.Ref == ref {
			return true
		}
	}
	return false
}

// launchesWanted reports whether the group launches the wanted content. Only then does a replacement help.
func (v *inputs) launchesWanted() bool { return v.launched().Same(v.o.Wanted) }

// launched returns the template that the group launches from, as far as known.
func (v *inputs) launched() Template {
	for _, version := range v.o.Versions {
		if version.Ref == v.o.Group.Template {
			version.Content = cmp.Or(v.o.Group.Content, version.Content)
			return version
		}
	}
	return Template{}
}

// Latest returns the template that new machines should be launched from, as far as it exists: the newest that Muster created, or the wanted
// one if it is user-managed. It is the zero Template when there is none.
func (o Observed) Latest() Template {
	for _, v := range o.Versions {
		if o.Wanted.Content == "" || v.UserManaged == o.Wanted.UserManaged && (!v.UserManaged || v.Same(o.Wanted)) {
			return v
		}
	}
	return Template{}
}

// LaunchesFrom are the templates that machines may still be launched from: what the group is pointed at, and what a roll of
// the cloud's own makes machines of meanwhile, whatever the group says. The bootstrap data of each has to stay valid.
func (o Observed) LaunchesFrom() []Template {
	refs := o.launchRefs()
	var out []Template
	for k, ref := range refs {
		if !slices.Contains(refs[:k], ref) {
			out = append(out, o.version(ref))
		}
	}
	return out
}

// launchRefs returns the Refs of the templates that machines may still be launched from, some of them twice. While it is unknown whether a
// rollout is running, it may launch from every version that Muster created.
func (o Observed) launchRefs() []string {
	var refs []string
	if o.Group != nil && o.Group.Template != "" {
		refs = append(refs, o.Group.Template)
	}
	if o.ProviderRollout != nil && !o.ProviderRollout.ended() && o.ProviderRollout.Template.Ref != "" {
		refs = append(refs, o.ProviderRollout.Template.Ref)
	}
	if o.ProviderRolloutUnknown == nil || o.Group == nil {
		return refs
	}
	for _, v := range o.Versions {
		if !v.UserManaged {
			refs = append(refs, v.Ref)
		}
	}
	return refs
}

// version returns the version that has the Ref, or a template of which only the Ref is known.
func (o Observed) version(ref string) Template {
	for _, v := range o.Versions {
		if v.Ref == ref {
			return v
		}
	}
	return Template{Ref: ref}
}

// templateOutdated reports whether the newest template lacks what is wanted, bootstrap data included. User-managed templates are never
// created.
func templateOutdated(o Observed) bool {
	latest := o.Latest()
	return o.Wanted.Content != "" && !o.Wanted.UserManaged && (!latest.Same(o.Wanted) || latest.Data != o.Wanted.Data)
}

func putTemplate(o Observed, t Traits) *Step {
	latest := o.Latest()
	cause := Cause{"TemplateChanged", fmt.Sprintf("the specification of the %s has changed", t.Template)}
	switch {
	case latest.Ref == "":
		cause = Cause{"TemplateMissing", fmt.Sprintf("there is no %s yet", t.Template)}
	case latest.Same(o.Wanted):
		cause = Cause{"BootstrapDataChanged", "new machines need the new bootstrap data; machines that exist stay as they are"}
	case o.Wanted.Description != "":
		cause.Message += ": " + o.Wanted.Description
	}
	return &Step{Kind: PutTemplate, Cause: cause, Base: latest.Ref}
}

// templateStep keeps the newest template what the specification and the bootstrap data ask for.
func templateStep(d Desired, o Observed, t Traits) *Step {
	if d.CreateBlocked != nil || !templateOutdated(o) {
		return nil
	}
	return putTemplate(o, t)
}

// templateStep keeps the newest template at the spec, and its bootstrap data current as far as any instance needs it.
func (v *steps) templateStep() *Step {
	if v.in.o.Latest().Same(v.in.o.Wanted) && (v.serves(v.in.launched()) ||
		v.in.providerRolloutRuns() && v.serves(v.in.o.ProviderRollout.Template)) {
		return nil
	}
	return templateStep(v.in.d, v.in.o, v.in.t)
}

// serves reports whether instances of a template match the wanted content and can join, so that no version is needed for new bootstrap
// data: its data differs in the tokens alone, or no version is created for data alone.
func (v *steps) serves(t Template) bool {
	return v.in.fits(t) && (v.in.t.SkipsDataOnlyVersions() || slices.Contains(v.in.d.RotatedBootstrapData, t.Data))
}

// fits reports whether instances of a template match the wanted content and can join.
func (v *inputs) fits(t Template) bool { return t.Same(v.o.Wanted) && !v.dataLost(t) }

// templateNotFound returns that the user-managed template does not exist, or nil.
func templateNotFound(o Observed, t Traits) *Cause {
	if !o.Wanted.UserManaged || o.Latest().Ref != "" {
		return nil
	}
	return &Cause{"TemplateNotFound", fmt.Sprintf("waiting for the %s that the specification names: it does not exist, or can't be seen yet",
		t.Template)}
}

// defaultStep makes the default of the template follow the group once nothing is replaced any more: other clients that launch from the
// template without a version get the serving one. An unused default would stay in the history forever.
func (v *steps) defaultStep() *Step {
	launched := v.in.launched()
	if v.in.t.InlineTemplate || launched.Ref == "" || launched.Undeletable || launched.UserManaged ||
		slices.ContainsFunc(v.fleet.members, (*member).replaced) {
		return nil
	}
	for _, version := range v.in.o.Versions {
		if version.Undeletable && !version.UserManaged {
			return &Step{Kind: DefaultTemplate, Template: launched.Ref,
				Cause: Cause{"DefaultVersionOutOfDate", fmt.Sprintf("the %s launches from %s, the default of its %s is %s", v.in.t.Group, launched.Ref,
					v.in.t.Template, version.Ref)}}
		}
	}
	return nil
}

// kept returns the number of versions of distinct content that the history holds.
func (d Desired) kept() int {
	if d.TemplateHistoryLimit == 0 {
		return DefaultTemplateHistoryLimit
	}
	return max(d.TemplateHistoryLimit, MinTemplateHistoryLimit)
}

// used returns the versions that instances run from or may be launched from, and the newest.
func (o Observed) used() map[string]bool {
	used := map[string]bool{o.Latest().Ref: true}
	for _, version := range o.LaunchesFrom() {
		used[version.Ref] = true
	}
	for _, i := range o.Instances {
		used[i.Template.Ref] = true
	}
	return used
}

// pruneStep deletes versions beyond the history. It counts contents, so that rotated bootstrap data removes nothing from it: of versions
// that differ in nothing else one is kept, preferably one in use. Versions in use are kept beyond it. One that was deleted a moment ago
// counts for nothing: another of its content would be deleted for it.
func (v *steps) pruneStep() *Step {
	refs := beyondHistory(v.in.o.Versions, v.in.o.used(), v.in.d.kept())
	if len(refs) == 0 {
		return nil
	}
	return &Step{Kind: PruneTemplates, Refs: refs,
		Cause: Cause{"TemplateUnused", fmt.Sprintf("nothing launches from %s of the %s any more", versions(len(refs)), v.in.t.Template)}}
}

// beyondHistory returns the versions that nothing uses and that are not among the newest of as many contents as are kept.
func beyondHistory(list []Template, used map[string]bool, kept int) (refs []string) {
	contents, counted := inUse(list, used), map[string]bool{}
	for _, version := range list {
		id := version.identity()
		first := !version.Deleting && !counted[id]
		if first {
			counted[id] = true
		}
		switch {
		case used[version.Ref] || version.Undeletable || version.UserManaged:
		case first && !contents[id] && len(counted) <= kept:
		default:
			refs = append(refs, version.Ref)
		}
	}
	return refs
}

// inUse returns the contents of the versions that are used.
func inUse(list []Template, used map[string]bool) map[string]bool {
	contents := map[string]bool{}
	for _, version := range list {
		if used[version.Ref] {
			contents[version.identity()] = true
		}
	}
	return contents
}

// identity returns the key of a version in the history: its content. A version of unknown content has a key of its own.
func (t Template) identity() string {
	if t.Content == "" {
		return "ref " + t.Ref
	}
	return t.Content
}

// versions counts in words.
func versions(n int) string {
	if n == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", n)
}

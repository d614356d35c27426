package pool

import (
	"fmt"
	"slices"
)

// Latest is the template that new machines shall be launched from, as far as it exists: the newest of ours, or the wanted one
// where that is Given. It is the zero Template when there is none.
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
// roll runs, it may launch from every version of ours.
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

// behind says whether the newest template lacks what is wanted, bootstrap data included. What is Given is nobody's to make.
func behind(o Observed) bool {
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
	if d.CreateBlocked != nil || !behind(o) {
		return nil
	}
	return putTemplate(o, t)
}

// templateStep keeps the newest template what is asked for, its bootstrap data as far as anything needs it.
func (v *view) templateStep() *Step {
	if v.t.SkipsDataOnlyVersions() && (v.fits(v.launched()) || v.rollsNow() && v.fits(v.o.ProviderRollout.Template)) && v.o.Latest().Same(v.o.Wanted) {
		return nil
	}
	return templateStep(v.d, v.o, v.t)
}

// fits says that machines of a template are what is wanted and can join.
func (v *view) fits(t Template) bool { return t.Same(v.o.Wanted) && !v.lost(t) }

// notThere says that the template that was brought does not exist.
func notThere(o Observed, t Traits) *Cause {
	if !o.Wanted.UserManaged || o.Latest().Ref != "" {
		return nil
	}
	return &Cause{"TemplateNotFound", fmt.Sprintf("waiting for the %s that the specification names: it does not exist, or can't be seen yet", t.Template)}
}

// defaultStep has the template's default follow what the group launches from, once nothing is replaced any more: whoever
// launches from the template without naming a version gets what serves. A default that is of use to nobody would stay in the
// history for ever.
func (v *view) defaultStep() *Step {
	launched := v.launched()
	if v.t.InlineTemplate || launched.Ref == "" || launched.Undeletable || launched.UserManaged || slices.ContainsFunc(v.members, (*member).replaced) {
		return nil
	}
	for _, version := range v.o.Versions {
		if version.Undeletable && !version.UserManaged {
			return &Step{Kind: DefaultTemplate, Template: launched.Ref,
				Cause: Cause{"DefaultVersionOutOfDate", fmt.Sprintf("the %s launches from %s, the default of its %s is %s", v.t.Group, launched.Ref, v.t.Template, version.Ref)}}
		}
	}
	return nil
}

// kept is how many versions of distinct content the history holds.
func (d Desired) kept() int {
	if d.TemplateHistoryLimit == 0 {
		return DefaultTemplateHistoryLimit
	}
	return max(d.TemplateHistoryLimit, MinTemplateHistoryLimit)
}

// used are the versions that machines run from or may be launched from, and the newest.
func (v *view) used() map[string]bool {
	used := map[string]bool{v.o.Latest().Ref: true}
	for _, version := range v.o.LaunchesFrom() {
		used[version.Ref] = true
	}
	for _, i := range v.o.Instances {
		used[i.Template.Ref] = true
	}
	return used
}

// pruneStep deletes versions beyond the history. It counts contents, so that rotated bootstrap data pushes nothing out of it:
// of versions that differ in nothing else one is kept, one in use before the newest. What is in use beyond it stays too.
func (v *view) pruneStep() *Step {
	used := v.used()
	stays := map[string]bool{}
	for _, version := range v.o.Versions {
		if used[version.Ref] {
			stays[version.identity()] = true
		}
	}
	var refs []string
	counted := map[string]bool{}
	for _, version := range v.o.Versions {
		id := version.identity()
		first := !counted[id]
		counted[id] = true
		switch {
		case used[version.Ref] || version.Undeletable || version.UserManaged:
		case first && !stays[id] && len(counted) <= v.d.kept():
		default:
			refs = append(refs, version.Ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return &Step{Kind: PruneTemplates, Refs: refs,
		Cause: Cause{"TemplateUnused", fmt.Sprintf("nothing launches from %s of the %s any more", versions(len(refs)), v.t.Template)}}
}

// identity is what a version counts as in the history. Of one whose content is not known nothing can be said but that it is
// another.
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

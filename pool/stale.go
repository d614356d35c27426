package pool

import (
	"cmp"
	"fmt"
	"strings"
)

// templateChanged is the reason of an instance whose template is not the wanted one.
const templateChanged = "TemplateChanged"

// outdated says why an instance is to be replaced by one of the wanted template, if it is (rules 7 and 8). Causes are made
// once for all instances that have the same.
func (v *view) outdated(i *Instance, causes map[string]Cause) *Cause {
	changes := !v.d.SkipModel && v.outOfDate(i)
	if v.restarted(i) && (!changes || !v.t.RolloutOnTemplateChange) {
		return &v.d.Restart.Cause
	}
	if !changes {
		return nil
	}
	key := i.Template.Ref
	if len(i.TemplateDiff) > 0 {
		key += "\n" + strings.Join(i.TemplateDiff, ",")
	}
	cause, ok := causes[key]
	if !ok {
		cause = changed(*i, v.t)
		causes[key] = cause
	}
	return &cause
}

// restarted says that somebody asked for a replacement of all that were made before a moment, and this is one of them.
func (v *view) restarted(i *Instance) bool {
	made := born(i)
	return v.d.Restart != nil && !made.IsZero() && made.Before(v.d.Restart.Before)
}

// outOfDate compares contents: bootstrap data alone never makes an instance stale. What is not known is taken to be right
// as long as it may be: the list of versions may lag behind the machines.
func (v *view) outOfDate(i *Instance) bool {
	wanted := v.o.Wanted
	if wanted.Content == "" || v.o.Group == nil {
		return false
	}
	if i.Template.Content != "" {
		return i.Template.Content != wanted.Content
	}
	return i.Template.Ref != "" && i.Template.Ref != v.o.Group.Template && !v.known(i.Template.Ref) && v.launchesWanted()
}

func (v *view) known(ref string) bool {
	for _, version := range v.o.Versions {
		if version.Ref == ref {
			return true
		}
	}
	return false
}

// launchesWanted says that what the group launches now is what is wanted: only then does a replacement help.
func (v *view) launchesWanted() bool { return v.launched().Same(v.o.Wanted) }

// launched is the template that the group launches from, as far as it is known.
func (v *view) launched() Template {
	for _, version := range v.o.Versions {
		if version.Ref == v.o.Group.Template {
			version.Content = cmp.Or(v.o.Group.Content, version.Content)
			return version
		}
	}
	return Template{}
}

// changed says in a sentence what makes an instance stale.
func changed(i Instance, t Traits) Cause {
	from := i.Template.Ref
	switch {
	case from == "":
		from = "an unknown " + t.Template
	case t.InlineTemplate:
		// A template that is a part of its group has no name of its own, but what tells it apart.
		from = t.Template + " " + from
	}
	text := fmt.Sprintf("launched from %s, which differs from what the specification asks for", from)
	if len(i.TemplateDiff) > 0 {
		text += " in " + strings.Join(i.TemplateDiff, ", ")
	}
	return Cause{templateChanged, text}
}

package cloudtest

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/pool"
)

const caseConfiguration = "another bootstrap configuration makes instances stale, and the one before fresh again"

// configuration is a change of the bootstrap configuration that is to replace machines, and its end.
func configuration[S any](p player[S]) {
	if p.cloudTemplates {
		return
	}
	before := p.create(p.target(), sizeSmall)
	target := rotated(p.target(), 1)
	target.Bootstrap = target.Bootstrap.Marked("another")
	o := p.observe(target)
	if o.Latest().Same(o.Wanted) {
		p.Errorf("want another template for another bootstrap configuration, got %+v", o.Wanted)
	}
	for _, i := range o.Instances {
		if i.Template.Same(o.Wanted) || !slices.ContainsFunc(i.TemplateDiff,
			func(field string) bool { return strings.HasSuffix(field, "bootstrap") }) {
			p.Errorf("want instances stale that were launched with the configuration before, by the field of the configuration, got %+v", i)
		}
	}
	o = p.put(target)
	if latest := o.Latest(); !latest.Same(o.Wanted) || latest.Data != target.Bootstrap.Hash() {
		p.Errorf("want a template of the new configuration, got %+v for %+v", latest, o.Wanted)
	}
	o = p.observe(p.target())
	if stale := slices.DeleteFunc(slices.Clone(o.Instances), func(i pool.Instance) bool { return i.Template.Same(o.Wanted) }); len(stale) > 0 {
		p.Errorf("want nothing stale once the first configuration is wanted again, got %+v", stale)
	}
	p.check("what is wanted again", before.Wanted.Content, o.Wanted.Content)
}

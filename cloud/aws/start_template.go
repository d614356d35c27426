package aws

import (
	"context"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// putTemplate makes the template with its first version, or a new version of it.
func (p *pass) putTemplate(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	return p.launch.Put(ctx, want.template, s.Base, p.predecessor(s))
}

// predecessor is what was there before: the newest version, or, when the template was deleted under a group, what that
// group still names. It keeps a repeated request apart from a new one with the same content.
func (p *pass) predecessor(s pool.Step) string {
	if s.Base == "" && p.memory.group.is != nil {
		return p.refOf(launchedFrom(p.memory.group.is))
	}
	return s.Base
}

// pruneTemplates deletes versions. One that is gone already is no error.
func (p *pass) pruneTemplates(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	return p.launch.Prune(ctx, s.Refs)
}

// defaultTemplate makes a version the template's default.
func (p *pass) defaultTemplate(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	return p.launch.SetDefault(ctx, s.Template)
}

// deleteTemplates deletes the template with all its versions, if it is ours. A group of our name that is not ours is no
// obstacle, unless it launches from the template.
func (p *pass) deleteTemplates(ctx context.Context) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	if p.foreignLaunches() {
		return driverkit.Owned(p.foreignGroup())
	}
	return p.launch.Delete(ctx)
}

// readTemplate reads the launch template and its versions, when they may have changed.
func (p *pass) readTemplate(ctx context.Context) error {
	p.launch.Trouble = len(p.memory.activities.Issues()) > 0
	return p.launch.Read(ctx, p.launchRefs())
}

// launchRefs are what our group and its instances say that they launch from.
func (p *pass) launchRefs() []string {
	is := p.memory.group.is
	if is == nil || !p.ours(is) {
		return nil
	}
	refs := []string{p.refOf(launchedFrom(is))}
	for _, i := range is.Instances {
		refs = append(refs, p.refOf(i.LaunchTemplate))
	}
	return refs
}

// readObjects looks after what versions point to.
func (p *pass) readObjects(ctx context.Context, out *pool.Observed) {
	needs, issues := p.launch.Needs(ctx)
	out.MissingPrerequisites, out.Issues = needs, append(out.Issues, issues...)
}

// provide puts there again what versions point to.
func (p *pass) provide(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	return p.launch.Provide(ctx, s.Fields)
}

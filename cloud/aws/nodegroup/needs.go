package nodegroup

import (
	"context"
	"slices"

	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/pool"
)

// observeNeeds says what the group needs beside its template: its role, and the data in the cluster's bucket that versions of the
// template point to.
func (p *pass) observeNeeds(ctx context.Context, failed *error, out *pool.Observed) error {
	if err := p.observeRole(ctx, failed, out); err != nil || p.t.template == "" {
		return err
	}
	needs, issues := p.template().Needs(ctx)
	out.MissingPrerequisites, out.Issues = append(out.MissingPrerequisites, needs...), append(out.Issues, issues...)
	return nil
}

// provide makes what the group needs.
func (p *pass) provide(ctx context.Context, s pool.Step) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(s.Fields, launch.IsObject) {
		if err := p.template().Provide(ctx, s.Fields); err != nil {
			return err
		}
		if !slices.ContainsFunc(s.Fields, func(need string) bool { return !launch.IsObject(need) }) {
			return nil
		}
	}
	return p.provideRole(ctx)
}

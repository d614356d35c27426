package nodegroup

import (
	"cmp"
	"context"
	"slices"

	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// nodeRole is the node role's side of the pass.
func (p *pass) nodeRole() noderole.Pass {
	own, is := p.t.pool, p.memory.group.is
	spec := noderole.Spec{
		Name: own.RoleName, GroupExists: is != nil, Cluster: p.t.eks, Group: p.t.name, OwnerID: p.t.Owner.ID, Tags: p.t.tags(),
		Path: own.RolePath, Boundary: own.RolePermissionsBoundary, Policies: own.RoleAdditionalPolicies,
		Partition: p.t.cluster.Partition, Remembered: p.t.Remembered,
		MayCreate: p.driver.options.EnableIAM, MayAttach: p.driver.options.AllowAddRoles,
	}
	if is != nil && p.t.owns(is) {
		spec.Current = session.Deref(is.NodeRole)
	}
	return noderole.Pass{Session: p.c, Now: p.now, Spec: spec, Memory: &p.memory.role, Slow: &p.slow}
}

// observeConflict adds what can be deleted with the pool although another owner has its node group or template.
func (p *pass) observeConflict(ctx context.Context, out pool.Observed) (pool.Observed, error) {
	role, err := p.nodeRole().Observe(ctx)
	out.Leftovers, out.Issues = role.Leftovers, append(out.Issues, role.Issues...)
	return out, err
}

// observeNeeds adds what the group needs beside its template: its role, and the data in the cluster's bucket that versions of the
// template point to. A role that the specification can't have is put to what failed before.
func (p *pass) observeNeeds(ctx context.Context, failed *error, out *pool.Observed) error {
	role, err := p.nodeRole().Compare(ctx, *failed != nil, out.ResolvedLookups)
	if err != nil {
		return err
	}
	out.Leftovers, out.MissingPrerequisites, out.Issues = role.Leftovers, role.Missing, append(out.Issues, role.Issues...)
	out.TaggedFor = cmp.Or(out.TaggedFor, role.TaggedFor)
	if role.Unsatisfiable != nil {
		*failed, out.Wanted = role.Unsatisfiable, pool.Template{}
	}
	if p.t.template == "" {
		return nil
	}
	needs, issues := p.template().Needs(ctx)
	out.MissingPrerequisites, out.Issues = append(out.MissingPrerequisites, needs...), append(out.Issues, issues...)
	return nil
}

// provide creates what the group needs.
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
	return p.nodeRole().Provide(ctx)
}

// cleanUp deletes the node role that was created for the pool.
func (p *pass) cleanUp(ctx context.Context, _ pool.Step) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	return p.nodeRole().CleanUp(ctx)
}

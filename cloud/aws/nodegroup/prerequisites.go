package nodegroup

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/pool"
)

// nodeRole returns what reads and writes the pool's node role.
func (r *reader) nodeRole() noderole.Pass {
	own, is := r.t.pool, r.memory.group.is
	spec := noderole.Spec{
		Name: own.RoleName, GroupExists: is != nil, Cluster: r.t.eks, Group: r.t.name, Owner: r.t.Owner, Tags: r.t.tags(),
		Path: own.RolePath, Boundary: own.RolePermissionsBoundary, Policies: own.RoleAdditionalPolicies,
		Partition: r.t.cluster.Partition, Remembered: r.t.Remembered,
		MayCreate: r.options.EnableIAM, MayAttach: r.options.AllowAddRoles,
	}
	if is != nil && r.t.owns(is) {
		spec.Current = ptr.Deref(is.NodeRole, "")
	}
	return noderole.Pass{Session: r.c, Now: r.now, Spec: spec, Memory: &r.memory.role, Slow: &r.slow}
}

// observeConflict adds what can be deleted with the pool although another owner has its node group or template.
func (r *reader) observeConflict(ctx context.Context, out pool.Observed) (pool.Observed, error) {
	role, err := r.nodeRole().Observe(ctx)
	out.Leftovers, out.Issues = role.Leftovers, append(out.Issues, role.Issues...)
	out.TaggedFor = cmp.Or(out.TaggedFor, role.TaggedFor)
	return out, err
}

// observeNeeds adds what the group needs beside its template: its role, and the data in the cluster's bucket that versions of the
// template point to. A role that the specification can't have is put to what failed before.
func (r *reader) observeNeeds(ctx context.Context, failed *error, out *pool.Observed) error {
	role, err := r.nodeRole().Compare(ctx, *failed != nil, out.ResolvedLookups)
	if err != nil {
		return err
	}
	out.Leftovers, out.MissingPrerequisites, out.Issues = role.Leftovers, role.Missing, append(out.Issues, role.Issues...)
	out.TaggedFor = cmp.Or(out.TaggedFor, role.TaggedFor)
	if role.Unsatisfiable != nil {
		*failed, out.Wanted = role.Unsatisfiable, pool.Template{}
	}
	if r.t.template == "" {
		return nil
	}
	needs, issues := r.launch().Prerequisites(ctx)
	if template := r.untagged(); template != "" {
		needs = append(needs, template)
	}
	out.MissingPrerequisites, out.Issues = append(out.MissingPrerequisites, needs...), append(out.Issues, issues...)
	return nil
}

// ensurePrerequisites tags the launch template of an adopted node group, or creates what the group needs.
func (w *writer) ensurePrerequisites(ctx context.Context, s pool.Step) error {
	if w.reader.untagged() != "" {
		return launch.TakeOver(ctx, w.reader.launch())
	}
	if slices.ContainsFunc(s.Fields, launch.IsObject) {
		if err := w.reader.launch().EnsurePrerequisites(ctx, s.Fields); err != nil {
			return err
		}
		if !slices.ContainsFunc(s.Fields, func(need string) bool { return !launch.IsObject(need) }) {
			return nil
		}
	}
	return w.reader.nodeRole().EnsurePrerequisites(ctx)
}

// cleanUp deletes the node role that was created for the pool.
func (w *writer) cleanUp(ctx context.Context, _ pool.Step) error {
	return w.reader.nodeRole().CleanUp(ctx)
}

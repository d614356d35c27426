package azure

import (
	"context"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/azure/roleassignment"
	"github.com/muster-project/muster/pool"
)

// role returns the role assignment's side of the pass.
func (r *reader) role() roleassignment.Pass {
	spec := roleassignment.Spec{Owner: r.t.Owner, Source: r.t.Spec, ScaleSet: r.t.name, Remembered: r.t.Remembered}
	if is := r.memory.set.is; is != nil {
		spec.Exists = true
		if is.Identity != nil {
			spec.Principal = ptr.Deref(is.Identity.PrincipalID, "")
		}
	}
	return roleassignment.Pass{Session: r.c, Now: r.now, Spec: spec, Memory: &r.memory.role}
}

// ensurePrerequisites creates the role assignment.
func (w *writer) ensurePrerequisites(ctx context.Context, _ pool.Step) error {
	return w.role().EnsurePrerequisites(ctx)
}

// cleanUp deletes the role assignment.
func (w *writer) cleanUp(ctx context.Context, _ pool.Step) error { return w.role().CleanUp(ctx) }

package azure

import (
	"context"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/azure/roleassignment"
	"github.com/muster-project/muster/pool"
)

// role returns the role assignment's side of the pass.
func (p *pass) role() roleassignment.Pass {
	spec := roleassignment.Spec{Owner: p.t.Owner, Source: p.t.Spec, ScaleSet: p.t.name, Remembered: p.t.Remembered}
	if is := p.memory.set.is; is != nil {
		spec.Exists = true
		if is.Identity != nil {
			spec.Principal = ptr.Deref(is.Identity.PrincipalID, "")
		}
	}
	return roleassignment.Pass{Session: p.c, Now: p.now, Spec: spec, Memory: &p.memory.role}
}

// provide creates the role assignment.
func (p *pass) provide(ctx context.Context, _ pool.Step) error {
	return p.role().EnsurePrerequisites(ctx)
}

// cleanUp deletes the role assignment.
func (p *pass) cleanUp(ctx context.Context, _ pool.Step) error { return p.role().CleanUp(ctx) }

package machinepool

import (
	"context"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/reference"
)

// release removes the pool's owner references from objects that the pool refers to and that must not belong to a pool.
func (r *Reconciler) release(ctx context.Context, p pass) control.Result {
	spec, outcome := &p.did.pool.Spec.Template.Spec, control.Continue()
	found, released := r.references().Release(ctx, p.did.pool, spec.Bootstrap.ConfigRef, p.facts.bootstrap)
	p.did.bootstrap, outcome = found, outcome.Join(released)
	found, released = r.references().Release(ctx, p.did.pool, spec.InfrastructureRef, p.facts.infrastructure)
	p.did.infrastructure, outcome = found, outcome.Join(released)
	return outcome
}

// followBootstrap takes over the bootstrap configuration and copies the name of its data secret. A pool that had bootstrap data once keeps
// it while a new configuration is prepared.
func (r *Reconciler) followBootstrap(ctx context.Context, p pass) control.Result {
	found, taken := reference.TakeOver(ctx, r.Client, p.did.pool, p.did.bootstrap)
	found, name := p.facts.data.Apply(found)
	spec := &p.did.pool.Spec.Template.Spec.Bootstrap
	if name != "" && (spec.DataSecretName == nil || *spec.DataSecretName != name) {
		spec.DataSecretName = &name
	}
	p.did.bootstrap = found
	return taken
}

// followInfrastructure takes over the infrastructure object.
func (r *Reconciler) followInfrastructure(ctx context.Context, p pass) control.Result {
	found, taken := reference.TakeOver(ctx, r.Client, p.did.pool, p.did.infrastructure)
	p.did.infrastructure = found
	return taken
}

// copyInstances copies the instances that the infrastructure object lists.
func (r *Reconciler) copyInstances(_ context.Context, p pass) control.Result {
	p.did.pool.Spec.ProviderIDList = p.facts.providerIDs
	return control.Continue()
}

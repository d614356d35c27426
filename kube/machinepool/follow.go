package machinepool

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/bootstrap"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/instances"
	"github.com/muster-project/muster/kube/machinepool/objects"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/steps"
)

// followBootstrap takes over the bootstrap configuration and copies the name of its data secret. A pool that had bootstrap data once keeps
// it while a new configuration is prepared.
func (r *Reconciler) followBootstrap(ctx context.Context, p *pass) steps.Result {
	spec := &p.pool.Spec.Template.Spec.Bootstrap
	if !spec.ConfigRef.IsDefined() {
		return useDataSecret(ctx, r.Client, p)
	}
	outcome := r.readBootstrap(ctx, p)
	found, taken := reference.TakeOver(ctx, r.Client, p.pool, p.bootstrap)
	found, name, err := bootstrap.DataSecret(ctx, r.Client, p.pool, found)
	p.bootstrap, p.facts.Bootstrap = found, found.Source
	if name != "" && (spec.DataSecretName == nil || *spec.DataSecretName != name) {
		spec.DataSecretName = &name
	}
	return outcome.Join(taken).Join(steps.Failed(err))
}

// useDataSecret checks the data secret of a pool without a bootstrap configuration.
func useDataSecret(ctx context.Context, r client.Reader, p *pass) steps.Result {
	problem, err := bootstrap.UserData(ctx, r, p.pool)
	if err != nil {
		return steps.Failed(err)
	}
	p.facts.BootstrapProblem = problem
	if problem == nil {
		p.facts.Bootstrap.Done, p.facts.Bootstrap.Once = true, true
	}
	return steps.Continue()
}

// readBootstrap reads the bootstrap configuration.
func (r *Reconciler) readBootstrap(ctx context.Context, p *pass) steps.Result {
	ref := p.pool.Spec.Template.Spec.Bootstrap.ConfigRef
	if !ref.IsDefined() {
		return steps.Continue()
	}
	p.facts.BootstrapProblem = bootstrap.Unsupported(ref, p.pool.Spec.Template.Spec.Version)
	found, outcome := r.readReference(ctx, p, contract.BootstrapConfig(), ref, "dataSecretCreated")
	found.Source.Once = p.facts.Bootstrap.Once
	p.bootstrap, p.facts.Bootstrap = found, found.Source
	return outcome
}

// readReference reads what the pool refers to and what it reports; field is the field of status.initialization that completes its part of
// the contract. It releases an object that must not belong to a pool.
func (r *Reconciler) readReference(ctx context.Context, p *pass, role contract.Role, ref clusterv1.ContractVersionedObjectReference,
	field string) (reference.Found, steps.Result) {
	found, outcome := r.references().Read(ctx, p.pool, p.cluster, role, ref)
	found, released := r.references().Release(ctx, p.pool, ref, found)
	found = found.Reported(field)
	if found.Failure != nil {
		p.facts.Failure = found.Failure
	}
	return found, outcome.Join(released)
}

// followInfrastructure takes over the infrastructure object and copies what it reports.
func (r *Reconciler) followInfrastructure(ctx context.Context, p *pass) steps.Result {
	outcome := r.readInfrastructure(ctx, p)
	found, taken := reference.TakeOver(ctx, r.Client, p.pool, p.infrastructure)
	p.infrastructure, p.facts.Infrastructure = found, found.Source
	return outcome.Join(taken)
}

// readInfrastructure reads the infrastructure object and copies the instances that it lists. A group that was provisioned once stays
// provisioned, whatever the object reports later: only its instances change.
func (r *Reconciler) readInfrastructure(ctx context.Context, p *pass) steps.Result {
	found, outcome := r.readReference(ctx, p, contract.InfraMachinePool(), p.pool.Spec.Template.Spec.InfrastructureRef, "provisioned")
	found.Source.Once = p.facts.Infrastructure.Once || found.Source.Done
	switch o := found.Object; {
	case o != nil:
		p.facts.Replicas, p.facts.UpToDate = objects.Int32(o, "status", "replicas"), objects.Int32(o, "status", "upToDateReplicas")
		if found.Source.Once {
			var copied steps.Result
			found, copied = copyInstances(ctx, r.Client, p, found)
			outcome = outcome.Join(copied)
		}
	case p.deleting() && outcome.Err == nil:
		none := int32(0)
		p.facts.Replicas = &none
	}
	p.infrastructure, p.facts.Infrastructure = found, found.Source
	p.facts.Instances = int32(len(instances.Distinct(p.pool.Spec.ProviderIDList)))
	if p.deleting() && p.facts.Replicas != nil && *p.facts.Replicas == 0 {
		p.facts.Instances = 0
	}
	return outcome
}

// afterElsewhere is the time until instances that another pool lists are checked again: a change of the other pool does not wake this one.
const afterElsewhere = 30 * time.Second

// copyInstances copies the provider's list of instances, each once. A list in another order or spelling is no change. A provider that
// counts replicas has not filled in an empty list yet.
func copyInstances(ctx context.Context, r client.Reader, p *pass, found reference.Found) (reference.Found, steps.Result) {
	ids, _, err := unstructured.NestedStringSlice(found.Object.Object, "spec", "providerIDList")
	if err != nil {
		found.Source.Problem = found.Source.String() + ": spec.providerIDList is not a list of strings"
		return found, steps.Continue()
	}
	if len(ids) == 0 && p.facts.Replicas != nil && *p.facts.Replicas != 0 {
		return found, steps.Continue()
	}
	ids, elsewhere, err := instances.Unclaimed(ctx, r, p.pool, instances.Distinct(ids))
	if err != nil {
		return found, steps.Failed(err)
	}
	if !instances.Same(ids, p.pool.Spec.ProviderIDList) {
		p.pool.Spec.ProviderIDList = ids
	}
	if p.facts.ListedElsewhere = elsewhere; len(elsewhere) > 0 {
		return found, steps.RequeueAfter(afterElsewhere)
	}
	return found, steps.Continue()
}

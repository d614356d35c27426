package machinepool

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/cloud"
)

// followInfrastructure takes over the infrastructure object and copies what it reports.
func (r *Reconciler) followInfrastructure(ctx context.Context, p *pass) result {
	outcome := r.readInfrastructure(ctx, p)
	if o := p.infra.object; o != nil {
		outcome = outcome.join(r.takeOver(ctx, p, o, &p.facts.Infrastructure))
	}
	return outcome
}

// readInfrastructure reads the infrastructure object, and copies the instances that it lists. Whatever it says of itself
// later, a group that was provisioned once stays provisioned: only its instances come and go.
func (r *Reconciler) readInfrastructure(ctx context.Context, p *pass) result {
	source := &p.facts.Infrastructure
	found, outcome := r.read(ctx, p, p.pool.Spec.Template.Spec.InfrastructureRef, source)
	p.infra = found
	o := found.object
	switch {
	case o != nil:
		source.Done = done(o, "provisioned")
		source.Once = source.Once || source.Done
		p.report(o, source)
		p.facts.Replicas, p.facts.UpToDate = number(o, "status", "replicas"), number(o, "status", "upToDateReplicas")
		p.machineKind = text(o, "status", "infrastructureMachineKind")
		if source.Once {
			p.copyInstances(o)
		}
	case p.deleting() && outcome.err == nil:
		none := int32(0)
		p.facts.Replicas = &none
	}
	p.facts.Instances = int32(len(distinct(p.pool.Spec.ProviderIDList)))
	if p.deleting() && p.facts.Replicas != nil && *p.facts.Replicas == 0 {
		p.facts.Instances = 0
	}
	return outcome
}

// copyInstances copies the provider's list of instances, each once. A list in another order, or that spells an instance
// in another way, is no change. An empty list beside a count is one that the provider has not filled in yet.
func (p *pass) copyInstances(o *unstructured.Unstructured) {
	ids, _, err := unstructured.NestedStringSlice(o.Object, "spec", "providerIDList")
	if err != nil {
		p.facts.Infrastructure.Problem = p.facts.Infrastructure.String() + ": spec.providerIDList is no list of strings"
		return
	}
	if len(ids) == 0 && p.facts.Replicas != nil && *p.facts.Replicas != 0 {
		return
	}
	ids = distinct(ids)
	if !sameInstances(ids, p.pool.Spec.ProviderIDList) {
		p.pool.Spec.ProviderIDList = ids
	}
}

// meaning of a provider ID: its key, or itself when it has none.
func meaning(id string) string {
	if key := cloud.ProviderKey(id); key != "" {
		return key
	}
	return id
}

// distinct are the IDs that name different instances, in their order.
func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	var all []string
	for _, id := range ids {
		if id == "" || seen[meaning(id)] {
			continue
		}
		seen[meaning(id)] = true
		all = append(all, id)
	}
	return all
}

// sameInstances says whether two lists name the same instances; the second may hold an instance twice and then differs.
func sameInstances(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	keys := func(ids []string) []string {
		all := make([]string, len(ids))
		for i, id := range ids {
			all[i] = meaning(id)
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(keys(a), keys(b))
}

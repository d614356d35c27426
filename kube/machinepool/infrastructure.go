package machinepool

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/nodes"
)

// afterElsewhere is when to look again at instances that another pool lists: nothing wakes a pool when the other lets go of them.
const afterElsewhere = 30 * time.Second

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
	found, outcome := r.read(ctx, p, contract.InfraMachinePool(), p.pool.Spec.Template.Spec.InfrastructureRef, source)
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
			outcome = outcome.join(failed(r.copyInstances(ctx, p, o)))
			if len(p.facts.Elsewhere) > 0 {
				outcome = outcome.join(again(afterElsewhere))
			}
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
func (r *Reconciler) copyInstances(ctx context.Context, p *pass, o *unstructured.Unstructured) error {
	ids, _, err := unstructured.NestedStringSlice(o.Object, "spec", "providerIDList")
	if err != nil {
		p.facts.Infrastructure.Problem = p.facts.Infrastructure.String() + ": spec.providerIDList is no list of strings"
		return nil
	}
	if len(ids) == 0 && p.facts.Replicas != nil && *p.facts.Replicas != 0 {
		return nil
	}
	if ids, err = r.leaveOut(ctx, p, distinct(ids)); err != nil {
		return err
	}
	if !sameInstances(ids, p.pool.Spec.ProviderIDList) {
		p.pool.Spec.ProviderIDList = ids
	}
	return nil
}

// leaveOut takes instances out of a list that is about to be copied which another pool of the cluster lists already: admission
// refuses them, and two pools would look after one Node. Instances that the pool lists itself stay, whoever lists them too.
func (r *Reconciler) leaveOut(ctx context.Context, p *pass, ids []string) ([]string, error) {
	mine := instancesOf(p.pool)
	kept := ids[:0:0]
	for _, id := range ids {
		if !mine[meaning(id)] {
			others, err := nodes.Listing(ctx, r.Client, p.clusterKey(), meaning(id))
			if err != nil {
				return nil, err
			}
			others = slices.DeleteFunc(others, func(o *clusterv1.MachinePool) bool { return o.Name == p.pool.Name || !o.DeletionTimestamp.IsZero() })
			if len(others) > 0 {
				// A cache gives them in any order, and what is told must not change with it.
				slices.SortFunc(others, func(a, b *clusterv1.MachinePool) int { return strings.Compare(a.Name, b.Name) })
				p.facts.Elsewhere = append(p.facts.Elsewhere, id+" (MachinePool "+others[0].Name+")")
				continue
			}
		}
		kept = append(kept, id)
	}
	return kept, nil
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
		key := meaning(id)
		if id == "" || seen[key] {
			continue
		}
		seen[key] = true
		all = append(all, id)
	}
	return all
}

// sameInstances says whether two lists name the same instances; the second may hold an instance twice and then differs. Nearly
// always they are equal as they stand.
func sameInstances(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(a, b) {
		return true
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

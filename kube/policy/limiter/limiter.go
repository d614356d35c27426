// Package limiter turns the policies of a pool, the state of their gates and what other pools are doing into what the pool's rollout may do
// now. It waits for nothing: gates are asked elsewhere.
package limiter

import (
	"context"
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/gates"
	"github.com/muster-project/muster/kube/policy/gates/approval"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/pool/rollouts"
)

// Limiter limits rollouts. A nil Limiter limits none. It is safe for concurrent use.
type Limiter struct {
	// Policies reads the policies of a pool.
	Policies *policy.Reader
	// Gates has their gates asked; nil leaves them unknown.
	Gates *asker.Asker
	// Ledger counts the machines that are being replaced in all pools; nil for a plan, which takes nothing from a budget and knows of no other
	// pools.
	Ledger *Ledger
}

// Pool is a pool whose rollout is limited.
type Pool struct {
	// Kind is the kind of the infrastructure object.
	Kind   string
	Object client.Object
	// MachinePool and Cluster are nil while they do not exist.
	MachinePool *clusterv1.MachinePool
	Cluster     *clusterv1.Cluster
	// Desired is the number of desired machines.
	Desired int
	Now     time.Time
}

// key identifies the pool.
func (p Pool) key() asker.Pool {
	return asker.Pool{Kind: p.Kind, NamespacedName: client.ObjectKeyFromObject(p.Object)}
}

// subject returns the pool as policies select it.
func (p Pool) subject() policy.Subject {
	s := policy.Subject{Namespace: p.Object.GetNamespace()}
	if p.MachinePool != nil {
		s.PoolLabels = p.MachinePool.Labels
	}
	if p.Cluster != nil {
		s.ClusterLabels = p.Cluster.Labels
	}
	return s
}

// annotations returns those of the infrastructure object and of its MachinePool.
func (p Pool) annotations() []map[string]string {
	all := []map[string]string{p.Object.GetAnnotations()}
	if p.MachinePool != nil {
		all = append(all, p.MachinePool.Annotations)
	}
	return all
}

// Limits returns what a pool's rollout may do now. An error is that of a read, after which nothing is known of the policies.
func (l *Limiter) Limits(ctx context.Context, p Pool) (rollouts.Limits, error) {
	if l == nil {
		return rollouts.Limits{}, nil
	}
	e, err := l.Policies.For(ctx, p.subject())
	if err != nil {
		return rollouts.Limits{}, fmt.Errorf("rollout policies of %s %s: %w", p.Kind, client.ObjectKeyFromObject(p.Object), err)
	}
	out := e.Limits(p.Now)
	l.gates(p, e, &out)
	l.Ledger.limit(p, e, &out)
	return out, nil
}

// gates adds the gates of policies, with what is known of them.
func (l *Limiter) gates(p Pool, e policy.Effective, out *rollouts.Limits) {
	var known []gates.Known
	for _, g := range e.Gates {
		k := gates.Known{Policy: g.Policy.String(), Gate: g.RolloutGate}
		if one, ok := gates.OfPolicy(g.Policy.Meta(), g.RolloutGate, p.Object.GetNamespace()); ok {
			k.State = l.Gates.State(one)
			known = append(known, k)
			continue
		}
		waits, _ := gates.Limits([]gates.Known{k})
		out.Approvals = append(out.Approvals, rollouts.Approval{Cause: waits,
			Gate: rollouts.Gate{Policy: k.Policy, Name: g.Name, State: waits.Reason}, For: approved(g.Name, p.annotations())})
	}
	out.BeforeWave, out.DuringSoak = gates.Limits(known)
	for _, k := range known {
		out.Gates = append(out.Gates, rollouts.Gate{Policy: k.Policy, Name: k.Gate.Name, State: string(k.State.Phase), Message: k.State.Message})
	}
}

// approved returns the rollouts for which users have approved a gate.
func approved(gate string, annotations []map[string]string) (ids []string) {
	for _, one := range annotations {
		all, _ := approval.Parse(one)
		for _, a := range all {
			if a.Gate == gate {
				ids = append(ids, a.Rollout)
			}
		}
	}
	return ids
}

// Done records what a pool's rollout does after a pass. Gates are asked for pools whose rollout is under way, and for no others. While the
// policies can't be read, those that were asked for the pool still are.
func (l *Limiter) Done(ctx context.Context, p Pool, v rollouts.Verdict) {
	if l == nil {
		return
	}
	l.Ledger.note(p.key(), v)
	if !v.NeedsGates() {
		l.Gates.Forget(p.key())
		return
	}
	e, err := l.Policies.For(ctx, p.subject())
	if err != nil {
		return
	}
	var asked []gates.Gate
	for _, g := range e.Gates {
		if one, ok := gates.OfPolicy(g.Policy.Meta(), g.RolloutGate, p.Object.GetNamespace()); ok {
			asked = append(asked, one)
		}
	}
	l.Gates.Need(p.key(), asked)
}

// Forget forgets a pool that does not exist any more.
func (l *Limiter) Forget(kind string, key client.ObjectKey) {
	if l != nil {
		at := asker.Pool{Kind: kind, NamespacedName: key}
		l.Gates.Forget(at)
		l.Ledger.Forget(at)
	}
}

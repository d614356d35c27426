package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// rules are the conditions that every pass sets, one rule each.
var rules = []func(*Facts) metav1.Condition{
	ready, available, bootstrapConfigReady, infrastructureReady, machinesReady, machinesUpToDate,
	scalingUp, scalingDown, remediating, deleting, paused,
}

// Apply writes what the facts mean into the pool's status, in memory. A paused pass has looked at nothing, so it changes
// what concerns the pause alone.
func Apply(pool *clusterv1.MachinePool, f *Facts) {
	if f.Paused != "" {
		conditions.Set(pool, paused(f))
		conditions.Set(pool, deleting(f))
		if f.Deletion != nil {
			pool.Status.SetTypedPhase(clusterv1.MachinePoolPhaseDeleting)
		}
		return
	}
	known := len(pool.Status.NodeRefs) > 0
	for _, rule := range rules {
		c := taken(rule(f))
		if last := conditions.Get(pool, c.Type); last != nil && f.stands(c) {
			c = *last
		}
		conditions.Set(pool, c)
	}
	if !f.NoCluster {
		initialization(pool, f)
		counters(pool, f)
	}
	if now := phase(f, known); now != clusterv1.MachinePoolPhaseUnknown || !f.Passing {
		pool.Status.SetTypedPhase(now)
	}
	deprecated(pool, f)
	pool.Status.ObservedGeneration = pool.Generation
}

// stands says that a condition would become unknown only because the nodes can't be asked at the moment.
func (f *Facts) stands(c metav1.Condition) bool {
	return f.Passing && f.Nodes == nil && c.Status == metav1.ConditionUnknown && c.Message == f.NodesUnknown
}

// initialization is only ever set to true: what was provisioned once stays so, whatever a provider reports for a moment.
func initialization(pool *clusterv1.MachinePool, f *Facts) {
	once(&pool.Status.Initialization.BootstrapDataSecretCreated, f.Bootstrap.Once)
	once(&pool.Status.Initialization.InfrastructureProvisioned, f.Infrastructure.Once)
}

func once(field **bool, value bool) {
	if *field == nil || !**field {
		*field = &value
	}
}

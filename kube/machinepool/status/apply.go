package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// rules are the conditions that every pass sets, one function each.
var rules = []func(*pass) metav1.Condition{
	ready, available, bootstrapConfigReady, infrastructureReady, machinesReady, machinesUpToDate,
	scalingUp, scalingDown, remediating, deleting, paused,
}

// Apply sets the pool's status in memory from the facts. A pass over a paused pool has read nothing, so it changes only what concerns the
// pause.
func Apply(pool *clusterv1.MachinePool, facts Facts, outcome Outcome) {
	f := &pass{facts, outcome}
	if f.Paused != "" {
		conditions.Set(pool, paused(f))
		conditions.Set(pool, deleting(f))
		if f.Deleting {
			pool.Status.SetTypedPhase(clusterv1.MachinePoolPhaseDeleting)
		}
		return
	}
	known := len(pool.Status.NodeRefs) > 0
	for _, rule := range rules {
		c := valid(rule(f))
		if last := conditions.Get(pool, c.Type); last != nil && f.keepsLast(c) {
			c = *last
		}
		conditions.Set(pool, c)
	}
	if !f.NoCluster {
		initialization(pool, f)
		counters(pool, f)
	}
	if now := phase(f, known); now != clusterv1.MachinePoolPhaseUnknown || !f.ConnectionInterrupted {
		pool.Status.SetTypedPhase(now)
	}
	deprecated(pool, f)
	pool.Status.ObservedGeneration = pool.Generation
}

// keepsLast reports whether a condition would become unknown only because the connection to the workload cluster is interrupted.
func (f *pass) keepsLast(c metav1.Condition) bool {
	return f.ConnectionInterrupted && f.Nodes == nil && c.Status == metav1.ConditionUnknown && c.Message == f.NodesUnknown
}

// initialization only ever sets the fields to true: what was provisioned once stays provisioned, whatever a provider reports later.
func initialization(pool *clusterv1.MachinePool, f *pass) {
	once(&pool.Status.Initialization.BootstrapDataSecretCreated, f.Bootstrap.Once)
	once(&pool.Status.Initialization.InfrastructureProvisioned, f.Infrastructure.Once)
}

func once(field **bool, value bool) {
	if *field == nil || !**field {
		*field = &value
	}
}

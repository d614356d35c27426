package machinepool

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/machinesync"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// pass is passed by value to the steps of one reconciliation: the facts, which no step may change (test/imports), and the progress that the
// steps record. Packages below this one get values, never the pass.
type pass struct {
	facts facts
	did   *progress
}

// progress records the effects and findings of the steps of a pass.
type progress struct {
	// stored is the pool as it is stored, pool the pool as it has to be; write writes the difference.
	stored, pool *clusterv1.MachinePool
	// bootstrap and infrastructure are the referenced objects as the steps leave them.
	bootstrap, infrastructure reference.Found
	// machines are the Machines as the steps leave them.
	machines machinesync.Output
	// outcome is the part of progress that the status reports, without the referenced objects.
	outcome status.Outcome
	events  []status.Event
}

// newProgress returns the progress of a pass without steps.
func newProgress(pool *clusterv1.MachinePool, f facts) *progress {
	return &progress{stored: pool.DeepCopy(), pool: pool, bootstrap: f.bootstrap, infrastructure: f.infrastructure}
}

// run claims the pool, gathers the facts, and runs the steps. It returns the pass, for the status.
func (r *Reconciler) run(ctx context.Context, f facts, did *progress) (pass, control.Result) {
	outcome := control.Continue()
	if f.claimable() {
		outcome = r.claim(ctx, f, did)
	}
	if outcome.Stopped {
		return pass{f, did}, outcome
	}
	f, gathered := r.gather(ctx, f, did.pool)
	p := pass{f, did}
	did.bootstrap, did.infrastructure = f.bootstrap, f.infrastructure
	return p, outcome.Join(gathered).Join(control.Run(ctx, p, r.steps(p)))
}

// steps returns the steps of a pass in order. For a paused pool only the pause is reported; a pool without its Cluster can only be deleted.
func (r *Reconciler) steps(p pass) []control.Step[pass] {
	switch f := p.facts; {
	case !f.hasSteps(p.did.pool):
		return nil
	case f.status.Deleting:
		return []control.Step[pass]{r.release, r.copyInstances, r.syncMachines, r.syncNodes, r.remove}
	default:
		return []control.Step[pass]{r.release, r.followBootstrap, r.copyInstances, r.followInfrastructure, r.syncMachines, r.syncNodes}
	}
}

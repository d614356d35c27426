package infrapool

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/metrics"
)

// measured tells the metrics what a pass saw and did.
func (r *Reconciler[O, S]) measured(s *scope[O], f *facts[S], out engine.Outcome) {
	r.Metrics.Saw(metrics.Pass{Pool: r.inMetrics(client.ObjectKeyFromObject(s.object)), Cluster: s.clusterName(), Outcome: out, TokensEnd: f.tokensEnd, Now: f.Now})
}

// unmeasured takes a pool out of the metrics that is gone, or that is not looked at.
func (r *Reconciler[O, S]) unmeasured(key client.ObjectKey) { r.Metrics.Forget(r.inMetrics(key)) }

func (r *Reconciler[O, S]) inMetrics(key client.ObjectKey) metrics.Pool {
	return metrics.Pool{Kind: r.kind.Name, Namespace: key.Namespace, Name: key.Name}
}

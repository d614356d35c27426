package infrapool

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/metrics"
)

// recordMetrics tells the metrics what a pass saw and did.
func (r *Reconciler[O, S]) recordMetrics(s *scope[O], f *facts[S], out engine.Outcome) {
	r.Metrics.Observe(metrics.Pass{Pool: r.metricsKey(client.ObjectKeyFromObject(s.object)), Cluster: s.clusterName(), Outcome: out, TokensEnd: f.tokensEnd, Now: f.Now})
}

// forgetMetrics takes a pool out of the metrics that is gone, or that is not looked at.
func (r *Reconciler[O, S]) forgetMetrics(key client.ObjectKey) { r.Metrics.Forget(r.metricsKey(key)) }

func (r *Reconciler[O, S]) metricsKey(key client.ObjectKey) metrics.Pool {
	return metrics.Pool{Kind: r.kind.Name, Namespace: key.Namespace, Name: key.Name}
}

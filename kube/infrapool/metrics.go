package infrapool

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/metrics"
)

// poolMetrics are the metrics of the pools of one kind. Without a recorder, nothing is recorded.
type poolMetrics struct {
	recorder *metrics.Pools
	kind     string
}

// observe records what a pass saw and did.
func (m poolMetrics) observe(key client.ObjectKey, p metrics.Pass) {
	p.Pool = m.pool(key)
	m.recorder.Observe(p)
}

// forget removes the metrics of a pool that is gone, or that is not reconciled.
func (m poolMetrics) forget(key client.ObjectKey) { m.recorder.Forget(m.pool(key)) }

func (m poolMetrics) pool(key client.ObjectKey) metrics.Pool {
	return metrics.Pool{Kind: m.kind, Namespace: key.Namespace, Name: key.Name}
}

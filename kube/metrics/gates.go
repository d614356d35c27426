package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Gates exposes the gates of rollout policies. A nil Gates accepts every call and exposes nothing. It is safe for concurrent use.
type Gates struct {
	asks   *prometheus.CounterVec
	phases *prometheus.GaugeVec
}

// NewGates returns registered Gates.
func NewGates(r prometheus.Registerer) (*Gates, error) {
	g := &Gates{
		asks: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "gate_asks_total",
			Help: "Answers to gates of rollout policies by type of gate (prometheus, condition) and result: Passed, NotPassed, or Unknown (no " +
				"data, an error, or not allowed)."}, []string{"type", "result"}),
		phases: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "gates",
			Help: "Gates of rollout policies that rollouts wait for, by state: Unknown, Pending, Passed, Failed."}, []string{"state"}),
	}
	for _, c := range []prometheus.Collector{g.asks, g.phases} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of gates: %w", err)
		}
	}
	return g, nil
}

// Asked counts an answer to a gate of a type.
func (g *Gates) Asked(of, result string) {
	if g != nil {
		g.asks.WithLabelValues(of, result).Inc()
	}
}

// Count sets the number of gates in a state.
func (g *Gates) Count(state string, n int) {
	if g != nil {
		g.phases.WithLabelValues(state).Set(float64(n))
	}
}

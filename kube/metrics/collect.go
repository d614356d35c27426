package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ofPool are the labels of all metrics of one pool.
var ofPool = []string{"kind", "namespace", "cluster", "name"}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "pool", name), help, append(append([]string(nil), ofPool...), labels...), nil)
}

var (
	observed  = describe("observed", "Whether the last pass observed the pool in its cloud (1), or the cloud did not respond (0).")
	instances = describe("instances",
		"Machines of the pool in its cloud by state, each in one: pending, joining (no Ready node yet), ready, not_ready, draining, "+
			"terminating, failed, "+
			"or unknown (the workload cluster is out of reach).", "state")
	desired     = describe("desired_instances", "Desired machines of the pool, without the surge of a rollout.")
	available   = describe("available_instances", "Available machines: joined, Ready for minReadySeconds, not draining and not terminating.")
	left        = describe("rollout_left_instances", "Machines that a rollout still has to replace.")
	rollout     = describe("rollout_state", "State of the rollout of the pool: 1 for its state, 0 for the others.", "state")
	returned    = describe("rolled_back", "Whether the pool launches machines from a former template, after a rollout failed or was aborted.")
	drainStart  = describe("oldest_drain_start_timestamp_seconds", "When the oldest running drain began; missing if no node drains.")
	tokenExpiry = describe("bootstrap_token_expiration_timestamp_seconds",
		"When the first of the bootstrap tokens expires that machines may be launched with; missing if no token expires.")
)

// Describe sends the descriptions of the metrics.
func (p *Pools) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{observed, instances, desired, available, left, rollout, returned, drainStart, tokenExpiry} {
		ch <- d
	}
}

// Collect sends what the last passes observed.
func (p *Pools) Collect(ch chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for of, s := range p.seen {
		s.collect(ch, of)
	}
}

func (s sample) collect(ch chan<- prometheus.Metric, of Pool) {
	say := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value,
			append([]string{of.Kind, of.Namespace, s.cluster, of.Name}, labels...)...)
	}
	say(observed, truth(s.observed))
	sayTime(say, tokenExpiry, s.tokensEnd)
	if !s.observed {
		return
	}
	for _, state := range states {
		say(instances, float64(s.states[state]), state)
	}
	say(desired, float64(s.desired))
	say(available, float64(s.available))
	say(left, float64(s.rollout.Left))
	for _, state := range rollouts {
		say(rollout, truth(s.rollout.State == state), string(state))
	}
	say(returned, truth(s.rolledBack))
	sayTime(say, drainStart, s.draining)
}

func sayTime(say func(*prometheus.Desc, float64, ...string), d *prometheus.Desc, at time.Time) {
	if !at.IsZero() {
		say(d, float64(at.Unix()))
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

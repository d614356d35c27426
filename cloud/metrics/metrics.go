// Package metrics counts what drivers do: every observation and step by how it ended, every request by service and
// operation. It is a decorator over the contract and a hook of the wire; a driver knows nothing of it.
package metrics

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
)

const namespace = "muster"

// buckets cover a request within one region (tens of milliseconds) up to the deadline of a call.
var buckets = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Metrics are the counters of all drivers of a process. They are safe for concurrent use.
type Metrics struct {
	operations *prometheus.HistogramVec
	requests   *prometheus.HistogramVec
	heldBack   *prometheus.CounterVec
	throttled  *prometheus.CounterVec
	budgets    *budgets
}

// New makes the counters and registers them. It fails when something else has registered metrics of their names.
func New(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		operations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "driver", Name: "operation_duration_seconds", Buckets: buckets,
			Help: "Duration of observations and steps of machine pools, by kind of pool, operation and result (ok, ClientRateLimited for Muster's " +
				"own budget, or the kind of error).",
		}, []string{"kind", "operation", "result"}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "cloud", Name: "request_duration_seconds", Buckets: buckets,
			Help: "Duration of requests to clouds, by service, operation, account (as far as it is known), region and HTTP status (none when " +
				"there was no reply).",
		}, []string{"service", "operation", "account", "region", "status"}),
		heldBack: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "cloud", Name: "requests_held_back_total",
			Help: "Requests that were not sent because a rate budget was used up, by service, operation, account, region and priority " +
				"(operation, rollout, rotation, idle).",
		}, []string{"service", "operation", "account", "region", "priority"}),
		throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "cloud", Name: "requests_throttled_total",
			Help: "Requests that a cloud refused because of its rate limits, by service, operation, account, region and HTTP status: not all " +
				"clouds answer 429.",
		}, []string{"service", "operation", "account", "region", "status"}),
		budgets: &budgets{now: time.Now, states: map[bucketKey]wire.BudgetState{}},
	}
	for _, c := range []prometheus.Collector{m.operations, m.requests, m.heldBack, m.throttled, m.budgets} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of the drivers: %w", err)
		}
	}
	return m, nil
}

// Done counts one request. It makes Metrics a hook of the wire.
func (m *Metrics) Done(c wire.Call, r wire.Result) {
	m.budgets.set(c, r.Budgets)
	if r.Limited {
		m.heldBack.WithLabelValues(c.Service, c.Operation, c.Account, c.Region, r.Priority.String()).Inc()
		return
	}
	m.requests.WithLabelValues(c.Service, c.Operation, c.Account, c.Region, statusOf(r)).Observe(r.Duration.Seconds())
}

// Throttled counts a request that the cloud refused because of its rate limits. Done has counted it among all requests.
func (m *Metrics) Throttled(c wire.Call, r wire.Result) {
	m.budgets.set(c, r.Budgets)
	m.throttled.WithLabelValues(c.Service, c.Operation, c.Account, c.Region, statusOf(r)).Inc()
}

func statusOf(r wire.Result) string {
	if r.Status == 0 {
		return "none"
	}
	return strconv.Itoa(r.Status)
}

// Measured is the driver with its observations and steps counted under the given kind, for example AWSMachinePool.
func Measured[S any](d cloud.Driver[S], m *Metrics, kind string) cloud.Driver[S] {
	return &measured[S]{Driver: d, metrics: m, kind: kind}
}

type measured[S any] struct {
	cloud.Driver[S]
	metrics *Metrics
	kind    string
}

func (m *measured[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	start := time.Now()
	o, err := m.Driver.Observe(ctx, t)
	m.done("Observe", start, err)
	return o, err
}

func (m *measured[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	start := time.Now()
	err := m.Driver.Start(ctx, t, s)
	m.done(string(s.Kind), start, err)
	return err
}

func (m *measured[S]) done(operation string, start time.Time, err error) {
	m.metrics.operations.WithLabelValues(m.kind, operation, resultOf(err)).Observe(time.Since(start).Seconds())
}

// resultOf tells the throttling of a cloud from a budget of our own, which keeps from it.
func resultOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case cloud.CodeOf(err) == cloud.CodeClientRateLimited:
		return cloud.CodeClientRateLimited
	default:
		return string(cloud.KindOf(err))
	}
}

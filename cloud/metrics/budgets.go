package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/muster-project/muster/cloud/wire"
)

var budgetLabels = []string{"account", "region", "budget"}

// The gauges of a rate budget.
var (
	leftDesc = prometheus.NewDesc(namespace+"_cloud_budget_left_requests",
		"Requests that a rate budget has left, by account, region and budget.", budgetLabels, nil)
	sizeDesc = prometheus.NewDesc(namespace+"_cloud_budget_size_requests",
		"Requests that a full rate budget has, by account, region and budget.", budgetLabels, nil)
	refillDesc = prometheus.NewDesc(namespace+"_cloud_budget_refill_requests_per_second",
		"Requests that flow into a rate budget each second, by account, region and budget.", budgetLabels, nil)
)

// bucketKey identifies a budget by its labels.
type bucketKey struct{ account, region, label string }

// budgets holds the rate budgets as the last request of each has left them. What has flowed in since is computed when they are collected.
type budgets struct {
	now func() time.Time

	mu     sync.Mutex
	states map[bucketKey]wire.BudgetState
}

func (b *budgets) set(c wire.Call, states []wire.BudgetState) {
	if len(states) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range states {
		key := bucketKey{c.Account, c.Region, s.Label}
		if last, ok := b.states[key]; !ok || !s.At.Before(last.At) {
			b.states[key] = s
		}
	}
}

// Describe sends the descriptions of the gauges.
func (b *budgets) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{leftDesc, sizeDesc, refillDesc} {
		to <- d
	}
}

// Collect sends the gauges of all budgets.
func (b *budgets) Collect(to chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for key, s := range b.states {
		for d, value := range map[*prometheus.Desc]float64{leftDesc: s.LeftAt(now), sizeDesc: s.Burst, refillDesc: s.PerSecond} {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, key.account, key.region, key.label)
		}
	}
}

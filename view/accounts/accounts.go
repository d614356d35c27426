// Package accounts describes the requests of a process to clouds: how many a minute by operation, how many were throttled, failed or held
// back by rate budgets, and how much these have left.
package accounts

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

const (
	// Every is the time between two samples, window the time over which rates are computed.
	Every, window = 15 * time.Second, 5 * time.Minute
	// least is the least time between two samples: gathering all metrics of many pools takes long.
	least = time.Second
	// The metrics that are read (docs/metrics.md).
	requests, heldBack     = "muster_cloud_request_duration_seconds", "muster_cloud_requests_held_back_total"
	throttled              = "muster_cloud_requests_throttled_total"
	budgetLeft, budgetSize = "muster_cloud_budget_left_requests", "muster_cloud_budget_size_requests"
	budgetRefill           = "muster_cloud_budget_refill_requests_per_second"
)

// Operation is one operation of an account.
type Operation struct {
	Service   string `json:"service"`
	Operation string `json:"operation"`
	Counts
}

// Counts are those since the start of the process, except PerMinute.
type Counts struct {
	// PerMinute is the rate of the last minutes.
	PerMinute float64 `json:"perMinute"`
	Total     int     `json:"total"`
	// Throttled are those that the cloud refused because of its rate limits, whichever status it answered. Failed are the others with a status
	// of 400 or more, and those without a reply.
	Throttled int `json:"throttled"`
	Failed    int `json:"failed"`
	// HeldBack were not sent, because a rate budget was used up.
	HeldBack int `json:"heldBack"`
}

// Account is an account in a region.
type Account struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	Counts
	// Budgets are the rate budgets, those that have the least left first.
	Budgets []Budget `json:"budgets"`
	// Operations are the most frequent first.
	Operations []Operation `json:"operations"`
}

// key identifies one counter.
type key struct{ account, region, service, operation string }

// sample holds the counters and the budgets at a time.
type sample struct {
	at      time.Time
	counts  map[key]Counts
	budgets map[[2]string][]Budget
}

// Recorder computes rates from samples of a registry. It is safe for concurrent use.
type Recorder struct {
	from prometheus.Gatherer

	mu      sync.Mutex
	samples []sample
	// tried is the time of the last sample, also of one that failed.
	tried time.Time
}

// NewRecorder returns a recorder without samples.
func NewRecorder(from prometheus.Gatherer) *Recorder { return &Recorder{from: from} }

// Sample reads the counters, unless they were read less than a second ago. Those that can't be read are read again the next time.
func (r *Recorder) Sample(now time.Time) {
	r.mu.Lock()
	recent := !r.tried.IsZero() && now.Sub(r.tried) < least
	if !recent {
		r.tried = now
	}
	r.mu.Unlock()
	if recent {
		return
	}
	families, err := r.from.Gather()
	if err != nil && len(families) == 0 {
		return
	}
	s := sample{at: now, counts: countsOf(families), budgets: budgetsOf(families)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, s)
	for len(r.samples) > 1 && r.samples[1].at.Before(now.Add(-window)) {
		r.samples = slices.Delete(r.samples, 0, 1)
	}
}

// Accounts returns the counters of the last sample, with the rates since the first one that is kept. Accounts are ordered by name.
func (r *Recorder) Accounts() []Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) == 0 {
		return []Account{}
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	minutes := last.at.Sub(first.at).Minutes()
	byName := map[[2]string]*Account{}
	for k, c := range last.counts {
		if minutes > 0 {
			c.PerMinute = float64(c.Total-first.counts[k].Total) / minutes
		}
		name := [2]string{k.account, k.region}
		a := byName[name]
		if a == nil {
			a = &Account{Account: k.account, Region: k.region, Budgets: append([]Budget{}, last.budgets[name]...)}
			byName[name] = a
		}
		a.Counts = a.plus(c)
		a.Operations = append(a.Operations, Operation{Service: k.service, Operation: k.operation, Counts: c})
	}
	list := make([]Account, 0, len(byName))
	for _, a := range byName {
		slices.SortFunc(a.Operations, func(x, y Operation) int {
			return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Operation, y.Operation))
		})
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Account) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region))
	})
	return list
}

func (c Counts) plus(o Counts) Counts {
	return Counts{c.PerMinute + o.PerMinute, c.Total + o.Total, c.Throttled + o.Throttled, c.Failed + o.Failed, c.HeldBack + o.HeldBack}
}

// countsOf reads the counters from the families of a registry.
func countsOf(families []*dto.MetricFamily) map[key]Counts {
	out := map[key]Counts{}
	for _, f := range families {
		if f.GetName() != requests && f.GetName() != heldBack && f.GetName() != throttled {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := labelsOf(m)
			k := key{labels["account"], labels["region"], labels["service"], labels["operation"]}
			c := out[k]
			switch f.GetName() {
			case requests:
				c = c.plus(byStatus(labels["status"], int(m.GetHistogram().GetSampleCount())))
			case throttled: // the failed ones include these
				n := int(m.GetCounter().GetValue())
				c = c.plus(Counts{Throttled: n, Failed: -n})
			case heldBack:
				c.HeldBack += int(m.GetCounter().GetValue())
			}
			out[k] = c
		}
	}
	// A request may end while the registry is read.
	for k, c := range out {
		c.Failed = max(c.Failed, 0)
		out[k] = c
	}
	return out
}

// byStatus returns the counts of n requests that ended with a status.
func byStatus(status string, n int) Counts {
	c := Counts{Total: n}
	if status == "none" || strings.HasPrefix(status, "4") || strings.HasPrefix(status, "5") {
		c.Failed = n
	}
	return c
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}

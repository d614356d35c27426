package accounts

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestAccounts holds the counts by status, the rates, and that other metrics are left out.
func TestAccounts(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	labels := []string{"service", "operation", "account", "region", "status"}
	sent := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: requests}, labels)
	held := prometheus.NewCounterVec(prometheus.CounterOpts{Name: heldBack}, append(labels[:4:4], "priority"))
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{Name: throttled}, labels)
	registry.MustRegister(sent, held, refused, prometheus.NewCounter(prometheus.CounterOpts{Name: "other_total"}))
	send := func(n int, status string) {
		for range n {
			sent.WithLabelValues("ec2", "DescribeInstances", "1", "eu", status).Observe(1)
		}
	}
	r := NewRecorder(registry)
	if got := r.Accounts(); len(got) != 0 {
		t.Fatalf("want no accounts before the first sample, got %v", got)
	}
	now := time.Now()
	send(10, "200")
	r.Sample(now)
	send(20, "200")
	for k := range 1000 { // as often as users ask
		r.Sample(now.Add(time.Duration(k) * least / 1000))
	}
	if got := r.Accounts(); got[0].Total != 10 || len(r.samples) != 1 {
		t.Errorf("want one sample within %v, got %d with %d requests", least, len(r.samples), got[0].Total)
	}
	send(3, "429")
	refused.WithLabelValues("ec2", "DescribeInstances", "1", "eu", "429").Add(3)
	send(4, "400")
	refused.WithLabelValues("ec2", "DescribeInstances", "1", "eu", "400").Add(2)
	send(2, "503")
	send(2, "403")
	send(1, "none")
	held.WithLabelValues("ec2", "DescribeInstances", "1", "eu", "idle").Add(4)
	sent.WithLabelValues("iam", "GetRole", "2", "", "200").Observe(1)
	r.Sample(now.Add(2 * time.Minute))
	got := r.Accounts()
	if len(got) != 2 || got[0].Account != "1" || len(got[0].Operations) != 1 {
		t.Fatalf("want two accounts by name, got %+v", got)
	}
	want := Counts{PerMinute: 16, Total: 42, Throttled: 5, Failed: 7, HeldBack: 4}
	if got[0].Counts != want || got[0].Operations[0].Counts != want {
		t.Errorf("want %+v, got %+v", want, got[0])
	}
	for k := range 100 { // the window moves on, and the samples are bounded
		r.Sample(now.Add(time.Duration(k+10) * time.Minute))
	}
	if got := r.Accounts(); got[0].PerMinute != 0 || got[0].Total != 42 || len(r.samples) > 10 {
		t.Errorf("want old rates forgotten, got %+v of %d samples", got[0], len(r.samples))
	}
}

// TestBudgets holds that an account has the rate budgets of its region, those that have the least left first.
func TestBudgets(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	sent := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: requests}, []string{"account", "region"})
	registry.MustRegister(sent)
	for name, values := range map[string][]float64{budgetLeft: {100, 5, 7}, budgetSize: {100, 50, 8}, budgetRefill: {25, 10, 1}} {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name}, []string{"account", "region", "budget"})
		g.WithLabelValues("1", "eu", "autoscaling").Set(values[0])
		g.WithLabelValues("1", "eu", "ec2 DescribeInstances").Set(values[1])
		g.WithLabelValues("1", "us", "autoscaling").Set(values[2])
		registry.MustRegister(g)
	}
	sent.WithLabelValues("1", "eu").Observe(1)
	sent.WithLabelValues("2", "eu").Observe(1)
	r := NewRecorder(registry)
	r.Sample(time.Now())
	got := r.Accounts()
	want := []Budget{{"ec2 DescribeInstances", 5, 50, 10}, {"autoscaling", 100, 100, 25}}
	if len(got) != 2 || !slices.Equal(got[0].Budgets, want) || got[1].Budgets == nil || len(got[1].Budgets) != 0 {
		t.Errorf("want %v of account 1 alone, got %+v", want, got)
	}
}

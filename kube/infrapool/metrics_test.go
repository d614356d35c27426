package infrapool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/metrics"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
)

// measure has the world's reconciler tell metrics.
func measure(w *world) *prometheus.Registry {
	w.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	pools, err := metrics.NewPools(registry)
	if err != nil {
		w.t.Fatal(err)
	}
	w.reconciler = infrapool.New(awspool.Adapter{}, w.account, infrapool.Options{
		Client: w.management, ClusterCache: w.cache, Recorder: w.recorder, Now: func() time.Time { return w.now }, Metrics: pools,
	})
	return registry
}

// samples returns the pool's metrics that are not zero, by name and state. Of drains it returns the number that have ended.
func samples(t *testing.T, r prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				switch {
				case l.GetName() == "state" || l.GetName() == "outcome":
					name += " " + l.GetValue()
				case map[string]string{"kind": "AWSMachinePool", "namespace": "default", "cluster": "c", "name": "p"}[l.GetName()] != l.GetValue():
					t.Errorf("%s: label %s is %q", f.GetName(), l.GetName(), l.GetValue())
				}
			}
			if value := m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount()); value != 0 {
				all[name] = value
			}
		}
	}
	return all
}

func TestMetricsOfAPool(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	registry := measure(w)
	want := func(reason string, want map[string]float64) {
		t.Helper()
		if diff := cmp.Diff(want, samples(t, registry)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	w.settle()
	rest := map[string]float64{"muster_pool_observed": 1, "muster_pool_desired_instances": 2, "muster_pool_available_instances": 2,
		"muster_pool_instances ready": 2, "muster_pool_rollout_state Done": 1}
	want("a pool at rest", rest)

	w.runs("web", "i-1")
	w.refuse["web"] = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
	began := w.now
	w.passes(5)
	want("a drain that a budget holds up is seen to go on", map[string]float64{"muster_pool_observed": 1, "muster_pool_desired_instances": 1,
		"muster_pool_available_instances": 1, "muster_pool_instances ready": 1, "muster_pool_instances draining": 1,
		"muster_pool_rollout_state Done":                   1,
		"muster_pool_oldest_drain_start_timestamp_seconds": float64(began.Unix())})

	delete(w.refuse, "web")
	w.settle()
	small := map[string]float64{"muster_pool_observed": 1, "muster_pool_desired_instances": 1, "muster_pool_available_instances": 1,
		"muster_pool_instances ready": 1, "muster_pool_rollout_state Done": 1, "muster_drain_duration_seconds drained": 1}
	want("a drain that has ended is counted", small)

	change(w, cluster(), func(c *clusterv1.Cluster) { c.Spec.Paused = new(true) })
	w.pass()
	ended := map[string]float64{"muster_drain_duration_seconds drained": 1}
	want("there are no metrics of a pool that is not reconciled", ended)
	change(w, cluster(), func(c *clusterv1.Cluster) { c.Spec.Paused = nil })
	w.settle()
	want("a pool that is no longer paused has metrics again", small)

	w.remove(awsMachinePool())
	for range 30 {
		if w.gone() {
			break
		}
		w.passes(1)
	}
	want("a pool that is gone leaves nothing behind but its drains", map[string]float64{"muster_drain_duration_seconds drained": 2})
}

// An object that is gone before its controller sees it, as when a user removes its finalizer, leaves nothing behind.
func TestMetricsOfAPoolThatVanished(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	registry := measure(w)
	w.settle()
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Finalizers = nil })
	w.remove(awsMachinePool())
	w.pass()
	if got := samples(t, registry); len(got) != 0 {
		t.Errorf("want nothing told, got %v", got)
	}
}

package acceptancetest

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"
)

// metric is the part of a metric of kube-state-metrics' configuration that contains the path of its value.
type metric struct {
	Name string
	Each struct {
		Gauge, StateSet struct {
			Path []string
			List []string
		}
	}
}

// TestRow64_KubeStateMetricsReadsPools holds that the metrics have the names of other controllers, that they contain every phase, and that
// their paths exist in a running pool.
func TestRow64_KubeStateMetricsReadsPools(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	var config struct {
		Spec struct {
			Resources []struct {
				MetricNamePrefix string
				Metrics          []metric
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "config/metrics/state/crd-metrics-config.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	pool := w.get(clusterv1.GroupVersion.WithKind("MachinePool"), "pool")
	var names []string
	for _, r := range config.Spec.Resources {
		if r.MetricNamePrefix != "capi_machinepool" {
			continue
		}
		for _, m := range r.Metrics {
			names = append(names, m.Name)
			for _, path := range [][]string{m.Each.Gauge.Path, m.Each.StateSet.Path} {
				if _, found, err := unstructured.NestedFieldNoCopy(pool.Object, path...); len(path) > 0 && (!found || err != nil) {
					t.Errorf("%s: want a value at %v of a pool that runs, got %v, %v", m.Name, path, found, err)
				}
			}
			if m.Name == "status_phase" {
				want(t, "phases", fmt.Sprint(sorted(m.Each.StateSet.List)), fmt.Sprint(sorted(phases())))
			}
		}
	}
	for _, name := range []string{"info", "created", "annotation_paused", "spec_replicas", "status_replicas", "status_replicas_ready",
		"status_replicas_available",
		"status_replicas_uptodate", "status_phase", "status_condition", "status_condition_last_transition_time"} {
		if !slices.Contains(names, name) {
			t.Errorf("want capi_machinepool_%s, got %v", name, names)
		}
	}
}

func sorted(all []string) []string { return slices.Sorted(slices.Values(all)) }

// phases are all phases of the API.
func phases() []string {
	var all []string
	for _, p := range []clusterv1.MachinePoolPhase{clusterv1.MachinePoolPhasePending, clusterv1.MachinePoolPhaseProvisioning,
		clusterv1.MachinePoolPhaseProvisioned,
		clusterv1.MachinePoolPhaseRunning, clusterv1.MachinePoolPhaseScalingUp, clusterv1.MachinePoolPhaseScalingDown,
		clusterv1.MachinePoolPhaseScaling,
		clusterv1.MachinePoolPhaseDeleting, clusterv1.MachinePoolPhaseFailed, clusterv1.MachinePoolPhaseUnknown} {
		all = append(all, string(p))
	}
	return all
}

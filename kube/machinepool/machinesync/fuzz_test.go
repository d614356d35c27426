package machinesync

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/propagate"
)

// FuzzApplyTemplate holds that for any record and lists of a Machine the Machine then has all that the template sets, and a second time
// changes nothing.
func FuzzApplyTemplate(f *testing.F) {
	f.Add(`{"labels":["a","b"],"gates":["A"],"taints":["a:NoSchedule"]}`, "a b c", "b d")
	f.Add(`{"labels":null}`, "", "a")
	f.Add(`[`, "a a", "")
	f.Add(`{"labels":["cluster.x-k8s.io/pool-name"],"annotations":["muster.dev/from-pool"]}`, "muster.dev/from-pool",
		"cluster.x-k8s.io/cluster-name")
	infra := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "TestMachine"}}
	infra.SetName("m1")
	f.Fuzz(func(t *testing.T, annotation, have, want string) {
		pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool", UID: "pool-uid"},
			Spec: clusterv1.MachinePoolSpec{ClusterName: "c1"}}
		template := &pool.Spec.Template
		template.Labels = words(want)
		template.Spec.ReadinessGates, template.Spec.Taints = gatesAndTaints(want)
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: words(have),
			Annotations: map[string]string{fromPoolAnnotation: annotation}}}
		m.Spec.ReadinessGates, m.Spec.Taints = gatesAndTaints(have)
		if err := applyTemplate(m, pool, members.Member{Infra: infra}, nil); err != nil {
			t.Fatal(err)
		}
		for k, v := range template.Labels {
			if m.Labels[k] != v && k != clusterv1.ClusterNameLabel && k != clusterv1.MachinePoolNameLabel {
				t.Errorf("label %q: want %q, got %q", k, v, m.Labels[k])
			}
		}
		if missing := subtract(propagate.Keys(template.Spec.Taints, propagate.TaintKey),
			propagate.Keys(m.Spec.Taints, propagate.TaintKey)); len(missing) > 0 {
			t.Errorf("taints: want %v too, got %v", missing, m.Spec.Taints)
		}
		first := m.DeepCopy()
		if err := applyTemplate(m, pool, members.Member{Infra: infra}, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, m); diff != "" {
			t.Errorf("a second time changes something, first - second +:\n%s", diff)
		}
		if got := m.Labels[clusterv1.MachinePoolNameLabel]; got != "pool" {
			t.Errorf("pool label: want pool whatever the template sets, got %q", got)
		}
	})
}

func words(text string) map[string]string {
	all := map[string]string{}
	for _, w := range strings.Fields(text) {
		all[w] = "v"
	}
	return all
}

// gatesAndTaints returns each word once, as the API server enforces.
func gatesAndTaints(text string) ([]clusterv1.MachineReadinessGate, []clusterv1.MachineTaint) {
	var gates []clusterv1.MachineReadinessGate
	var taints []clusterv1.MachineTaint
	for w := range maps.Keys(words(text)) {
		gates = append(gates, clusterv1.MachineReadinessGate{ConditionType: w})
		taints = append(taints, clusterv1.MachineTaint{Key: w, Effect: corev1.TaintEffectNoSchedule})
	}
	return gates, taints
}

func subtract(a, b []string) []string {
	have := map[string]bool{}
	for _, s := range b {
		have[s] = true
	}
	var out []string
	for _, s := range a {
		if !have[s] {
			out = append(out, s)
		}
	}
	return out
}

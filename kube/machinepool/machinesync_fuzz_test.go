package machinepool_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/machinesync"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/reference"
)

// FuzzApplyTemplate holds that for any record and lists of a Machine the Machine then has all that the template sets, and a second time
// changes nothing.
func FuzzApplyTemplate(f *testing.F) {
	f.Add(`{"labels":["a","b"],"gates":["A"],"taints":["a:NoSchedule"]}`, "a b c", "b d")
	f.Add(`{"labels":null}`, "", "a")
	f.Add(`[`, "a a", "")
	f.Add(`{"labels":["cluster.x-k8s.io/pool-name"],"annotations":["muster.dev/from-pool"]}`, "muster.dev/from-pool",
		"cluster.x-k8s.io/cluster-name")
	infra := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "TestMachine",
		"spec": map[string]any{"providerID": "test:///m1"}}}
	infra.SetName("m1")
	f.Fuzz(func(t *testing.T, annotation, have, want string) {
		pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool", UID: "pool-uid"},
			Spec: clusterv1.MachinePoolSpec{ClusterName: "c1"}}
		template := &pool.Spec.Template
		template.Labels = words(want)
		template.Spec.ReadinessGates, template.Spec.Taints = gatesAndTaints(want)
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: words(have),
			Annotations: map[string]string{"muster.dev/from-pool": annotation}}}
		m.Spec.ReadinessGates, m.Spec.Taints = gatesAndTaints(have)
		m, _ = synced(t, pool, infra, m)
		for k, v := range template.Labels {
			if m.Labels[k] != v && k != clusterv1.ClusterNameLabel && k != clusterv1.MachinePoolNameLabel {
				t.Errorf("label %q: want %q, got %q", k, v, m.Labels[k])
			}
		}
		if missing := subtract(members.Keys(template.Spec.Taints, members.TaintKey),
			members.Keys(m.Spec.Taints, members.TaintKey)); len(missing) > 0 {
			t.Errorf("taints: want %v too, got %v", missing, m.Spec.Taints)
		}
		again, writes := synced(t, pool, infra, m)
		if diff := cmp.Diff(m, again); diff != "" || writes > 0 {
			t.Errorf("a second time changes something, in %d writes, first - second +:\n%s", writes, diff)
		}
		if got := m.Labels[clusterv1.MachinePoolNameLabel]; got != "pool" {
			t.Errorf("pool label: want pool whatever the template sets, got %q", got)
		}
	})
}

// synced returns a Machine as it is brought in line with its pool, and how many writes that takes. They are counted and go nowhere: an API
// server would not store what the fuzzer draws.
func synced(t *testing.T, pool *clusterv1.MachinePool, infra *unstructured.Unstructured, m *clusterv1.Machine) (*clusterv1.Machine, int) {
	t.Helper()
	writes := 0
	nowhere := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			writes++
			return nil
		},
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			writes++
			return nil
		},
	})
	out, result := machinesync.Syncer{Objects: reference.ObjectReader{Cached: nowhere}}.Sync(t.Context(),
		machinesync.Input{Pool: pool, Members: []members.Member{{Infra: infra, Machine: m}}})
	if result.Err != nil || len(out.ByInstance) != 1 {
		t.Fatalf("want the Machine in line, got %v, %v", out, result.Err)
	}
	return out.ByInstance[members.InstanceKey("test:///m1")], writes
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

package machinepool

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FuzzDress holds that whatever a Machine's annotation and lists hold, the Machine then has all that the template says, and a
// second time changes nothing.
func FuzzDress(f *testing.F) {
	f.Add(`{"labels":["a","b"],"gates":["A"],"taints":["a:NoSchedule"]}`, "a b c", "b d")
	f.Add(`{"labels":null}`, "", "a")
	f.Add(`[`, "a a", "")
	f.Add(`{"labels":["cluster.x-k8s.io/pool-name"],"annotations":["muster.dev/from-pool"]}`, "muster.dev/from-pool", "cluster.x-k8s.io/cluster-name")
	f.Fuzz(func(t *testing.T, annotation, have, want string) {
		p := &pass{pool: aPool(1)}
		template := &p.pool.Spec.Template
		template.Labels = words(want)
		template.Spec.ReadinessGates, template.Spec.Taints = gatesAndTaints(want)
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: words(have), Annotations: map[string]string{fromPoolAnnotation: annotation}}}
		m.Spec.ReadinessGates, m.Spec.Taints = gatesAndTaints(have)
		if err := p.applyMetadata(m, member{infra: anInfraMachine("m1", id1)}, nil); err != nil {
			t.Fatal(err)
		}
		for k, v := range template.Labels {
			if m.Labels[k] != v && k != clusterv1.ClusterNameLabel && k != clusterv1.MachinePoolNameLabel {
				t.Errorf("label %q: want %q, got %q", k, v, m.Labels[k])
			}
		}
		if missing := subtract(keysOf(template.Spec.Taints, taintKey), keysOf(m.Spec.Taints, taintKey)); len(missing) > 0 {
			t.Errorf("taints: want %v too, got %v", missing, m.Spec.Taints)
		}
		first := m.DeepCopy()
		if err := p.applyMetadata(m, member{infra: anInfraMachine("m1", id1)}, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, m); diff != "" {
			t.Errorf("a second time changes something, first - second +:\n%s", diff)
		}
		if got := m.Labels[clusterv1.MachinePoolNameLabel]; got != "pool" {
			t.Errorf("pool label: want pool whatever the template says, got %q", got)
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

// gatesAndTaints have each word once, as the API server makes sure of.
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

// FuzzGoneSince holds that whatever stands in the annotation, the time from which the removal of Nodes counts is not in the
// future, and the same in the next pass.
func FuzzGoneSince(f *testing.F) {
	for _, text := range []string{"", "2030-01-02T03:04:05Z", "2030-01-02T03:04:05.5+02:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "never"} {
		f.Add(text, int64(1_893_553_445))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		p := &pass{
			now:  time.Unix(unix%(1<<34), 0).UTC(),
			pool: &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{goneAnnotation: text}}},
		}
		since := p.goneSince()
		if since.After(p.now) {
			t.Fatalf("%q: want a time by %s, got %s", text, p.now, since)
		}
		if at, err := time.Parse(time.RFC3339, text); err == nil && !at.After(p.now) && !since.Equal(at) {
			t.Errorf("%q: want the time that is written down, got %s", text, since)
		}
		p.now = p.now.Add(time.Hour)
		if again := p.goneSince(); p.now.Year() > 0 && p.now.Year() < 10000 && !again.Equal(since) {
			t.Errorf("%q: want the same in the next pass, got %s, then %s", text, since, again)
		}
	})
}

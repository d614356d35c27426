package machinepool_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/nodesync"
)

// FuzzApply holds that a Node gets all that the template of its pool sets, keeps what other clients have added through any change of the
// template, loses what the template loses, and is written once for each change.
func FuzzApply(f *testing.F) {
	f.Add("a b", "b c", "a x", true)
	f.Add("", "a", "a", false)
	f.Add("a", "", "", true)
	f.Add("uninitialized", "a", "b", true)
	f.Fuzz(func(t *testing.T, before, after, others string, always bool) {
		const domain = "node.cluster.x-k8s.io/"
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}}
		node.Spec.Taints = []corev1.Taint{clusterv1.NodeUninitializedTaint}
		first, second, foreign := keysIn(before), keysIn(after), keysIn(others)
		for _, key := range foreign {
			node.Labels["other/"+key], node.Annotations["other/"+key] = "x", "x"
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "other/" + key, Effect: corev1.TaintEffectNoSchedule})
		}
		for _, keys := range [][]string{first, second} {
			pool := aPool()
			template := &pool.Spec.Template
			template.Labels, template.Annotations = map[string]string{}, map[string]string{}
			for _, key := range keys {
				template.Labels[domain+key], template.Annotations[domain+key] = "1", "1"
				taint := clusterv1.MachineTaint{Key: domain + key, Effect: corev1.TaintEffectNoExecute,
					Propagation: clusterv1.MachineTaintPropagationAlways}
				if !always {
					taint.Propagation = clusterv1.MachineTaintPropagationOnInitialization
				}
				template.Spec.Taints = append(template.Spec.Taints, taint)
			}
			metadata := nodesync.OfPool(pool, true, nil, nil)
			if changed := metadata.Apply(node); changed != nil {
				node = changed
			}
			if metadata.Apply(node) != nil {
				t.Fatal("want nothing left to write")
			}
			want := slices.Sorted(slices.Values(keys))
			if got := of(maps.Keys(node.Labels), domain); !slices.Equal(got, want) {
				t.Fatalf("labels: want %q, got %q", want, got)
			}
			if got := of(maps.Keys(node.Annotations), domain); !slices.Equal(got, want) {
				t.Fatalf("annotations: want %q, got %q", want, got)
			}
			var taints []string
			for _, taint := range node.Spec.Taints {
				taints = append(taints, taint.Key)
			}
			if got := of(slices.Values(taints), domain); always && !slices.Equal(got, want) {
				t.Fatalf("taints: want %q, got %q", want, got)
			}
			if got := of(slices.Values(taints), "other/"); !slices.Equal(got, slices.Sorted(slices.Values(foreign))) {
				t.Fatalf("taints of others: want %q, got %q", foreign, got)
			}
			if got := of(maps.Keys(node.Labels), "other/"); !slices.Equal(got, slices.Sorted(slices.Values(foreign))) {
				t.Fatalf("labels of others: want %q, got %q", foreign, got)
			}
		}
	})
}

// keysIn returns the different words of a text that are valid names of labels.
func keysIn(text string) []string {
	var all []string
	for _, word := range strings.Fields(text) {
		if !slices.Contains(all, word) && !strings.ContainsAny(word, ",/:") {
			all = append(all, word)
		}
	}
	return all
}

// of returns the names within a domain, sorted.
func of(keys func(func(string) bool), domain string) []string {
	var all []string
	for key := range keys {
		if name, ok := strings.CutPrefix(key, domain); ok {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

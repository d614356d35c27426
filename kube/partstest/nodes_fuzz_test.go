package partstest

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/nodes"
)

// FuzzKeys holds that a list's keys are exactly the keys of its entries, each once, in the order of the list, and that pools
// of different clusters never share an index value.
func FuzzKeys(f *testing.F) {
	for _, list := range []string{
		"aws:///eu-west-1a/i-0abc\naws:////i-0abc\naws:///eu-west-1b/i-0def", "", "\n\n", "azure:///A/b\nazure:///a/B\nx",
		"gce://p/z/i\ngce://p/z/j\ngce://p/z/i", "gce://p/z/i /\ngce://p/z/i",
	} {
		f.Add(list, "default", "capa")
	}
	f.Fuzz(func(t *testing.T, text, namespace, cluster string) {
		ids := strings.Split(text, "\n")
		keys := nodes.Keys(ids)
		var want []string
		for _, id := range ids {
			if key := cloud.ProviderKey(id); key != "" && !slices.Contains(want, key) {
				want = append(want, key)
			}
		}
		if !slices.Equal(keys, want) {
			t.Fatalf("want %q for %q, got %q", want, ids, keys)
		}
		if again := nodes.Keys(keys); !slices.Equal(again, keys) {
			t.Errorf("want the keys of keys to be the same, got %q, then %q", keys, again)
		}
		pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
			Spec: clusterv1.MachinePoolSpec{ClusterName: cluster, ProviderIDList: ids}}
		mine := nodes.PoolKeys(pool)
		if len(mine) != len(keys) {
			t.Fatalf("want %d values of the index, got %q", len(keys), mine)
		}
		other := pool.DeepCopy()
		other.Spec.ClusterName += "-2"
		for _, value := range nodes.PoolKeys(other) {
			if !strings.Contains(namespace+cluster, " ") && slices.Contains(mine, value) {
				t.Errorf("want two clusters apart, got %q for both", value)
			}
		}
	})
}

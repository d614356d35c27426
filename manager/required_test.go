package manager

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		kinds   []string
		version string
		want    string
	}{
		"all": {reason: "the contract's kinds are there", kinds: []string{"Cluster", "MachinePool", "Machine"}, version: "v1beta2"},
		"none": {reason: "a cluster without Cluster API", version: "v1beta2",
			want: "kind Cluster of cluster.x-k8s.io is not served: install Cluster API first, with clusterctl init"},
		"one missing": {reason: "the definition was deleted", kinds: []string{"Cluster", "Machine"}, version: "v1beta2",
			want: "kind MachinePool of cluster.x-k8s.io is not served"},
		"older": {reason: "an older Cluster API", kinds: []string{"Cluster", "MachinePool", "Machine"}, version: "v1beta1",
			want: "kind Cluster of cluster.x-k8s.io is served in v1beta1, not in v1beta2"},
	} {
		mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: clusterv1.GroupVersion.Group, Version: tc.version}})
		for _, kind := range tc.kinds {
			mapper.Add(schema.GroupVersionKind{Group: clusterv1.GroupVersion.Group, Version: tc.version, Kind: kind}, meta.RESTScopeNamespace)
		}
		err := missing(mapper)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %s: want %q, got %v", name, tc.reason, tc.want, err)
		}
	}
}

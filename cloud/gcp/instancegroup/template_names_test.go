package instancegroup_test

import (
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/template"
)

func TestOtherCluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		labels map[string]string
		want   string
	}{
		{"no labels", nil, ""},
		{"the pool's cluster", map[string]string{"capg-cluster-c": "owned"}, ""},
		{"the pool's cluster, by its name in GKE", map[string]string{"capg-cluster-gke-c": "owned"}, ""},
		{"another cluster", map[string]string{"capg-cluster-d": "owned"}, "d"},
		{"a cluster that shares", map[string]string{"capg-cluster-d": "shared"}, ""},
		{"a pool of this cluster", map[string]string{template.LabelCluster: "c"}, ""},
		{"a pool of another cluster", map[string]string{template.LabelCluster: "e", "capg-cluster-c": "owned"}, "e"},
	} {
		if got := template.OtherCluster(c.labels, cloud.Owner{Cluster: "c"}, "gke-c"); got != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
		}
	}
}

package skew_test

import (
	"testing"

	"github.com/muster-project/muster/kube/skew"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	const blocked = "BlocksControlPlane: KubeadmControlPlane demo can't go beyond v1.33 before the nodes of v1.30 are replaced"
	for _, c := range []struct {
		why           string
		nodes         []string
		wanted, plane string
		want          string
	}{
		{"as old as may be, and to be replaced", []string{"v1.33.0", "v1.30.2"}, "v1.33.0", "v1.33.4", blocked},
		{"a vendor's suffix", []string{"v1.30.2-eks-1552ad0"}, "v1.33", "1.33", blocked},
		{"one minor version is left", []string{"v1.31.2"}, "v1.33.0", "v1.33.4", ""},
		{"nothing is to be replaced", []string{"v1.30.2"}, "v1.30.4", "v1.33.4", ""},
		{"no control plane", []string{"v1.30.2"}, "v1.33.0", "", ""},
		{"no version is wanted", []string{"v1.30.2"}, "", "v1.33.4", ""},
		{"a node that does not say", []string{""}, "v1.33.0", "v1.33.4", ""},
	} {
		if got := skew.Blocks(c.nodes, c.wanted, skew.ControlPlane{Kind: "KubeadmControlPlane", Name: "demo", Version: c.plane}); got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

package machinepool_test

import (
	"strings"
	"testing"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
)

func TestUnsupported(t *testing.T) {
	t.Parallel()
	const tooOld = "the bootstrap provider for kubeadm doesn't support Kubernetes version lower than v1.22.0"
	for _, tc := range []struct{ why, group, kind, version, want string }{
		{"the oldest supported version", bootstrapv1.GroupVersion.Group, "KubeadmConfig", "v1.22.0", ""},
		{"one older", bootstrapv1.GroupVersion.Group, "KubeadmConfig", "v1.21.14",
			"KubeadmConfig boot can't be rendered for spec.template.spec.version v1.21.14: " + tooOld},
		{"much older", bootstrapv1.GroupVersion.Group, "KubeadmConfig", "v1.16.8",
			"KubeadmConfig boot can't be rendered for spec.template.spec.version v1.16.8: " + tooOld},
		{"kubeadm needs a version", bootstrapv1.GroupVersion.Group, "KubeadmConfig", "",
			`KubeadmConfig boot needs spec.template.spec.version to be a Kubernetes version, found ""`},
		{"and a valid one", bootstrapv1.GroupVersion.Group, "KubeadmConfig", "latest",
			`KubeadmConfig boot needs spec.template.spec.version to be a Kubernetes version, found "latest"`},
		{"other kinds decide by themselves", bootstrapv1.GroupVersion.Group, "EKSConfig", "", ""},
		{"also kinds of that name of another group", "bootstrap.example.com", "KubeadmConfig", "", ""},
	} {
		got := reference.UnsupportedBootstrap(
			clusterv1.ContractVersionedObjectReference{APIGroup: tc.group, Kind: tc.kind, Name: "boot"}, tc.version)
		switch {
		case tc.want == "" && got != nil:
			t.Errorf("%s: want it supported, got %v", tc.why, got)
		case tc.want != "" && (got == nil || got.Reason != status.VersionNotSupportedReason || !strings.HasPrefix(got.Message, tc.want)):
			t.Errorf("%s: want %q, got %v", tc.why, tc.want, got)
		}
	}
}

package install

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// helmVariable names the environment variable with the path of a built helm.
const helmVariable = "HELM"

// TestHelm follows the page's section with helm itself: it installs the chart, and removes it.
func TestHelm(t *testing.T) {
	binary := os.Getenv(helmVariable)
	if binary == "" {
		t.Skipf("set %s to the path of a built helm: make helm-test does. To build it takes minutes, which every release spends", helmVariable)
	}
	c := newCluster(t)
	c.createClusterAPI(t)
	c.helm(t, binary, installHelm)
	c.wantObjects(t, "config/default")
	c.wantManager(t)
	c.wantTrust(t, "config/default")
	c.helm(t, binary, "helm uninstall muster --namespace "+namespace)
	if left := c.kubectl(t, "kubectl get -o name customresourcedefinition awsmachinepools.infrastructure.cluster.x-k8s.io"); left == "" {
		t.Error("want the definitions kept, and the objects with them")
	}
	if left := c.kubectl(t, "kubectl get -o name --ignore-not-found --namespace "+namespace+
		" deployment muster-controller-manager"); left != "" {
		t.Errorf("want the manager removed, found %s", left)
	}
}

// helm runs a command of helm.
func (c *cluster) helm(t *testing.T, binary, command string) {
	t.Helper()
	home := t.TempDir()
	run := exec.CommandContext(t.Context(), binary, strings.Fields(command)[1:]...)
	run.Env = []string{"HOME=" + home, "KUBECONFIG=" + c.File}
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

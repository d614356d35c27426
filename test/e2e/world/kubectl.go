package world

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Kubectl runs "muster kubectl" against the management cluster and fails the test when it fails.
func (w *World) Kubectl(args ...string) string {
	w.T.Helper()
	out, err := w.Try("", append([]string{"--kubeconfig", w.Kubeconfig}, args...)...)
	if err != nil {
		w.T.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Apply applies manifests with kubectl.
func (w *World) Apply(manifests string) {
	w.T.Helper()
	if out, err := w.Try(manifests, "--kubeconfig", w.Kubeconfig, "apply", "-f", "-"); err != nil {
		w.T.Fatalf("kubectl apply: %v\n%s", err, out)
	}
}

// Workload runs "muster kubectl" against a workload cluster of namespace default.
func (w *World) Workload(cluster string, args ...string) string {
	w.T.Helper()
	out, err := w.Try("", append([]string{"--kubeconfig", w.ClusterKubeconfig(cluster)}, args...)...)
	if err != nil {
		w.T.Fatalf("kubectl %s on the workload cluster: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// ApplyTo applies manifests to a workload cluster of namespace default.
func (w *World) ApplyTo(cluster, manifests string) {
	w.T.Helper()
	if out, err := w.Try(manifests, "--kubeconfig", w.ClusterKubeconfig(cluster), "apply", "-f", "-"); err != nil {
		w.T.Fatalf("kubectl apply on the workload cluster: %v\n%s", err, out)
	}
}

// ClusterKubeconfig is the kubeconfig of a workload cluster of namespace default.
func (w *World) ClusterKubeconfig(cluster string) string {
	return filepath.Join(w.Dir, "clusters", "default-"+cluster+".kubeconfig")
}

// Try runs kubectl and gives what it printed.
func (w *World) Try(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), WaitLimit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary, append([]string{"kubectl"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

package world

import (
	"context"
	"os"
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

// ClusterKubeconfig returns the kubeconfig of a workload cluster of namespace default.
func (w *World) ClusterKubeconfig(cluster string) string {
	return filepath.Join(w.Dir, "clusters", "default-"+cluster+".kubeconfig")
}

// Muster runs a command of the binary with the kubeconfig of the management cluster, and returns what it printed. The account that the
// environment names is another than the one of the world's pools.
func (w *World) Muster(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), WaitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig, "AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_ACCESS_KEY_ID=other",
		"AWS_SECRET_ACCESS_KEY=other")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Adopt has a pool adopt the group of its name as a user does: first the plan, which must replace no machine and set nothing, then the
// adoption.
func (w *World) Adopt(pool, group string) {
	w.T.Helper()
	dry, err := w.Muster("adopt", "machinepool/"+pool, "--group", group, "--dry-run")
	for _, want := range []string{"No machine is replaced", "Adopts "} {
		if err != nil || !strings.Contains(dry, want) {
			w.T.Fatalf("muster adopt --dry-run: want %q, got %v\n%s", want, err, dry)
		}
	}
	const annotation = `{.metadata.annotations.muster\.dev/adopt}`
	if got := w.Read(annotation, "machinepool/"+pool); got != "" {
		w.T.Fatalf("want nothing set by --dry-run, got muster.dev/adopt: %s", got)
	}
	if out, err := w.Muster("adopt", "machinepool/"+pool, "--group", group); err != nil {
		w.T.Fatalf("muster adopt: %v\n%s", err, out)
	}
	w.Wait("machinepool/"+pool, annotation, group)
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

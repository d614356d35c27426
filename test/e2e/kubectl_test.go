package e2e

import (
	"bufio"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muster-project/muster/test/e2e/world"
)

// TestKubectlKeepsExitCodes holds that "muster kubectl" is kubectl for scripts too.
func TestKubectlKeepsExitCodes(t *testing.T) {
	t.Parallel()
	world.NeedsBinary(t)
	for _, tc := range []struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		{reason: "a command that works", args: []string{"create", "configmap", "a", "--dry-run=client", "-o", "name"}, want: "configmap/a"},
		{reason: "a command that does not exist, and no plugin is looked for", args: []string{"no-such-command"}, code: 1,
			want: `unknown command "no-such-command" for "kubectl"`},
		{reason: "its version is one that scripts can read", args: []string{"version", "--client"}, want: "Client Version: v1."},
		{reason: "help is kubectl's own", args: []string{"get", "--help"}, want: "Display one or many resources"},
		{reason: "flags before the command are kubectl's", args: []string{"--kubeconfig", "/no/such/file", "get", "pods"}, code: 1,
			want: "/no/such/file"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), world.Binary, append([]string{"kubectl"}, tc.args...)...).CombinedOutput()
			code := 0
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			if code != tc.code || !strings.Contains(string(out), tc.want) {
				t.Errorf("want exit code %d and %q, got %d (%v) and\n%s", tc.code, tc.want, code, err, out)
			}
		})
	}
}

// TestKubectlEndsAtTheFirstSignal: a drain that waits for a budget is ended by one Ctrl-C, as with kubectl itself.
func TestKubectlEndsAtTheFirstSignal(t *testing.T) {
	t.Parallel()
	world.NeedsBinary(t)
	requests, release := make(chan struct{}, 16), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		requests <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	cmd := exec.Command(world.Binary, "kubectl", "--kubeconfig", os.DevNull, "--server", server.URL, "get", "--raw", "/healthz")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-requests:
	case err := <-ended:
		t.Fatalf("want it to ask the server, it ended: %v", err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
			t.Errorf("want it ended by the signal, got %v", err)
		}
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Error("want it ended by the first signal, it went on")
	}
}

// watchTree has "muster tree --watch" follow the built-in pool while do changes it, until a line holds want, and ends it as Ctrl-C does.
func watchTree(w *world.World, want string, do func()) {
	w.T.Helper()
	cmd := exec.CommandContext(w.T.Context(), world.Binary, "tree", "mp/capa-mp-0", "--watch")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.T.Fatal(err)
	}
	limit := time.AfterFunc(2*world.WaitLimit, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "OBJECT ") {
		w.T.Errorf("want the tree as it is at first, got %q", lines.Text())
	}
	do()
	found := false
	for lines.Scan() {
		if !found && strings.Contains(lines.Text(), want) {
			found = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				w.T.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !found {
		w.T.Errorf("want a line with %q from muster tree --watch, and a clean end, got found: %t, %v", want, found, err)
	}
}

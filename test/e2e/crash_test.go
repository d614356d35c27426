package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestKilledWorldIsFoundAgain kills "muster up" in the middle of a creation and again at rest: the same folder goes on
// where it was, on the same ports, with nothing created twice or lost.
func TestKilledWorldIsFoundAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir)
	first.eventually("the group to be there", func() error {
		if len(first.account().holds().groups) == 0 {
			return fmt.Errorf("there is none")
		}
		return nil
	})
	first.kill()

	second := start(t, dir)
	if first.kubeconfig != second.kubeconfig || first.endpoint != second.endpoint {
		t.Errorf("want the world where it was: %s and %s, got %s and %s", first.kubeconfig, first.endpoint, second.kubeconfig, second.endpoint)
	}
	refusesASecondWorld(t, dir)
	second.ready("capa-mp-0", 2)
	before := holdsOneGroupOfTwo(second)
	second.kubectl("scale", "machinepool/capa-mp-0", "--replicas=3")
	second.ready("capa-mp-0", 3)
	second.kill()

	third := start(t, dir)
	third.ready("capa-mp-0", 3)
	if got := third.kubectl("get", "machinepool/capa-mp-0", "-o", "jsonpath={.spec.replicas}"); got != "3" {
		t.Errorf("want the size that was asked for before the crash, got %s: seeding has undone it", got)
	}
	after := third.account().holds()
	if len(after.instances) != 3 || after.groups[0] != before.groups[0] {
		t.Errorf("want the same group with one instance more than %v, got %v", before, after)
	}
	nodes(third, 3)
}

// refusesASecondWorld checks that nobody starts a world where one runs.
func refusesASecondWorld(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, muster, "up", "--dir", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another world uses this directory") {
		t.Errorf("want a refusal, got %v and\n%s", err, out)
	}
}

// holdsOneGroupOfTwo checks that a crash in the middle has created nothing twice.
func holdsOneGroupOfTwo(w *world) holdings {
	w.t.Helper()
	h := w.account().holds()
	if len(h.groups) != 1 || len(h.templates) != 1 || len(h.instances) != 2 {
		w.t.Fatalf("want one group, one launch template, two instances, got %v", h)
	}
	return h
}

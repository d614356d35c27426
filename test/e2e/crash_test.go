package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// TestLongKilledWorldIsFoundAgain kills "muster up" in the middle of a creation and again at rest: a restart in the same folder continues,
// on the same ports, with nothing created twice or lost.
func TestLongKilledWorldIsFoundAgain(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	dir := t.TempDir()
	first := world.Start(t, dir)
	first.Eventually("the group to be there", func() error {
		if len(account.Of(first).Holds().Groups) == 0 {
			return fmt.Errorf("there is none")
		}
		return nil
	})
	first.Kill()

	second := world.Start(t, dir)
	if first.Kubeconfig != second.Kubeconfig || first.Endpoint != second.Endpoint {
		t.Errorf("want the world where it was: %s and %s, got %s and %s", first.Kubeconfig, first.Endpoint, second.Kubeconfig, second.Endpoint)
	}
	refusesASecondWorld(t, dir)
	second.Ready("capa-mp-0", 2)
	before := holdsOneGroupOfTwo(second)
	second.Kubectl("scale", "machinepool/capa-mp-0", "--replicas=3")
	second.Ready("capa-mp-0", 3)
	second.Kill()

	third := world.Start(t, dir)
	third.Ready("capa-mp-0", 3)
	if got := third.Read("{.spec.replicas}", "machinepool/capa-mp-0"); got != "3" {
		t.Errorf("want the size that was asked for before the crash, got %s: seeding has undone it", got)
	}
	after := account.Of(third).Holds()
	if len(after.Instances) != 3 || after.Groups[0] != before.Groups[0] {
		t.Errorf("want the same group with one instance more than %v, got %v", before, after)
	}
	account.Nodes(third, 3)
}

// refusesASecondWorld checks that no second world starts where one runs.
func refusesASecondWorld(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, world.Binary, "up", "--dir", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another world uses this directory") {
		t.Errorf("want a refusal, got %v and\n%s", err, out)
	}
}

// holdsOneGroupOfTwo checks that a crash in the middle has created nothing twice.
func holdsOneGroupOfTwo(w *world.World) account.Holdings {
	w.T.Helper()
	h := account.Of(w).Holds()
	if len(h.Groups) != 1 || len(h.Templates) != 1 || len(h.Instances) != 2 {
		w.T.Fatalf("want one group, one launch template, two instances, got %v", h)
	}
	return h
}

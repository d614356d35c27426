package e2e

import (
	"fmt"
	"testing"
)

// TestKilledWorldIsFoundAgain kills "muster up" in the middle of a creation and again at rest: the same folder goes on
// where it was, on the same ports, with nothing created twice or lost.
func TestKilledWorldIsFoundAgain(t *testing.T) {
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

// holdsOneGroupOfTwo checks that a crash in the middle has created nothing twice.
func holdsOneGroupOfTwo(w *world) holdings {
	w.t.Helper()
	h := w.account().holds()
	if len(h.groups) != 1 || len(h.templates) != 1 || len(h.instances) != 2 {
		w.t.Fatalf("want one group, one launch template, two instances, got %v", h)
	}
	return h
}

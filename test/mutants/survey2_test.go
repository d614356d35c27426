package mutants

import "testing"

func TestBuildUnits(t *testing.T) {
	if *survey == 0 {
		t.Skip()
	}
	if _, err := Build(t.Context(), root, "/tmp/e2/units", Table(), []Binary{Pool, Engine, Infrapool, "kube/machinepool", Drain}); err != nil {
		t.Fatal(err)
	}
}

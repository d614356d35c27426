package plan

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
)

// TestInPlaceIsTold holds that changes to machines that stay are reported, and that none of these is reported as removed.
func TestInPlaceIsTold(t *testing.T) {
	t.Parallel()
	l := stocked(4, by(1, 0), scaleSets, func(l *preview.Look) {
		l.Observed.Wanted.Content = "v1:a"
		l.Observed.Group.Drift = []string{"spec.additionalTags"}
		for k := range 3 {
			l.Observed.Instances[k].InPlaceDrift = []string{"spec.additionalTags"}
			l.Observed.Instances[k].ScaleInUnprotected = true
		}
	})
	p := Plan{Namespace: "default", Name: "workers", Infrastructure: Reference{"AzureMachinePool", "workers"}}
	p.fill(l)
	if want := "No machine is replaced; 3 machines are changed in place. 4 of 4 are Ready."; p.Headline != want {
		t.Errorf("want %q, got %q", want, p.Headline)
	}
	if want := "UpdateGroup Apply Protect"; strings.Join(p.Steps, " ") != want {
		t.Errorf("want the steps %s, got %v", want, p.Steps)
	}
	if len(p.InPlace) != 3 || p.InPlace[0].Node != "node-i-00" || strings.Join(p.InPlace[0].Fields, " ") != "spec.additionalTags" ||
		p.Replaced+p.Removed+p.Added > 0 {
		t.Errorf("want three machines with their nodes and fields, and none that goes, got %+v", p)
	}
	var b strings.Builder
	if err := Text(&b, []Plan{p}); err != nil || !strings.Contains(b.String(), "in place   i-01       node-i-01   b      ChangedInPlace") {
		t.Errorf("want them in the table, got %v:\n%s", err, b.String())
	}
}

// TestFollowSizedElsewhere holds that a size that an autoscaler owns is kept by surge machines.
func TestFollowSizedElsewhere(t *testing.T) {
	t.Parallel()
	l := stocked(3, by(1, 0), scaleSets, func(l *preview.Look) { l.Desired.ReplicasManagedExternally, l.Desired.Replicas = true, 0 })
	if got, want := Simulate(l).say(), "3 replaced in [1 1 1], 0 rolled, 0 removed, 0 added, 3 to 4, Done"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestFollowLeavesScaleSetsAlone holds that a forecast does not modify the observed group.
func TestFollowLeavesScaleSetsAlone(t *testing.T) {
	t.Parallel()
	l := stocked(2, by(1, 0), scaleSets)
	before := *l.Observed.Group
	_ = Simulate(l)
	if l.Observed.Group.Template != before.Template || len(l.Observed.Versions) != 1 ||
		l.Observed.Versions[0] != (pool.Template{Ref: "lt:1", Content: "v1:a", Data: "d"}) {
		t.Errorf("want what was observed left alone, got %+v with %+v", l.Observed.Group, l.Observed.Versions)
	}
}

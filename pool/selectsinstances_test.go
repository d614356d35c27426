package pool

import "testing"

// A cloud that selects the instances that go is given a size, and nothing is drained or removed by name, whatever speaks against an
// instance.
func TestCloudSelectsInstances(t *testing.T) {
	virtual := traits
	virtual.ProviderRollout, virtual.RolloutOnTemplateChange, virtual.SelectsInstances, virtual.ReplaceKeepsSize = true, true, true, false
	gone := func(i *Instance) { i.DeletionRequested = &Cause{"MachineDeleted", "its Machine"} }
	for _, c := range []struct {
		reason string
		d      Desired
		o      Observed
		want   StepKind
		size   int
	}{
		{"fewer are wanted", wants(1), fleet(serving(3)), Resize, 1},
		{"more are wanted", wants(4), fleet(serving(3)), Resize, 4},
		{"as many as there are", wants(3), fleet(serving(3)), "", 0},
		{"another client sizes the group", wants(1, external), fleet(serving(3)), "", 0},
		{"the size is lower already", wants(1), fleet(serving(3), func(o *Observed) { o.Group.Size = 1 }), "", 0},
		{"a marked instance", wants(3), fleet(serving(3, marked)), "", 0},
		{"one whose deletion was requested", wants(3), fleet(serving(3, gone)), "", 0},
		{"one that failed", wants(3), fleet(serving(3, failed)), "", 0},
		{"another template is the cloud's", wants(3), fleet(serving(3), newTemplate), StartProviderRollout, 0},
		{"no pool is wanted", wants(0), fleet(serving(2)), Resize, 0},
	} {
		got := Step{}
		if s := Decide(c.d, c.o, virtual, now).Step; s != nil {
			got = *s
		}
		if got.Kind != c.want || got.Size != c.size || got.Kind == Resize && len(got.Targets) > 0 {
			t.Errorf("%s: want %s to %d, got %+v", c.reason, c.want, c.size, got)
		}
	}
}

package sim_test

import (
	"errors"
	"testing"

	"github.com/muster-project/muster/sim"
)

func TestOutOfBandActions(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	var on []sim.Resource
	actions := sim.OutOfBandActions{
		sim.SetSize:     func(it sim.Resource) error { on = append(on, it); return nil },
		sim.ChangeTag:   func(sim.Resource) error { return refused },
		sim.RemoveHooks: nil,
	}
	for _, c := range []struct {
		reason string
		action sim.Action
		has    bool
		failed bool
		is     error
	}{
		{"a action that works", sim.SetSize, true, false, nil},
		{"a action that the cloud refuses says so with its error", sim.ChangeTag, true, true, refused},
		{"a action that the cloud has no word for is no failure", sim.RemoveHooks, false, false, nil},
		{"a action that was forgotten is one", sim.ResumeProcesses, false, true, nil},
	} {
		has, err := actions.Do(c.action, sim.Resource{Name: "g", Size: 2})
		if has != c.has || (err != nil) != c.failed || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: want %t, failed = %t with %v; got %t, %v", c.reason, c.has, c.failed, c.is, has, err)
		}
	}
	if len(on) != 1 || on[0] != (sim.Resource{Name: "g", Size: 2}) {
		t.Errorf("want the action done once to what was said, got %+v", on)
	}
}

// TestWithPools holds that a resource that names a cluster is one of its pools, and that others are groups.
func TestWithPools(t *testing.T) {
	t.Parallel()
	done := ""
	note := func(what string) func(sim.Resource) error {
		return func(sim.Resource) error { done += what; return nil }
	}
	actions := sim.OutOfBandActions{sim.SetSize: note("group "), sim.ChangeTag: note("tag "), sim.StopGroup: nil, sim.RemoveHooks: nil}.
		WithPools(sim.OutOfBandActions{sim.SetSize: note("pool "), sim.StopGroup: note("stop ")})
	for _, c := range []struct {
		action      sim.Action
		cluster     string
		has, failed bool
	}{
		{sim.SetSize, "", true, false},
		{sim.SetSize, "c", true, false},
		{sim.ChangeTag, "c", true, false},
		{sim.StopGroup, "c", true, false},
		{sim.StopGroup, "", true, true},
		{sim.RemoveHooks, "c", false, false},
	} {
		if has, err := actions.Do(c.action, sim.Resource{Cluster: c.cluster}); has != c.has || (err != nil) != c.failed {
			t.Errorf("%s in %q: want %t, failed = %t; got %t, %v", c.action, c.cluster, c.has, c.failed, has, err)
		}
	}
	if want := "group pool tag stop "; done != want {
		t.Errorf("want %q, got %q", want, done)
	}
}

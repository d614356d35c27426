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

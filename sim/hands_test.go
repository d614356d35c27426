package sim_test

import (
	"errors"
	"testing"

	"github.com/muster-project/muster/sim"
)

func TestHands(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	var on []sim.Thing
	hands := sim.Hands{
		sim.SetSize: func(it sim.Thing) error { on = append(on, it); return nil },
		sim.Retag:   func(sim.Thing) error { return refused },
		sim.Unhook:  nil,
	}
	for _, c := range []struct {
		reason string
		deed   sim.Deed
		has    bool
		failed bool
		is     error
	}{
		{"a deed that works", sim.SetSize, true, false, nil},
		{"a deed that the cloud refuses says so with its error", sim.Retag, true, true, refused},
		{"a deed that the cloud has no word for is no failure", sim.Unhook, false, false, nil},
		{"a deed that was forgotten is one", sim.Resume, false, true, nil},
	} {
		has, err := hands.Do(c.deed, sim.Thing{Name: "g", Size: 2})
		if has != c.has || (err != nil) != c.failed || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: want %t, failed = %t with %v; got %t, %v", c.reason, c.has, c.failed, c.is, has, err)
		}
	}
	if len(on) != 1 || on[0] != (sim.Thing{Name: "g", Size: 2}) {
		t.Errorf("want the deed done once to what was said, got %+v", on)
	}
}

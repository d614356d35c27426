package sim_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
)

// Skip, Times and Probability choose among the matches, and the same seed chooses the same.
func TestFaultsAreCountedAndDrawn(t *testing.T) {
	played := func(seed sim.Seed, f sim.Fault) []int {
		faults := sim.NewFaults(seed, sim.Known{})
		if err := faults.Add(f); err != nil {
			t.Fatal(err)
		}
		var out []int
		for n := range 40 {
			if len(faults.ForRequest(sim.Request{Service: "ec2", Action: "RunInstances"})) > 0 {
				out = append(out, n)
			}
		}
		return out
	}
	if got, want := played(1, sim.Fault{Kind: sim.Throttle, Skip: 3, Times: 2}), []int{3, 4}; !slices.Equal(got, want) {
		t.Errorf("skip 3, times 2: want %v, got %v", want, got)
	}
	half := played(1, sim.Fault{Kind: sim.Throttle, Probability: 0.5})
	if len(half) < 10 || len(half) > 30 {
		t.Errorf("a chance of one half: want about 20 of 40, got %d", len(half))
	}
	if again := played(1, sim.Fault{Kind: sim.Throttle, Probability: 0.5}); !slices.Equal(half, again) {
		t.Errorf("the same seed: want %v, got %v", half, again)
	}
	if other := played(2, sim.Fault{Kind: sim.Throttle, Probability: 0.5}); slices.Equal(half, other) {
		t.Errorf("another seed: want another choice than %v", half)
	}
}

func TestFaultsAreChecked(t *testing.T) {
	known := sim.Known{Actions: map[string][]string{"ec2": {"RunInstances", "CreateTags"}, "sts": {"AssumeRole"}}, Zones: []string{"a", "b"}}
	for _, c := range []struct {
		fault sim.Fault
		want  string
	}{
		{sim.Fault{}, `kind ""`},
		{sim.Fault{Kind: "sleepy"}, `kind "sleepy"`},
		{sim.Fault{Kind: sim.Throttle, Probability: 2}, "probability 2"},
		{sim.Fault{Kind: sim.Throttle, Action: "["}, "action pattern"},
		{sim.Fault{Kind: sim.PageLimit}, "page limit of 0"},
		{sim.Fault{Kind: sim.Throttle, Times: -1}, "times is below 0"},
		{sim.Fault{Kind: sim.Delay, Delay: -1}, "delay is below 0"},
		{sim.Fault{Kind: sim.Throttle, Service: "ec3"}, `service "ec3" is none of ["ec2" "sts"]`},
		{sim.Fault{Kind: sim.Throttle, Action: "RunInstance"}, `action "RunInstance" is none of ["AssumeRole" "CreateTags" "RunInstances"]`},
		{sim.Fault{Kind: sim.Throttle, Service: "ec2", Action: "Assume*"}, `action "Assume*" is none of ["CreateTags" "RunInstances"]`},
		{sim.Fault{Kind: sim.NoCapacity, Zone: "c"}, `zone "c" is none of ["a" "b"]`},
	} {
		if err := sim.NewFaults(0, known).Add(sim.Fault{Kind: sim.Throttle}, c.fault); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: want it refused with %s, got %v", c.fault, c.want, err)
		}
	}
	err := sim.NewFaults(0, known).Add(sim.Fault{Kind: sim.Throttle, Action: "Run*"}, sim.Fault{Kind: sim.NoCapacity, Zone: "?"})
	if err != nil {
		t.Errorf("patterns that match: want them accepted, got %v", err)
	}
	for _, wrong := range []string{`{"kind":"throttle","acton":"RunInstances"}`, `[{"kind":"throttle","acton":"RunInstances"}]`} {
		if _, err := sim.ParseFaults([]byte(wrong)); err == nil || !strings.Contains(err.Error(), `"acton"`) {
			t.Errorf("%s: want the field named, got %v", wrong, err)
		}
	}
	list, err := sim.ParseFaults([]byte(`{"kind":"delay","delay":"1m30s"}`))
	if err != nil || len(list) != 1 || time.Duration(list[0].Delay) != 90*time.Second {
		t.Errorf("one rule: got %v, %v", list, err)
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sim.ParseFaults(b); err != nil || again[0] != list[0] {
		t.Errorf("want it read as it was written, got %v, %v", again, err)
	}
	if _, err := sim.ParseFaults([]byte(`{"kind":"delay","delay":"soon"}`)); err == nil {
		t.Errorf("want a duration that is none refused")
	}
}

func TestSpeed(t *testing.T) {
	var s sim.Speed
	if s.Of(10*time.Second) != time.Second {
		t.Errorf("by default: want a tenth, got %v", s.Of(10*time.Second))
	}
	s.Set(100)
	if s.Of(10*time.Second) != 100*time.Millisecond {
		t.Errorf("at 100: want a hundredth, got %v", s.Of(10*time.Second))
	}
	s.Set(-1)
	if s.Factor() != sim.DefaultSpeed {
		t.Errorf("nonsense: want the default, got %v", s.Factor())
	}
}

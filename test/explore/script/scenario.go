// Package script has what happens to pools in a world: scenarios as data, what can happen to each kind of pool, and how scenarios are
// drawn from seeds. Package world plays them.
package script

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/machinecontroller"
)

// Scenario is everything that happens to one pool. It is data, so that it can be drawn from a seed, shown and shortened.
type Scenario struct {
	// Name of a golden scenario, empty for one that was drawn from its Seed.
	Name string
	Seed uint64
	// Kind is the kind of its pool. Own holds the parameters that only this kind has, in a type of the kind.
	Kind *Kind
	Own  any
	// Zones spreads the pool over zones.
	Zones bool
	// Brought is true if a user made the launch template and makes its versions.
	Brought bool
	// The pool as it is made: its replicas and bounds, who sizes it, how long a node's drain may take, and how many pods
	// a machine of it has to carry.
	Replicas, Least, Most int
	External              bool
	DrainTimeout          time.Duration
	Pods                  int
	// Strategy holds the rollout limits. Nil selects the default.
	Strategy *Limits
	// Refresh selects the refresh preferences of a pool without Strategy: none, with checkpoints, with surplus machines, or disabled. ByGroup
	// is true if the pool refers to those in the group's own refresh.
	Refresh Refresh
	ByGroup bool
	// SkipModel is true if changed templates replace no machine. Spot machines can be interrupted.
	SkipModel, Spot bool
	// Speed is the factor by which machines start and stop faster than in a real cloud.
	Speed float64
	// Named pools refer in spec.providerID to the group of another tool. It exists without Muster's owner tag until a user deletes it.
	Named bool
	// Adopted pools take over the group of another provider. It exists before the object, with that provider's tags, until a user requests its
	// adoption.
	Adopted bool
	// Switches holds the simulator switches that are on during the whole scenario.
	Switches sim.Switches
	// Policy is the rollout policy that selects the pools; nil for none.
	Policy *Policy
	// Rests is the length of the additional quiet time at the end.
	Rests time.Duration
	// Neighbours is true if other controllers are at work in the workload cluster.
	Neighbours bool
	// Denied is a secondary read that the credentials never allow, empty for none.
	Denied string
	// Additional holds the additional pools with their own parameters. They share the kind, speed, end and Events of the first pool.
	Additional []Scenario
	// Events lists the events in their order.
	Events []Event
	// Ends is the time after the last edit, fault or out-of-band change.
	Ends time.Duration
}

// Of returns the scenario of the pool with an index: that of the first pool, or of an additional one.
func (s Scenario) Of(at int) Scenario {
	own := s
	if at > 0 {
		own = s.Additional[at-1]
		own.Seed, own.Kind, own.Speed, own.Ends, own.Switches, own.Denied = s.Seed, s.Kind, s.Speed, s.Ends, s.Switches, s.Denied
	}
	own.Events, own.Additional = nil, nil
	for _, e := range s.Events {
		if e.Pool == at || e.What == CloudFault {
			own.Events = append(own.Events, e)
		}
	}
	return own
}

// Machines describes the infrastructure objects of single machines in the scenario; nil if there are none.
func (s Scenario) Machines() *machinecontroller.Infra {
	if s.Kind.HaveMachines != nil && !s.Kind.HaveMachines(s) {
		return nil
	}
	return s.Kind.Machines
}

// Boots is bootstrap data with a token.
func (s Scenario) Boots(token string) string {
	if s.Kind.Bootstrap != nil {
		return s.Kind.Bootstrap(token)
	}
	return fmt.Sprintf("#cloud-config\nwrite_files: [{path: /run/kubeadm/config.yaml, content: \"discovery: {bootstrapToken: {token: "+
		"%s}}\"}]\n", token)
}

// Refresh are some preferences of a group's own refresh.
type Refresh int

// The preferences.
const (
	Plain Refresh = iota
	Checkpoints
	Surplus
	Disabled
)

// Limits are a strategy's values, as a user writes them.
type Limits struct {
	Surge, Unavailable, Policy string
}

// Spec returns a strategy as the object has it.
func (l *Limits) Spec() *common.Strategy {
	if l == nil {
		return nil
	}
	surge, unavailable := intstr.Parse(l.Surge), intstr.Parse(l.Unavailable)
	return &common.Strategy{Type: common.StrategyRollingUpdate, RollingUpdate: &common.RollingUpdate{
		MaxSurge: &surge, MaxUnavailable: &unavailable, DeletePolicy: common.DeletePolicy(l.Policy),
	}}
}

// Has reports whether something of the kind happens, by itself or between two calls of a pass.
func (s Scenario) Has(what What) bool {
	return slices.ContainsFunc(s.Events, func(e Event) bool { return e.What == what || e.Then == what })
}

// KeepsFromJoining reports whether a fault has machines not come, or not become nodes.
func (s Scenario) KeepsFromJoining() bool {
	return slices.ContainsFunc(s.Events, func(e Event) bool {
		return e.What == CloudFault && (e.Fault.Kind == sim.NoCapacity || e.Fault.Kind == sim.Dies || e.Fault.Kind == sim.Impaired)
	})
}

// Without returns the scenario without some of its events, by their places.
func (s Scenario) Without(places ...int) Scenario {
	var events []Event
	for k, e := range s.Events {
		if !slices.Contains(places, k) {
			events = append(events, e)
		}
	}
	s.Events = events
	return s
}

// Insert adds an event in its place.
func (s *Scenario) Insert(e Event) {
	s.Events = append([]Event{e}, s.Events...)
	s.sort()
}

// sort puts the events in order of time; those of one moment stay as they were.
func (s *Scenario) sort() {
	slices.SortStableFunc(s.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
}

// Add adds an event; those of a scenario that is drawn are sorted in the end.
func (s *Scenario) Add(e Event) { s.Events = append(s.Events, e) }

// Edited is when what a golden scenario is about happens: the pool has come to rest by then. Its creation happens at once.
const Edited = 10 * time.Minute

// With returns the scenario of a pool that has come to rest, to which the events happen then.
func (s Scenario) With(events ...Event) Scenario {
	s.Events, s.Ends = events, Edited+After
	for k := range s.Events {
		s.Events[k].At += Edited
		s.Ends = max(s.Ends, s.Events[k].At+After)
	}
	return s
}

// Changed returns the scenario with a change.
func (s Scenario) Changed(change func(*Scenario)) Scenario {
	change(&s)
	return s
}

// Counted is from when on the effects of a golden scenario count.
func (s Scenario) Counted() time.Duration {
	if len(s.Events) == 0 {
		return 0
	}
	return Edited
}

// Suffix ends the names of what belongs to the pool at a place of a scenario.
func Suffix(at int) string {
	if at == 0 {
		return ""
	}
	return string(rune('1' + at))
}

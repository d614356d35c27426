package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"sync"
	"time"
)

// FaultKind is what a fault does.
type FaultKind string

// Faults of requests.
const (
	// Throttle refuses the request as if its rate were exceeded.
	Throttle FaultKind = "throttle"
	// ErrorBefore answers with an error and does nothing; ErrorAfter does what was asked and answers with an error all the same.
	ErrorBefore FaultKind = "error-before"
	ErrorAfter  FaultKind = "error-after"
	// DropBefore closes the connection without doing anything; DropAfter does what was asked and then closes it.
	DropBefore FaultKind = "drop-before"
	DropAfter  FaultKind = "drop-after"
	// Delay answers late, by Delay.
	Delay FaultKind = "delay"
	// Stale lets a read serve the state as it was Delay ago, or before the last Writes writes.
	Stale FaultKind = "stale"
	// PageLimit lets a list answer with at most Limit items a page, however many were asked for.
	PageLimit FaultKind = "page-limit"
	// Ignore accepts a write and does nothing of it. With a Field it does nothing about that field alone, and the rest of the request.
	Ignore FaultKind = "ignore"
)

// Faults of machines, played when one is launched.
const (
	// NoCapacity refuses a launch where Limit machines that match are there already.
	NoCapacity FaultKind = "no-capacity"
	// NeverBoots powers the machine on for the cloud's eyes alone: nothing ever happens inside.
	NeverBoots FaultKind = "never-boots"
	// Impaired lets the machine run and fail its status checks from Delay after its launch.
	Impaired FaultKind = "impaired"
	// Dies stops the machine for good at Delay after its launch.
	Dies FaultKind = "dies"
	// SpotInterruption takes a spot machine away: announced at Delay after its launch, gone two minutes later, whatever the speed.
	SpotInterruption FaultKind = "spot-interruption"
)

var requestKinds = []FaultKind{Throttle, ErrorBefore, ErrorAfter, DropBefore, DropAfter, Delay, Stale, PageLimit, Ignore}

var machineKinds = []FaultKind{NoCapacity, NeverBoots, Impaired, Dies, SpotInterruption}

// FaultKinds returns all kinds of faults.
func FaultKinds() []FaultKind { return slices.Concat(requestKinds, machineKinds) }

// Fault is one rule: what it matches, how often, and what it then does. Empty matches everything.
type Fault struct {
	// Name is shown in the call log.
	Name string    `json:"name,omitempty"`
	Kind FaultKind `json:"kind"`
	// Service and Action of a request; Action may be a pattern (Describe*). Resource is the name or ID that it is about.
	Service  string `json:"service,omitempty"`
	Action   string `json:"action,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Zone, Type and Group of a machine that is launched.
	Zone  string `json:"zone,omitempty"`
	Type  string `json:"type,omitempty"`
	Group string `json:"group,omitempty"`
	// Skip passes over that many matches first; Times bounds how often it is played, 0 being without end.
	Skip  int `json:"skip,omitempty"`
	Times int `json:"times,omitempty"`
	// Probability plays it by chance, drawn from the seed; 0 means always.
	Probability float64 `json:"probability,omitempty"`
	// Code, Message and Status of an error; empty means the service's own for an internal failure.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Status  int    `json:"status,omitempty"`
	// Delay of Delay, Stale and the machines' faults, in the clock of the simulator. Of Throttle on Azure: the value of Retry-After, 0 for
	// a reply without it.
	Delay Duration `json:"delay,omitempty"`
	// Writes of Stale: how many writes the read has not seen yet.
	Writes int `json:"writes,omitempty"`
	// Limit of NoCapacity: how many machines that match may exist. Of PageLimit: how many items a page holds, at least one.
	Limit int `json:"limit,omitempty"`
	// Field of Ignore: what is ignored of a request, by its path in the request as the cloud spells it ("DefaultInstanceWarmup",
	// "properties.upgradePolicy"), with all that lies below. Empty is the whole request. Requests without the field are no matches.
	Field string `json:"field,omitempty"`
}

// Duration is written as in "1m30s".
type Duration time.Duration

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what Go writes; anything else is an error.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("a duration such as 1m30s is wanted: %w", err)
	}
	*d = Duration(v)
	return nil
}

// Validate says what is wrong with the rule.
func (f Fault) Validate() error {
	if !slices.Contains(requestKinds, f.Kind) && !slices.Contains(machineKinds, f.Kind) {
		return fmt.Errorf("kind %q is none of %v, %v", f.Kind, requestKinds, machineKinds)
	}
	if f.Probability < 0 || f.Probability > 1 {
		return fmt.Errorf("probability %v is not within 0..1", f.Probability)
	}
	if f.Kind == PageLimit && f.Limit < 1 {
		return fmt.Errorf("a page limit of %d is below 1", f.Limit)
	}
	if f.Field != "" && f.Kind != Ignore {
		return fmt.Errorf("field %q: a fault of kind %q has none", f.Field, f.Kind)
	}
	for _, n := range []struct {
		field string
		value int64
	}{{"skip", int64(f.Skip)}, {"times", int64(f.Times)}, {"delay", int64(f.Delay)}, {"writes", int64(f.Writes)}, {"limit", int64(f.Limit)}} {
		if n.value < 0 {
			return fmt.Errorf("%s is below 0", n.field)
		}
	}
	if _, err := path.Match(f.Action, ""); err != nil {
		return fmt.Errorf("action pattern %q: %w", f.Action, err)
	}
	return nil
}

// Request is what faults of requests are matched against.
type Request struct {
	Service, Action, Resource string
	Mutating                  bool
	// Has reports whether the request says anything of a field; nil is of no field.
	Has func(field string) bool
}

// Launch is what faults of machines are matched against.
type Launch struct {
	Zone, Type, Group string
	// Existing are the machines that take up capacity, for NoCapacity.
	Existing iter.Seq[Launch]
}

// full reports whether as many machines exist as a rule of NoCapacity allows.
func (l Launch) full(x Fault) bool {
	n := 0
	if l.Existing != nil && x.Limit > 0 {
		for one := range l.Existing {
			if x.launches(one) {
				n++
			}
		}
	}
	return n >= x.Limit
}

// launches reports whether a rule matches a machine.
func (f Fault) launches(l Launch) bool {
	return matches(f.Zone, l.Zone) && matches(f.Type, l.Type) && matches(f.Group, l.Group)
}

// Faults is the set of rules in force.
type Faults struct {
	mu    sync.Mutex
	seed  Seed
	known Known
	rules []*rule
	draws int
}

type rule struct {
	Fault
	matched, played int
}

// NewFaults makes an empty set whose chances are drawn from the seed. Its rules have to match names that are known.
func NewFaults(seed Seed, known Known) *Faults { return &Faults{seed: seed, known: known} }

// Add puts rules in force, behind those that are. An invalid one is refused with all others of the call.
func (f *Faults) Add(faults ...Fault) error {
	for i, x := range faults {
		if err := errors.Join(x.Validate(), f.known.Check(x)); err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range faults {
		f.rules = append(f.rules, &rule{Fault: x})
	}
	return nil
}

// Clear takes all rules out of force.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// List is the rules in force, with how often each was played.
func (f *Faults) List() []PlayedFault {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]PlayedFault, 0, len(f.rules))
	for _, r := range f.rules {
		out = append(out, PlayedFault{r.Fault, r.played})
	}
	return out
}

// PlayedFault is a rule and how often it was played.
type PlayedFault struct {
	Fault
	Played int `json:"played"`
}

// ForRequest are the faults to play on a request, at most one of each kind and field.
func (f *Faults) ForRequest(r Request) []Fault {
	return f.play(func(x Fault) bool {
		if !slices.Contains(requestKinds, x.Kind) || (x.Kind == Stale || x.Kind == PageLimit) && r.Mutating {
			return false
		}
		if x.Kind == Ignore && (!r.Mutating || x.Field != "" && (r.Has == nil || !r.Has(x.Field))) {
			return false
		}
		return matches(x.Service, r.Service) && matches(x.Action, r.Action) && matches(x.Resource, r.Resource)
	})
}

// ForLaunch are the faults to play on a machine that is being launched, at most one of each kind.
func (f *Faults) ForLaunch(l Launch) []Fault {
	return f.play(func(x Fault) bool {
		return slices.Contains(machineKinds, x.Kind) && x.launches(l) && (x.Kind != NoCapacity || l.full(x))
	})
}

func (f *Faults) play(match func(Fault) bool) []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Fault
	for _, r := range f.rules {
		if !match(r.Fault) || slices.ContainsFunc(out, func(o Fault) bool { return o.Kind == r.Kind && o.Field == r.Field }) {
			continue
		}
		r.matched++
		if r.matched <= r.Skip || r.Times > 0 && r.played >= r.Times {
			continue
		}
		f.draws++
		if r.Probability > 0 && f.seed.Chance("fault", f.draws) >= r.Probability {
			continue
		}
		r.played++
		out = append(out, r.Fault)
	}
	return out
}

// matches compares a rule's word, which may be a pattern, with a request's.
func matches(pattern, value string) bool {
	if pattern == "" || pattern == value {
		return true
	}
	ok, err := path.Match(pattern, value)
	return err == nil && ok
}

// ParseFaults reads one rule or a list of rules. A field that a rule does not have is an error: without it the rule would match more.
func ParseFaults(b []byte) ([]Fault, error) {
	list := make([]Fault, 1)
	into := any(&list[0])
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		into = &list
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return nil, fmt.Errorf("a fault or a list of faults is wanted: %w", err)
	}
	return list, nil
}

package core

import (
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
)

// The switches of what simulated services have in common.
const (
	// ReversesLists returns the items of lists in the reverse order.
	ReversesLists sim.Switch = "lists.Reversed"
	// OmitsEmpty leaves members that are empty maps or lists out of JSON answers.
	OmitsEmpty sim.Switch = "json.OmitsEmpty"
)

// Beliefs returns the behaviour that services have in common.
func Beliefs() []evidence.Row {
	return evidence.Of("All services",
		evidence.Assumed("Lists are in the order of names or of creation").Switch(ReversesLists, "in the reverse order"),
		evidence.Assumed("Maps and lists without an entry are shown empty, where the service shows them at all").
			Switch(OmitsEmpty, "the member is absent (JSON)"),
	)
}

// Shown returns what a client sees of a JSON answer: without its empty members, where a service leaves these out.
func Shown(e *Environment, body any) any {
	if !e.Switches.On(OmitsEmpty) {
		return body
	}
	return withoutEmpty(body)
}

// withoutEmpty returns a copy of a JSON value in which no member of an object is an empty object or list.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			if member = withoutEmpty(member); !isEmpty(member) {
				out[key] = member
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for k, item := range v {
			out[k] = withoutEmpty(item)
		}
		return out
	}
	return v
}

// isEmpty reports an object or list without an entry.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// Ordered returns the items of a list in the order in which a client sees them.
func Ordered[T any](e *Environment, items []T) []T {
	if !e.Switches.On(ReversesLists) {
		return items
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	return items
}

package sim

import (
	"fmt"
	"maps"
	"slices"
)

// Known are the names that a cloud has: a rule that matches none of them would never be played. Empty lists check nothing.
type Known struct {
	// Actions are the operations, by service.
	Actions map[string][]string
	// Zones are those that machines can be launched in.
	Zones []string
}

// Check returns an error for a service, an action or a zone that no name matches, with the names that there are.
func (k Known) Check(f Fault) error {
	if len(k.Actions) > 0 {
		services := slices.Sorted(maps.Keys(k.Actions))
		if err := known("service", f.Service, services); err != nil {
			return err
		}
		var actions []string
		for _, service := range services {
			if matches(f.Service, service) {
				actions = append(actions, k.Actions[service]...)
			}
		}
		slices.Sort(actions)
		if err := known("action", f.Action, slices.Compact(actions)); err != nil {
			return err
		}
	}
	if len(k.Zones) > 0 {
		return known("zone", f.Zone, k.Zones)
	}
	return nil
}

// known returns an error if a pattern matches none of the names.
func known(field, pattern string, names []string) error {
	if slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }) {
		return nil
	}
	return fmt.Errorf("%s %q is none of %q", field, pattern, names)
}

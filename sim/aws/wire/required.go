package wire

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/muster-project/muster/sim/aws/shapes"
	published "github.com/muster-project/muster/sim/core/shapes"
)

// required returns the parameters that a request of a query protocol must have.
func required(service, action string) []string {
	if APIVersions[service] == "" {
		return nil
	}
	s := shapes.Services[service]()
	members := s.Types[s.Operations[service+"."+action].Body]
	return slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool { return !published.Has(members[name], "*") })
}

// Missing returns the refusal of a request without a parameter that its action requires, nil for a request that has all. The services
// check that before anything else.
func Missing(x *Call) error {
	for _, name := range required(x.Service, x.Action) {
		if has(x, name) {
			continue
		}
		if x.Service == ServiceEC2 {
			return Refuse("MissingParameter", "The request must contain the parameter %s", name)
		}
		member := string(unicode.ToLower(rune(name[0]))) + name[1:]
		return Invalid("1 validation error detected: Value at '%s' failed to satisfy constraint: Member must not be null", member)
	}
	return nil
}

// has reports whether the request has a parameter, or a part of it.
func has(x *Call, name string) bool {
	for given := range x.Params {
		if given == name || strings.HasPrefix(given, name+".") {
			return true
		}
	}
	return false
}

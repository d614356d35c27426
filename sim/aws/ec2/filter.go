package ec2

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// pageSize is EC2's rule for MaxResults: within its bounds, and not together with IDs.
func pageSize(given *int32, low, high, otherwise int, ids []string) (int, error) {
	if given == nil {
		return otherwise, nil
	}
	if len(ids) > 0 && low > 1 {
		return 0, wire.Refuse("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	if n := int(*given); n < low || n > high {
		return 0, wire.Refuse("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.",
			n, low, high)
	}
	return int(*given), nil
}

// attributes are what filters are compared with, by the name of the filter. A nil value is an attribute that the thing lacks.
type attributes map[string][]string

// matchFilters is EC2's rule: any of a filter's values, all of the filters, with * and ? as wildcards.
func matchFilters(filters []ec2.Filter, have attributes, tags map[string]string) (bool, error) {
	for _, f := range filters {
		name := shapes.Str(f.Name)
		values, known := have[name]
		switch key, isTag := strings.CutPrefix(name, "tag:"); {
		case isTag:
			values, known = nil, true
			if v, ok := tags[key]; ok {
				values = []string{v}
			}
		case name == "tag-key":
			values, known = slices.Collect(maps.Keys(tags)), true
		}
		if !known {
			return false, wire.Refuse("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
		if len(f.Values) == 0 {
			return false, wire.Refuse("InvalidParameterValue", "The filter '%s' has no value", name)
		}
		if !slices.ContainsFunc(values, func(v string) bool {
			return slices.ContainsFunc(f.Values, func(p string) bool { return wire.Glob(p, v) })
		}) {
			return false, nil
		}
	}
	return true, nil
}

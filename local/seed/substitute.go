package seed

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
)

// Lookup gives the value of a variable, and whether it has one. An empty value is a value.
type Lookup func(name string) (string, bool)

// Lookups asks one after the other; the first that has a value wins.
func Lookups(all ...Lookup) Lookup {
	return func(name string) (string, bool) {
		for _, l := range all {
			if v, ok := l(name); ok {
				return v, true
			}
		}
		return "", false
	}
}

// FromMap looks variables up in a map.
func FromMap(m map[string]string) Lookup {
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

// Substitute replaces ${VAR}, ${VAR:=default} and the other forms of clusterctl's templates, with clusterctl's own code. It returns the
// sorted names that have neither a value nor a default; the text is unusable then. As with clusterctl, a name in the default of another one
// may have no value.
func Substitute(text string, lookup Lookup) (string, []string, error) {
	processor := yamlprocessor.NewSimpleProcessor()
	defaults, err := processor.GetVariableMap([]byte(text))
	if err != nil {
		return "", nil, fmt.Errorf("find the variables: %w", err)
	}
	missing := map[string]bool{}
	value := func(name string) (string, error) {
		v, ok := lookup(name)
		if standard, top := defaults[name]; !ok && top && standard == nil {
			missing[name] = true
		}
		return v, nil
	}
	out, err := processor.Process([]byte(text), value)
	if err != nil {
		return "", nil, fmt.Errorf("replace the variables: %w", err)
	}
	return string(out), slices.Sorted(maps.Keys(missing)), nil
}

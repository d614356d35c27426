package oracle

import (
	"fmt"
	"maps"
	"slices"
)

// AsDesired compares the actual state with the wanted one after the last fault and the last edit. Both are named facts; is may have
// additional ones.
func AsDesired(want, is map[string]string) []string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if is[name] != want[name] {
			wrong = append(wrong, fmt.Sprintf("at rest %s is %q, the object wants %q", name, is[name], want[name]))
		}
	}
	return wrong
}

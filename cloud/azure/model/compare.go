package model

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud/fields"
)

// rolling returns the names under which both show values that differ, but for those that can't be changed on a scale set that exists: all
// of its machines have the same of these, so that they tell no content apart.
func rolling(is, want fields.Description) []string {
	return machineRows.Changed(want, is, fields.Rolls)
}

// judged returns those of some names that make a machine without a tag one of another content. A difference in any other is for people: a
// machine must not be replaced because Azure shows something in another way than it was asked for.
func judged(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return machineRows.Whole(name).Advisory || strings.HasPrefix(name, "nics.") && !strings.HasSuffix(name, ".addresses")
	})
}

// seenContent tells apart what is seen where it is unknown what was asked for.
func seenContent(d fields.Description) string {
	lower := map[string]string{}
	for name, value := range d {
		lower[name] = strings.ToLower(value)
	}
	text, err := digestOf(lower, contentLength)
	if err != nil {
		return seenAlgorithm + ":"
	}
	return seenAlgorithm + ":" + text
}

package nodeconfig

import (
	"reflect"

	"github.com/muster-project/muster/sim/gcp/project"
)

// preset sets what lies at a path where there is nothing.
func preset(d project.Document, path string, v any) {
	if project.Dig(d, path) == nil {
		project.Place(d, path, v)
	}
}

// number returns the whole number at a path, 0 for none.
func number(d project.Document, path string) int {
	n, _ := project.Number(d, path)
	return n
}

// fraction returns the number at a path, 0 for none.
func fraction(d project.Document, path string) float64 {
	f, _ := project.Dig(d, path).(float64)
	return f
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// list returns strings as a list of JSON.
func list(s []string) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

// copied returns a deep copy of any value.
func copied(v any) any { return project.Copied(project.Document{"v": v})["v"] }

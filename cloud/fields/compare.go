package fields

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Comparison tells when the values of a field in two documents mean the same. An absent value means the same as false, and as an empty
// list or text.
type Comparison int

// The comparisons. All but Unordered and Caseless take lists and texts as they are written.
const (
	// Subset ignores entries of maps that are not wanted.
	Subset Comparison = iota
	// Exact compares all entries of maps that the service does not own.
	Exact
	// Unordered compares lists without regard to their order, and without the entries that the service owns.
	Unordered
	// Caseless compares texts without regard to their letter case.
	Caseless
)

// Same reports whether two values of the field of a name mean the same. Its parts with rows of their own, such as
// kubeletConfig.allowedUnsafeSysctls, are compared by these.
func (t Table[D, R]) Same(name string, want, is any) bool { return t.same(t.Of(name), want, is) }

func (t Table[D, R]) same(f Field[D, R], want, is any) bool {
	if entries, isMap := mapOf(want); isMap {
		return t.sameEntries(f, entries, is)
	}
	if empty(want) && empty(is) {
		return true
	}
	if f.Compare == Unordered {
		return slices.Equal(f.Owned.texts(want), f.Owned.texts(is))
	}
	a, textA := want.(string)
	b, textB := is.(string)
	if textA && textB && f.Compare == Caseless {
		return strings.EqualFold(a, b)
	}
	return reflect.DeepEqual(want, is)
}

func (t Table[D, R]) sameEntries(f Field[D, R], want map[string]any, is any) bool {
	has, _ := mapOf(is)
	want, has = Without(f.Owned, want), Without(f.Owned, has)
	keys := slices.Collect(maps.Keys(want))
	if f.Compare == Exact {
		keys = slices.AppendSeq(keys, maps.Keys(has))
	}
	return !slices.ContainsFunc(keys, func(key string) bool {
		missing := f.Compare == Exact && (want[key] == nil) != (has[key] == nil)
		return missing || !t.same(t.part(f, key), want[key], has[key])
	})
}

// part returns the row of a part of a field: its own, or one that compares as the field does.
func (t Table[D, R]) part(f Field[D, R], key string) Field[D, R] {
	name := f.Name + "." + key
	if i := t.at(name); i >= 0 {
		return t[i]
	}
	return Field[D, R]{Name: name, Compare: f.Compare}
}

// mapOf returns a map as one of any values; false for anything else.
func mapOf(v any) (map[string]any, bool) {
	value := reflect.ValueOf(v)
	if value.Kind() != reflect.Map || value.Type().Key().Kind() != reflect.String {
		return nil, false
	}
	out := make(map[string]any, value.Len())
	for key, item := range value.Seq2() {
		out[key.String()] = item.Interface()
	}
	return out, true
}

// empty reports whether a value means the same as an absent one.
func empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case bool:
		return !x
	case string:
		return x == ""
	case []any:
		return len(x) == 0
	case []string:
		return len(x) == 0
	}
	return false
}

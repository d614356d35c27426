package document

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read returns the object in a text.
func read(t *testing.T, text string) Object {
	t.Helper()
	o := Object{}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		why, before, after string
		change             func(Object)
	}{
		{"a value goes to a path whose objects are missing", `{}`, `{"a":{"b":1}}`, func(o Object) { Place(o, "a.b", 1.0) }},
		{"nil deletes the member alone", `{"a":{"b":1,"c":2}}`, `{"a":{"c":2}}`, func(o Object) { Place(o, "a.b", nil) }},
		{"nil creates no objects", `{}`, `{}`, func(o Object) { Place(o, "a.b", nil) }},
		{"a default replaces nothing", `{"a":{"b":1}}`, `{"a":{"b":1,"c":3}}`, func(o Object) { Preset(o, "a.b", 2.0); Preset(o, "a.c", 3.0) }},
		{"members that are missing are added", `{"a":1}`, `{"a":1,"b":3}`, func(o Object) { WithDefaults(o, Object{"a": 2.0, "b": 3.0}) }},
		{"objects are merged, null deletes", `{"a":{"b":1,"c":2},"d":3}`, `{"a":{"b":1,"e":4}}`, func(o Object) {
			Merge(o, Object{"a": Object{"c": nil, "e": 4.0}, "d": nil})
		}},
		{"an object over another value keeps no nulls", `{"a":1}`, `{"a":{"c":2}}`,
			func(o Object) { Merge(o, Object{"a": Object{"b": nil, "c": 2.0}}) }},
		{"a list is replaced as a whole", `{"a":[1,2]}`, `{"a":[{"c":2}]}`,
			func(o Object) { Merge(o, Object{"a": []any{Object{"b": nil, "c": 2.0}}}) }},
	} {
		got := read(t, c.before)
		c.change(got)
		if diff := cmp.Diff(read(t, c.after), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

func TestMergeLeavesThePatchAlone(t *testing.T) {
	patch := Object{"a": Object{"b": []any{1.0}}}
	o := Object{}
	Merge(o, patch)
	Items(o, "a.b")[0] = 2.0
	if got := Items(patch, "a.b")[0]; got != 1.0 {
		t.Errorf("the patch shares a list with the object: got %v, want 1", got)
	}
}

func TestNumber(t *testing.T) {
	o := read(t, `{"float":3,"digits":"12","word":"x","none":null}`)
	for path, want := range map[string]int{"float": 3, "digits": 12} {
		if got, ok := Number(o, path); got != want || !ok {
			t.Errorf("%s: got %d, %v, want %d", path, got, ok, want)
		}
	}
	for _, path := range []string{"word", "none", "missing", "float.below"} {
		if got, ok := Number(o, path); ok {
			t.Errorf("%s: got %d, want no number", path, got)
		}
	}
}

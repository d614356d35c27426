package document_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/document"
)

// object returns the object in a text.
func object(t *testing.T, text string) document.Object {
	t.Helper()
	o := document.Object{}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestChangesOfDocuments(t *testing.T) {
	for _, c := range []struct {
		why, before, after string
		change             func(document.Object)
	}{
		{"a value goes to a path whose objects are missing", `{}`, `{"a":{"b":1}}`, func(o document.Object) { document.Place(o, "a.b", 1.0) }},
		{"nil deletes the member alone", `{"a":{"b":1,"c":2}}`, `{"a":{"c":2}}`, func(o document.Object) { document.Place(o, "a.b", nil) }},
		{"nil creates no objects", `{}`, `{}`, func(o document.Object) { document.Place(o, "a.b", nil) }},
		{"a default replaces nothing", `{"a":{"b":1}}`, `{"a":{"b":1,"c":3}}`, func(o document.Object) {
			document.Preset(o, "a.b", 2.0)
			document.Preset(o, "a.c", 3.0)
		}},
		{"members that are missing are added", `{"a":1}`, `{"a":1,"b":3}`, func(o document.Object) {
			document.WithDefaults(o, document.Object{"a": 2.0, "b": 3.0})
		}},
		{"objects are merged, null deletes", `{"a":{"b":1,"c":2},"d":3}`, `{"a":{"b":1,"e":4}}`, func(o document.Object) {
			document.Merge(o, document.Object{"a": document.Object{"c": nil, "e": 4.0}, "d": nil})
		}},
		{"an object over another value keeps no nulls", `{"a":1}`, `{"a":{"c":2}}`,
			func(o document.Object) { document.Merge(o, document.Object{"a": document.Object{"b": nil, "c": 2.0}}) }},
		{"a list is replaced as a whole", `{"a":[1,2]}`, `{"a":[{"c":2}]}`,
			func(o document.Object) {
				document.Merge(o, document.Object{"a": []any{document.Object{"b": nil, "c": 2.0}}})
			}},
	} {
		got := object(t, c.before)
		c.change(got)
		if diff := cmp.Diff(object(t, c.after), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

func TestMergeLeavesThePatchAlone(t *testing.T) {
	patch := document.Object{"a": document.Object{"b": []any{1.0}}}
	o := document.Object{}
	document.Merge(o, patch)
	document.Items(o, "a.b")[0] = 2.0
	if got := document.Items(patch, "a.b")[0]; got != 1.0 {
		t.Errorf("the patch shares a list with the object: got %v, want 1", got)
	}
}

func TestNumber(t *testing.T) {
	o := object(t, `{"float":3,"digits":"12","word":"x","none":null}`)
	for path, want := range map[string]int{"float": 3, "digits": 12} {
		if got, ok := document.Number(o, path); got != want || !ok {
			t.Errorf("%s: got %d, %v, want %d", path, got, ok, want)
		}
	}
	for _, path := range []string{"word", "none", "missing", "float.below"} {
		if got, ok := document.Number(o, path); ok {
			t.Errorf("%s: got %d, want no number", path, got)
		}
	}
}

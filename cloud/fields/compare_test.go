package fields_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/muster-project/muster/cloud/fields"
)

var byService = fields.ServiceOwned{Domains: []string{"cloud.example"}, Prefixes: []string{"own-"}}

// compared has a field of each comparison.
var compared = fields.Table[any, any]{
	{Name: "settings"},
	{Name: "settings.names", Compare: fields.Unordered},
	{Name: "labels", Compare: fields.Exact, Owned: byService},
	{Name: "taints", Compare: fields.Unordered, Owned: byService},
	{Name: "size", Compare: fields.Caseless},
}

func TestSame(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for _, c := range []struct {
		why, field string
		want, is   any
		same       bool
	}{
		{"absent means false", "other", false, nil, true},
		{"absent means an empty list", "other", []any{}, nil, true},
		{"absent does not mean zero", "other", 0.0, nil, false},
		{"lists are compared as they are written", "other", []any{"a", "b"}, []any{"b", "a"}, false},
		{"letter case counts", "other", "a", "A", false},
		{"letter case does not count", "size", "a", "A", true},
		{"a text and a number", "size", "1", 1.0, false},
		{"the order does not count", "taints", []any{"a", "b"}, []any{"b", "a"}, true},
		{"one too many", "taints", []any{"a"}, []any{"b", "a"}, false},
		{"one of the service's", "taints", []string{"a"}, []string{"sub.cloud.example/b=c:NoSchedule", "a"}, true},
		{"the same, wanted and not there", "taints", []any{"cloud.example/b", "a"}, []any{"a"}, true},
		{"entries that are not wanted", "settings", object{"a": "1"}, object{"a": "1", "b": "2"}, true},
		{"an entry that differs", "settings", object{"a": object{"x": 1.0}}, object{"a": object{"x": 2.0, "y": 3.0}}, false},
		{"an entry that is to go", "settings", object{"a": nil}, object{"a": "1"}, false},
		{"a part that compares otherwise", "settings", object{"names": []any{"a", "b"}}, object{"names": []any{"b", "a"}}, true},
		{"no map at all", "settings", object{"a": "1"}, nil, false},
		{"exactly the wanted entries", "labels", map[string]string{"a": "1"}, map[string]string{"a": "1", "b": "2"}, false},
		{"but for the service's", "labels", map[string]string{"a": "1"}, object{"a": "1", "own-b": "2", "cloud.example/c": "3"}, true},
		{"the last entry is to go", "labels", map[string]string(nil), object{"a": "1"}, false},
		{"an entry with an empty value that is missing", "labels", object{"a": ""}, object{}, false},
	} {
		if got := compared.Same(c.field, c.want, c.is); got != c.same {
			t.Errorf("%s: want %v, got %v", c.why, c.same, got)
		}
	}
}

func TestServiceOwned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why   string
		owned fields.ServiceOwned
		known bool
	}{
		{"nothing is said", fields.ServiceOwned{}, false},
		{"all entries are Muster's", fields.ServiceOwned{None: true}, true},
		{"all but those that a tag records", fields.ServiceOwned{Recorded: "tag"}, true},
		{"those of a domain", byService, true},
	} {
		if got := c.owned.Known(); got != c.known {
			t.Errorf("%s: want %v, got %v", c.why, c.known, got)
		}
	}
	if byService.Owns("cloud.example.other/a") || byService.Owns("cloud.example") || !byService.Owns("own-a") {
		t.Error("want entries of the domain and those with the prefix, and no others")
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	want := map[string]string{"kept": "1", "new": "2", "changed": "3", "empty": ""}
	is := map[string]string{"kept": "1", "changed": "0", "z-mine": "4", "a-mine": "5", "theirs": "6"}
	put, remove := fields.Changes(want, is, func(name string) bool { return name != "theirs" })
	if !maps.Equal(put, map[string]string{"new": "2", "changed": "3", "empty": ""}) || !slices.Equal(remove, []string{"a-mine", "z-mine"}) {
		t.Errorf("want what is missing or differs put, and what Muster has recorded removed, got %v and %v", put, remove)
	}
}

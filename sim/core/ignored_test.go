package core_test

import (
	"net/url"
	"testing"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

func TestIgnoredFields(t *testing.T) {
	for _, c := range []struct{ reason, body, field, want string }{
		{"a member", `{"a":1,"b":2}`, "a", `{"b":2}`},
		{"a member of a member", `{"a":{"b":1,"c":2}}`, "a.b", `{"a":{"c":2}}`},
		{"what lies below goes with it", `{"a":{"b":1}}`, "a", `{}`},
		{"each element of a list", `{"a":[{"b":1},{"b":2,"c":3}]}`, "a.b", `{"a":[{},{"c":3}]}`},
		{"what is not there", `{"a":1}`, "b", `{"a":1}`},
	} {
		text := []byte(c.body)
		document := core.JSON{Text: &text}
		if got, want := document.Has(c.field), c.body != c.want; got != want {
			t.Errorf("%s: want the field found: %t, got %t", c.reason, want, got)
		}
		if err := document.Drop([]string{c.field}); err != nil || string(text) != c.want {
			t.Errorf("%s: want %s, got %s, %v", c.reason, c.want, text, err)
		}
	}
	values := url.Values{"Tags.member.1.Key": {"k"}, "Tags.member.1.Value": {"v"}, "TagsOfOthers": {"t"}, "Name": {"n"}}
	form := core.Form{Values: &values}
	if !form.Has("Tags") || form.Has("Nam") {
		t.Errorf("want the form found to have tags, got %s", values.Encode())
	}
	if err := form.Drop([]string{"Tags", "Name"}); err != nil || values.Encode() != "TagsOfOthers=t" {
		t.Errorf("want one parameter left, got %s, %v", values.Encode(), err)
	}
}

// A request is a match only if it says something of the field, and is no match if it reads.
func TestAnIgnoredFieldMatchesRequestsThatHaveIt(t *testing.T) {
	faults := sim.NewFaults(0, sim.Known{})
	if err := faults.Add(sim.Fault{Kind: sim.Ignore, Field: "a"}, sim.Fault{Kind: sim.Ignore, Field: "b"}); err != nil {
		t.Fatal(err)
	}
	has := func(list ...string) func(string) bool {
		return func(field string) bool {
			for _, name := range list {
				if name == field {
					return true
				}
			}
			return false
		}
	}
	for _, c := range []struct {
		reason string
		r      sim.Request
		want   int
	}{
		{"both fields", sim.Request{Mutating: true, Has: has("a", "b")}, 2},
		{"one field", sim.Request{Mutating: true, Has: has("b", "c")}, 1},
		{"neither", sim.Request{Mutating: true, Has: has("c")}, 0},
		{"a read", sim.Request{Has: has("a")}, 0},
	} {
		if ignored := faults.ForRequest(c.r); len(ignored) != c.want {
			t.Errorf("%s: want %d fields ignored, got %v", c.reason, c.want, ignored)
		}
	}
	if err := faults.Add(sim.Fault{Kind: sim.Throttle, Field: "a"}); err == nil {
		t.Error("want a field refused for another kind of fault")
	}
}

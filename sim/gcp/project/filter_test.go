package project

import (
	"net/url"
	"testing"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// FuzzFilter holds that any expression is either understood or refused, and that its negation lets through what it does not.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{
		"name=a", `name = "a" AND labels.x:*`, "name eq a.* OR (name != b)", "NOT name=a", "name", "(name=a", "name eq (", "a=b c=d", "-name:a*",
		"name=a AND", "=",
	} {
		f.Add(s)
	}
	all := []Named{{"a", document.Object{"name": "a", "labels": document.Object{"x": "1"}}}, {"b", document.Object{"name": "b", "size": 2.0}}}
	let := func(text string) (int, error) {
		kept, err := Filtered(&Call{Call: core.Call{Query: url.Values{"filter": {text}}}}, all)
		return len(kept), err
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := let(text)
		if err != nil || len(tokens(text)) == 0 {
			return
		}
		others, err := let("NOT (" + text + ")")
		if err != nil || n+others != len(all) {
			t.Errorf("%q lets %d through, its negation %d of %d, %v", text, n, others, len(all), err)
		}
	})
}

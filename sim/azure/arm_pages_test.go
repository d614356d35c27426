package azure_test

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// What comes and goes between two pages hides no other resource.
func TestPagesOfAChangingList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		// lists are what there is when each page is read, one letter a resource.
		lists []string
		want  string
	}{
		{"nothing changes", []string{"abcd"}, "abcd"},
		{"one comes", []string{"abc", "abcd"}, "abcd"},
		{"one that was given goes", []string{"abcd", "abcd", "acd"}, "abcd"},
		{"the last that was given goes", []string{"abcd", "abcd", "abcd", "abd"}, "abcd"},
		{"all that were given go", []string{"abcd", "abcd", "cd"}, "abcd"},
		{"all go, and others come", []string{"abcd", "abcd", "ef"}, "abef"},
		{"the next one goes", []string{"abcd", "acd"}, "acd"},
		{"all are gone", []string{"abcd", ""}, "a"},
		{"they have no IDs", []string{"...."}, "...."},
	} {
		got, next := "", "https://management.azure.com/list?api-version=1"
		for page := 0; next != ""; page++ {
			x := &arm.Call{Call: core.Call{Request: httptest.NewRequest("GET", next, nil)}}
			x.Query = x.Request.URL.Query()
			var all []any
			for _, id := range c.lists[min(page, len(c.lists)-1)] {
				all = append(all, document.Object{"id": strings.Trim(string(id), "."), "name": string(id)})
			}
			answer, err := (&arm.Core{State: &core.State{Environment: &core.Environment{}, PageLimit: 1}}).Paged(x, all)
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			body := answer.Body.(document.Object)
			for _, item := range body["value"].([]any) {
				got += item.(document.Object)["name"].(string)
			}
			next, _ = body["nextLink"].(string)
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
		}
	}
}

// The link stays short, however long the list is.
func TestPagesOfALongList(t *testing.T) {
	t.Parallel()
	var all []any
	for n := range 1000 {
		all = append(all, document.Object{"id": strings.Repeat("x", 200) + string(rune('a'+n))})
	}
	var got []any
	for next := "https://management.azure.com/list"; next != ""; {
		x := &arm.Call{Call: core.Call{Request: httptest.NewRequest("GET", next, nil)}}
		x.Query = x.Request.URL.Query()
		answer, err := (&arm.Core{State: &core.State{Environment: &core.Environment{}}}).Paged(x, all)
		if err != nil {
			t.Fatal(err)
		}
		body := answer.Body.(document.Object)
		got = append(got, body["value"].([]any)...)
		if next, _ = body["nextLink"].(string); len(next) > 2000 {
			t.Errorf("want a link of at most 2000 characters, got %d", len(next))
		}
	}
	idOf := func(item any) any { return item.(document.Object)["id"] }
	if !slices.EqualFunc(got, all, func(a, b any) bool { return idOf(a) == idOf(b) }) {
		t.Errorf("want all %d resources once, got %d", len(all), len(got))
	}
	x := &arm.Call{Call: core.Call{Query: url.Values{"$skiptoken": {"x"}}}}
	if _, err := (&arm.Core{State: &core.State{Environment: &core.Environment{}}}).Paged(x, all); err == nil {
		t.Error("want a link that names no place refused")
	}
}

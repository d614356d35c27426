package core

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// What comes and goes between two pages neither repeats nor hides other items, whatever the order of the list.
func TestPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		sorted bool
		size   int
		// lists are the contents when each page is read, one letter an item.
		lists []string
		want  string
	}{
		{"sorted, nothing changes", true, 2, []string{"abcde"}, "ab|cd|e"},
		{"sorted, a full last page", true, 2, []string{"abcd"}, "ab|cd"},
		{"sorted, everything at once", true, 0, []string{"abcd"}, "abcd"},
		{"sorted, nothing there", true, 2, []string{""}, ""},
		{"sorted, one comes before and one behind", true, 2, []string{"bcef", "abcdef"}, "bc|de|f"},
		{"sorted, the last that was returned goes", true, 2, []string{"abcd", "acd"}, "ab|cd"},
		{"sorted, all are gone", true, 2, []string{"abcd", ""}, "ab|"},
		{"unsorted, nothing changes", false, 2, []string{"badce"}, "ba|dc|e"},
		{"unsorted, everything at once", false, 0, []string{"dcba"}, "dcba"},
		{"unsorted, one comes in front", false, 2, []string{"badc", "ebadc"}, "ba|dc"},
		{"unsorted, the last that was returned goes", false, 2, []string{"badc", "bdc"}, "ba|dc"},
		{"unsorted, all that were returned go", false, 2, []string{"badc", "dc"}, "ba|dc"},
		{"unsorted, without keys", false, 2, []string{"....."}, "..|..|."},
	} {
		var pages []string
		token := ""
		for n := 0; n == 0 || token != ""; n++ {
			items := strings.Split(c.lists[min(n, len(c.lists)-1)], "")
			page, next, err := Page(letters(items, c.sorted), token, c.size)
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			pages, token = append(pages, strings.Join(page, "")), next
		}
		if got := strings.Join(pages, "|"); got != c.want {
			t.Errorf("%s: want the pages %q, got %q", c.reason, c.want, got)
		}
	}
}

// letters is a list of items that are their own keys, but for a dot, which has none.
func letters(items []string, sorted bool) List[string] {
	return List[string]{Items: items, Sorted: sorted, Key: func(s string) string { return strings.Trim(s, ".") }}
}

// A token that is none is refused, and one is accepted that was made of another list.
func TestTokens(t *testing.T) {
	t.Parallel()
	items := []string{"b", "d"}
	for _, c := range []struct {
		sorted bool
		token  string
		want   []string
	}{
		{true, "%%", nil},
		{true, "Yw", []string{"d"}}, // c, without padding
		{true, "Yw==", nil},
		{false, "x", nil},
		{false, "-1,", nil},
		{false, "103,", nil},
		{false, "1", []string{"d"}},
		{false, "1,00000000", []string{"b", "d"}},
	} {
		page, next, err := Page(letters(items, c.sorted), c.token, 2)
		if !slices.Equal(page, c.want) || next != "" || (c.want == nil) != errors.Is(err, ErrToken) {
			t.Errorf("sorted %t, token %q: want %v, got %v, next %q, error %v", c.sorted, c.token, c.want, page, next, err)
		}
	}
	if _, next, err := Page(letters(items, true), "", 1); next != "Yg" || err != nil {
		t.Errorf("want the last key in the token of a sorted list, got %q, error %v", next, err)
	}
}

// A token stays short, however many items were returned.
func TestTokenLength(t *testing.T) {
	t.Parallel()
	var items []string
	for n := range 1000 {
		items = append(items, strings.Repeat("x", 50)+string(rune('a'+n)))
	}
	token, limit := "", len("1000,")+maxMarks*markLength
	for n := 0; n == 0 || token != ""; n++ {
		var err error
		if _, token, err = Page(letters(items, false), token, 30); err != nil || len(token) > limit {
			t.Fatalf("page %d: want a token of at most %d characters, got %d, error %v", n, limit, len(token), err)
		}
	}
}

package plan_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/muster-project/muster/view"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, text string
		width     int
		limit     int
		want      []string
	}{
		{"without a terminal nothing is broken", "a long text", 0, 1, []string{"a long text"}},
		{"lines break between words", "one two three", 8, 9, []string{"one two", "  three"}},
		{"a word that is longer than a line is broken", "see arn:aws:iam::1:role/x", 12, 9,
			[]string{"see", "  arn:aws:ia", "  m::1:role/", "  x"}},
		{"the last line tells that there is more", "one two three four", 8, 2, []string{"one two", "  three…"}},
		{"no text is an empty line", "", 8, 2, []string{""}},
	} {
		if diff := cmp.Diff(c.want, view.Wrap(c.text, c.width, "  ", c.limit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestWrapKeepsWords holds that no line is wider than the terminal, and that nothing is lost where the limit allows it.
func TestWrapKeepsWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, width := rapid.StringMatching(`[a-zä ]{0,200}`).Draw(t, "text"), rapid.IntRange(4, 60).Draw(t, "width")
		lines := view.Wrap(text, width, "  ", 1000)
		for _, line := range lines {
			if utf8.RuneCountInString(line) > width {
				t.Fatalf("want at most %d characters, got %q", width, line)
			}
		}
		if got, want := strings.Join(strings.Fields(strings.Join(lines, "")), ""), strings.Join(strings.Fields(text), ""); got != want {
			t.Fatalf("want %q, got %q", want, got)
		}
	})
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// TestColors holds that colours change nothing but the colour of states.
func TestColors(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pools := []view.Pool{
		{Namespace: "default", Name: "a", State: "Running", Message: "all is well"},
		{Namespace: "default", Name: "b", State: "Error", Message: "no such image"},
		{Namespace: "default", Name: "c", State: "Scaling"},
		{Namespace: "default", Name: "d", State: "InACloudsOwnWords"},
	}
	for _, width := range []int{0, 20, 21, 30, 40, 41, 42, 43, 44, 45, 50, 60, 70, 80, 100} {
		var plain, colored strings.Builder
		if err := view.Table(&plain, pools, now, view.Terminal{Width: width}); err != nil {
			t.Fatal(err)
		}
		if err := view.Table(&colored, pools, now, view.Terminal{Width: width, Color: true}); err != nil {
			t.Fatal(err)
		}
		if got := escapes.ReplaceAllString(colored.String(), ""); got != plain.String() {
			t.Fatalf("%d columns: want\n%s\ngot\n%s", width, plain.String(), got)
		}
		for line := range strings.Lines(plain.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Fatalf("want at most %d columns, got %d: %q", width, n, line)
			}
		}
		if width > 0 && width < 70 {
			continue
		}
		want := []string{"\x1b[32mRunning\x1b[0m", "\x1b[31mError\x1b[0m", "\x1b[33mScaling\x1b[0m"}
		if missing := slices.DeleteFunc(want, func(s string) bool { return strings.Contains(colored.String(), s) }); len(missing) > 0 {
			t.Fatalf("%d columns: want %q in\n%q", width, missing, colored.String())
		}
	}
}

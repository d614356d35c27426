package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/view"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func testPool(name string, ready int32) view.Pool {
	desired := int32(2)
	return view.Pool{Namespace: "default", Name: name, Cluster: "capa", Desired: &desired, Ready: &ready, State: "Creating", Created: noon.Add(-time.Minute)}
}

func TestScreenTellsChangesWhereNothingCanBeRedrawn(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out)
	for _, pools := range [][]view.Pool{
		{testPool("a", 0), testPool("b", 0)},
		{testPool("a", 0), testPool("b", 0)},
		{testPool("a", 1), testPool("b", 0)},
		{testPool("a", 1)},
	} {
		if err := s.show(pools, noon); err != nil {
			t.Fatal(err)
		}
	}
	want := `12:00:00 default/a: 0/2 ready, ? up to date, Creating
12:00:00 default/b: 0/2 ready, ? up to date, Creating
12:00:00 default/a: 1/2 ready, ? up to date, Creating
12:00:00 default/b: gone
`
	if out.String() != want {
		t.Errorf("want\n%s\ngot\n%s", want, out.String())
	}
}

func TestScreenRedrawsInPlace(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out)
	s.size = func() (int, int) { return 100, 24 }
	show := func(pools ...view.Pool) string {
		t.Helper()
		out.Reset()
		if err := s.show(pools, noon); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := show(testPool("a", 0), testPool("b", 0)); strings.Contains(got, "A\r") || strings.Count(got, "\n") != 3 {
		t.Errorf("the first table goes nowhere up and has a header and two rows, got %q", got)
	}
	if got := show(testPool("a", 0), testPool("b", 0)); got != "" {
		t.Errorf("nothing has changed: want nothing, got %q", got)
	}
	if got := show(testPool("a", 1)); !strings.HasPrefix(got, "\x1b[3A\r\x1b[J") {
		t.Errorf("want to go up the three lines that are there and clear them, got %q", got)
	}
	out.Reset()
	if err := s.note(noon, "the controllers started again"); err != nil {
		t.Fatal(err)
	}
	if got := out.String() + show(testPool("a", 1)); !strings.HasPrefix(got, "\x1b[2A\r\x1b[J12:00:00 the controllers started again\n\r\x1b[J") {
		t.Errorf("a note takes the table's place, and the table comes below it, got %q", got)
	}
}

// A table that is taller than the terminal could not be drawn again in place: each second would add another copy.
func TestScreenFitsTheTerminal(t *testing.T) {
	for _, tc := range []struct {
		reason        string
		pools, height int
		unsettled     []int
		messages      bool
		want          []string
		hidden, lines int
	}{
		{reason: "all rows fit", pools: 3, height: 5, want: []string{"p00", "p01", "p02"}, lines: 4},
		{reason: "the line below the table needs room too", pools: 4, height: 5, want: []string{"p00", "p01"}, hidden: 2, lines: 4},
		{reason: "pools that are not settled stay", pools: 30, height: 6, unsettled: []int{7, 29}, want: []string{"p00", "p07", "p29"}, hidden: 27, lines: 5},
		{reason: "each message takes a line", pools: 4, height: 8, messages: true, want: []string{"p00", "p01"}, hidden: 2, lines: 6},
		{reason: "one pool is always shown", pools: 3, height: 1, want: []string{"p00"}, hidden: 2, lines: 3},
		{reason: "an unknown height limits nothing", pools: 3, height: 0, want: []string{"p00", "p01", "p02"}, lines: 4},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var pools []view.Pool
			for i := range tc.pools {
				p := testPool(fmt.Sprintf("p%02d", i), 2)
				p.Settled = !slices.Contains(tc.unsettled, i)
				if tc.messages {
					p.Message = "waiting"
				}
				pools = append(pools, p)
			}
			var out strings.Builder
			s := newScreen(&out)
			s.size = func() (int, int) { return narrowest, tc.height }
			if err := s.show(pools, noon); err != nil {
				t.Fatal(err)
			}
			for _, p := range pools {
				if got, want := strings.Contains(out.String(), "\n"+p.Name+" "), slices.Contains(tc.want, p.Name); got != want {
					t.Errorf("row of %s: want %v, got %v in\n%s", p.Name, want, got, out.String())
				}
			}
			if got := strings.Count(out.String(), "\n"); got != tc.lines {
				t.Errorf("want %d lines, got %d:\n%s", tc.lines, got, out.String())
			}
			if hidden := fmt.Sprintf(hiddenRows, tc.hidden); strings.HasSuffix(out.String(), hidden) != (tc.hidden > 0) {
				t.Errorf("want the line %q if pools are hidden, got\n%s", hidden, out.String())
			}
		})
	}
}

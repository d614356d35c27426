package main

import (
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
	s.width = func() int { return 100 }
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

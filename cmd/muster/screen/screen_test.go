package screen

import (
	"bufio"
	"cmp"
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
	return view.Pool{Namespace: "default", Name: name, Cluster: "capa", Desired: &desired, Ready: &ready, State: "Creating",
		Created: noon.Add(-time.Minute)}
}

func TestScreenTellsChangesWhereNothingCanBeRedrawn(t *testing.T) {
	var out strings.Builder
	s := New(&out)
	for _, pools := range [][]view.Pool{
		{testPool("a", 0), testPool("b", 0)},
		{testPool("a", 0), testPool("b", 0)},
		{testPool("a", 1), testPool("b", 0)},
		{testPool("a", 1)},
	} {
		if err := s.Show(pools, noon); err != nil {
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
	s := New(&out)
	s.size = func() (int, int) { return 100, 24 }
	show := func(pools ...view.Pool) string {
		t.Helper()
		out.Reset()
		if err := s.Show(pools, noon); err != nil {
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
	if err := s.Note(noon, "the controllers started again"); err != nil {
		t.Fatal(err)
	}
	if got := out.String() + show(testPool("a", 1)); !strings.HasPrefix(got,
		"\x1b[2A\r\x1b[J12:00:00 the controllers started again\n\r\x1b[J") {
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
		message       string
	}{
		{reason: "all rows fit", pools: 3, height: 5, want: []string{"p00", "p01", "p02"}, lines: 4},
		{reason: "the line below the table needs room too", pools: 4, height: 5, want: []string{"p00", "p01"}, hidden: 2, lines: 4},
		{reason: "pools that are not settled stay", pools: 30, height: 6, unsettled: []int{7, 29}, want: []string{"p00", "p07", "p29"},
			hidden: 27, lines: 5},
		{reason: "each message takes a line", pools: 4, height: 8, messages: true, want: []string{"p00", "p01"}, hidden: 2, lines: 6},
		{reason: "a long message takes the lines that it needs", pools: 2, height: 20, messages: true, want: []string{"p00", "p01"}, lines: 9,
			message: "an undrainable Pod default/web-0 keeps Node a: delete PodDisruptionBudget default/web"},
		{reason: "one pool is always shown", pools: 3, height: 1, want: []string{"p00"}, hidden: 2, lines: 3},
		{reason: "an unknown height limits nothing", pools: 3, height: 0, want: []string{"p00", "p01", "p02"}, lines: 4},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var pools []view.Pool
			for i := range tc.pools {
				p := testPool(fmt.Sprintf("p%02d", i), 2)
				p.Settled = !slices.Contains(tc.unsettled, i)
				if tc.messages {
					p.Message = cmp.Or(tc.message, "waiting")
				}
				pools = append(pools, p)
			}
			var out strings.Builder
			s := New(&out)
			s.size = func() (int, int) { return narrowest, tc.height }
			if err := s.Show(pools, noon); err != nil {
				t.Fatal(err)
			}
			if tc.message != "" && !strings.Contains(out.String(), "default/web\n") {
				t.Errorf("want the end of the message too, got\n%s", out.String())
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

func TestScreenScrolls(t *testing.T) {
	var pools []view.Pool
	for i := range 9 {
		p := testPool(fmt.Sprintf("p%d", i), 2)
		p.Settled = i != 5
		pools = append(pools, p)
	}
	for _, tc := range []struct {
		why        string
		keys       string
		height     int
		want, last string
	}{
		{"pools that need attention are shown first", "", 6, "p0 p1 p5", "(6 more pools: press down to scroll)"},
		{"down begins at the top of the whole table", "j", 6, "p0 p1 p2", "(lines 1 to 3 of 9; Home: back)"},
		{"a line at a time, by arrows as terminals send them", "\x1b[B\x1bOB\x1b[A\x1b[B", 6, "p1 p2 p3", "(lines 2 to 4 of 9; Home: back)"},
		{"a window at a time", "\x1b[6~", 6, "p3 p4 p5", "(lines 4 to 6 of 9; Home: back)"},
		{"and back", "\x1b[6~\x1b[6~\x1b[5~", 6, "p3 p4 p5", "(lines 4 to 6 of 9; Home: back)"},
		{"it ends with the last line", "\x1b[F\x1b[B", 6, "p6 p7 p8", "(lines 7 to 9 of 9; Home: back)"},
		{"up from the top is back at those that need attention", "j\x1b[A", 6, "p0 p1 p5", "(6 more pools: press down to scroll)"},
		{"so is Home", "G\x1b[H", 6, "p0 p1 p5", "(6 more pools: press down to scroll)"},
		{"other keys and sequences do nothing", "x\x1b[200~\x1b[1;5Cj", 6, "p0 p1 p2", "(lines 1 to 3 of 9; Home: back)"},
		{"a table that fits does not scroll", "jjj", 20, "p0 p1 p2 p3 p4 p5 p6 p7 p8", ""},
		{"one line of room is enough", "jj", 1, "p1", "(lines 2 to 2 of 9; Home: back)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var out strings.Builder
			s := New(&out)
			s.size, s.scrolls = func() (int, int) { return narrowest, tc.height }, true
			keys := bufio.NewReader(strings.NewReader(tc.keys))
			for {
				text, err := sequence(keys)
				if err != nil {
					break
				}
				if key := sequences[text]; key != 0 {
					s.Scroll(key)
				}
				if err := s.Show(pools, noon); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Show(pools, noon); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(s.drawn, "\n"), "\n")
			if last := lines[len(lines)-1]; tc.last != "" {
				if lines = lines[:len(lines)-1]; last != tc.last {
					t.Errorf("want the last line %q, got %q", tc.last, last)
				}
			}
			var names []string
			for _, line := range lines[1:] {
				name, _, _ := strings.Cut(line, " ")
				names = append(names, name)
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("want the rows %s, got %s", tc.want, got)
			}
		})
	}
}

func TestScreenReportsProgress(t *testing.T) {
	report := func(width int) string {
		var out strings.Builder
		s := New(&out)
		s.size = func() (int, int) { return width, 24 }
		for _, step := range []struct {
			after time.Duration
			doing string
		}{{0, "Starting a world"}, {500 * time.Millisecond, "Starting the API server of the management cluster"},
			{3 * time.Second, "Starting the controllers"}, {4 * time.Second, "Applying manifests"}} {
			if err := s.Progress(noon.Add(step.after), step.doing); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.EndProgress(); err != nil {
			t.Fatal(err)
		}
		if err := s.Show([]view.Pool{testPool("a", 1)}, noon); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const clear = "\r\x1b[J"
	want := clear + "Starting a world ..." + clear + "Starting the API server of the manage… (1s)" + clear +
		"Starting the controllers ... (3s)" + clear + "Applying manifests ... (4s)" + clear + clear + "NAME "
	if got := report(44); !strings.HasPrefix(got, want) {
		t.Errorf("want one line that is rewritten and cleared\n%q\ngot\n%q", want, got)
	}
	want = "Starting a world ...\nStarting the API server of the management cluster ... (1s)\nApplying manifests ... (4s)\n" +
		"12:00:00 default/a: 1/2 ready"
	if got := report(0); !strings.HasPrefix(got, want) {
		t.Errorf("want a line every few seconds\n%s\ngot\n%s", want, got)
	}
}

func TestScreenShowsTexts(t *testing.T) {
	text := func(lines int) string {
		var out strings.Builder
		for i := range lines {
			fmt.Fprintf(&out, "line %d\n", i)
		}
		return out.String()
	}
	for _, tc := range []struct {
		why           string
		width, height int
		scrolls       bool
		keys          []Key
		lines         []int
		want          string
	}{
		{why: "a text that fits", width: 40, height: 5, lines: []int{4}, want: text(4)},
		{why: "is not drawn twice", width: 40, height: 5, lines: []int{2, 2}, want: text(2)},
		{why: "a changed text takes its place", width: 40, height: 5, lines: []int{2, 1}, want: text(2) + "\x1b[2A\r\x1b[J" + text(1)},
		{why: "one that is too long", width: 40, height: 5, lines: []int{6}, want: text(3) + "(3 more lines hidden: window too low)\n"},
		{why: "where keys move through it", width: 40, height: 5, scrolls: true, lines: []int{6}, want: text(3) +
			"(3 more lines: press down to scroll)\n"},
		{why: "one that was scrolled keeps its header", width: 40, height: 5, scrolls: true, keys: []Key{Down, Down}, lines: []int{6},
			want: "line 0\nline 2\nline 3\n(lines 2 to 3 of 5; Home: back)\n"},
		{why: "without a terminal each change is printed", lines: []int{1, 1, 2}, want: text(1) + "\n" + text(2)},
	} {
		var out strings.Builder
		s := New(&out)
		s.size, s.scrolls = func() (int, int) { return tc.width, tc.height }, tc.scrolls
		for _, key := range tc.keys {
			s.Scroll(key)
		}
		for _, lines := range tc.lines {
			if err := s.ShowText(text(lines)); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.TrimPrefix(out.String(), "\r\x1b[J"); got != tc.want {
			t.Errorf("%s: want\n%q\ngot\n%q", tc.why, tc.want, got)
		}
	}
}

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/muster-project/muster/view"
)

// screen shows the pools as they change: a table that is drawn again on a terminal, one line for each change elsewhere.
type screen struct {
	out io.Writer
	// size returns the columns and lines of the terminal now; 0 columns where there is none, 0 lines where they are unknown.
	size func() (width, height int)

	drawn string
	lines map[string]string
}

// newScreen looks whether out is a terminal.
func newScreen(out io.Writer) *screen {
	s := &screen{out: out, size: func() (int, int) { return 0, 0 }, lines: map[string]string{}}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		s.size = func() (int, int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return narrowest, 0
			}
			return max(width, narrowest), height
		}
	}
	return s
}

// narrowest is the width below which a table makes no sense; terminals that do not tell theirs are taken as this wide.
const narrowest = 40

// live says whether the table is drawn again, so that it can show time passing.
func (s *screen) live() bool {
	width, _ := s.size()
	return width > 0
}

// show brings the screen up to date.
func (s *screen) show(pools []view.Pool, now time.Time) error {
	if s.live() {
		return s.draw(pools, now)
	}
	return s.tell(pools, now)
}

// draw puts the new table where the old one was.
func (s *screen) draw(pools []view.Pool, now time.Time) error {
	var table strings.Builder
	width, height := s.size()
	shown := fit(pools, height)
	if err := view.Table(&table, shown, now, width); err != nil {
		return err
	}
	if hidden := len(pools) - len(shown); hidden > 0 {
		fmt.Fprintf(&table, hiddenRows, hidden)
	}
	if table.String() == s.drawn {
		return nil
	}
	back := s.back()
	s.drawn = table.String()
	_, err := io.WriteString(s.out, back+s.drawn)
	return err
}

// hiddenRows is the line below a table that does not have all rows; it fits into the narrowest terminal.
const hiddenRows = "(%d more pools hidden: window too low)\n"

// fit returns the pools whose rows and messages fit into a terminal of height lines, in their order. Settled pools are left out
// first, and the last ones before the first ones. At least one pool is returned if there is one. A height of 0 is unknown.
//
// A table of more lines than the terminal has cannot be drawn again in place: its first lines have scrolled out of reach.
func fit(pools []view.Pool, height int) []view.Pool {
	const around = 2 // the header, and the line below the table that the cursor stays on
	lines := around
	for _, p := range pools {
		lines += rows(p)
	}
	if height <= 0 || lines <= height {
		return pools
	}
	lines++ // the line that counts the hidden pools
	hidden, left := make([]bool, len(pools)), len(pools)
	for _, settled := range []bool{true, false} {
		for i := len(pools) - 1; i >= 0 && lines > height && left > 1; i-- {
			if pools[i].Settled == settled {
				hidden[i], lines, left = true, lines-rows(pools[i]), left-1
			}
		}
	}
	shown := make([]view.Pool, 0, left)
	for i, p := range pools {
		if !hidden[i] {
			shown = append(shown, p)
		}
	}
	return shown
}

// rows returns how many lines of the table a pool takes: its row, and its message below all rows.
func rows(p view.Pool) int {
	if p.Message != "" {
		return 2
	}
	return 1
}

// back moves a terminal's cursor to the begin of the table that is drawn, and clears from there.
func (s *screen) back() string {
	const up, clear = "\x1b[%dA", "\r\x1b[J"
	if n := strings.Count(s.drawn, "\n"); n > 0 {
		return fmt.Sprintf(up, n) + clear
	}
	return clear
}

// tell prints a line for each pool that has changed.
func (s *screen) tell(pools []view.Pool, now time.Time) error {
	there := map[string]bool{}
	for _, p := range pools {
		key, line := p.Namespace+"/"+p.Name, p.Line()
		there[key] = true
		if s.lines[key] == line {
			continue
		}
		s.lines[key] = line
		if err := s.print(now, line); err != nil {
			return err
		}
	}
	for key := range s.lines {
		if !there[key] {
			delete(s.lines, key)
			if err := s.print(now, key+": gone"); err != nil {
				return err
			}
		}
	}
	return nil
}

// note prints a line that stays; the table is drawn again below it.
func (s *screen) note(now time.Time, text string) error {
	if s.live() {
		if _, err := io.WriteString(s.out, s.back()); err != nil {
			return err
		}
		s.drawn = ""
	}
	return s.print(now, text)
}

func (s *screen) print(now time.Time, text string) error {
	_, err := fmt.Fprintf(s.out, "%s %s\n", now.Format(time.TimeOnly), text)
	return err
}

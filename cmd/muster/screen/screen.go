// Package screen shows the machine pools of a world as they change, on a terminal or as lines.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/muster-project/muster/view"
)

// Screen shows the pools as they change: a table that is drawn again on a terminal, one line for each change elsewhere.
// It is used by one goroutine.
type Screen struct {
	out io.Writer
	// size returns the columns and lines of the terminal now; 0 columns where there is none, 0 lines where they are unknown.
	size func() (width, height int)
	// scrolls is set while a keyboard moves through a table that is taller than the terminal.
	scrolls bool
	// first is the line of the table that is shown first, counted from 1 below the header; 0 shows the pools that need attention.
	first int

	drawn string
	lines map[string]string
}

// New returns a screen that writes to out, and finds out whether out is a terminal.
func New(out io.Writer) *Screen {
	s := &Screen{out: out, size: func() (int, int) { return 0, 0 }, lines: map[string]string{}}
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

// narrowest is the width, in columns, below which a table makes no sense; a terminal that does not tell its width is taken as this wide.
const narrowest = 40

// Columns returns how wide the terminal is now, in characters; 0 where there is no terminal.
func (s *Screen) Columns() int {
	width, _ := s.size()
	return width
}

// Live tells whether the table is drawn again, so that it can show time passing.
func (s *Screen) Live() bool { return s.Columns() > 0 }

// Show brings the screen up to date.
func (s *Screen) Show(pools []view.Pool, now time.Time) error {
	if s.Live() {
		return s.draw(pools, now)
	}
	return s.tell(pools, now)
}

// draw puts the new table where the old one was.
func (s *Screen) draw(pools []view.Pool, now time.Time) error {
	table, err := s.table(pools, now)
	if err != nil || table == s.drawn {
		return err
	}
	back := s.back()
	s.drawn = table
	_, err = io.WriteString(s.out, back+s.drawn)
	return err
}

// back moves a terminal's cursor to the begin of the table that is drawn, and clears from there.
func (s *Screen) back() string {
	const up, clear = "\x1b[%dA", "\r\x1b[J"
	if n := strings.Count(s.drawn, "\n"); n > 0 {
		return fmt.Sprintf(up, n) + clear
	}
	return clear
}

// tell prints a line for each pool that has changed.
func (s *Screen) tell(pools []view.Pool, now time.Time) error {
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

// Note prints a line that stays; the table is drawn again below it.
func (s *Screen) Note(now time.Time, text string) error {
	if s.Live() {
		if _, err := io.WriteString(s.out, s.back()); err != nil {
			return err
		}
		s.drawn = ""
	}
	return s.print(now, text)
}

func (s *Screen) print(now time.Time, text string) error {
	_, err := fmt.Fprintf(s.out, "%s %s\n", now.Format(time.TimeOnly), text)
	return err
}

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
	// width of the terminal now; 0 where there is none.
	width func() int

	drawn string
	lines map[string]string
}

// newScreen looks whether out is a terminal.
func newScreen(out io.Writer) *screen {
	s := &screen{out: out, width: func() int { return 0 }, lines: map[string]string{}}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		s.width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return narrowest
			}
			return max(width, narrowest)
		}
	}
	return s
}

// narrowest is the width below which a table makes no sense; terminals that do not tell theirs are taken as this wide.
const narrowest = 40

// live says whether the table is drawn again, so that it can show time passing.
func (s *screen) live() bool { return s.width() > 0 }

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
	if err := view.Table(&table, pools, now, s.width()); err != nil {
		return err
	}
	if table.String() == s.drawn {
		return nil
	}
	back := s.back()
	s.drawn = table.String()
	_, err := io.WriteString(s.out, back+s.drawn)
	return err
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

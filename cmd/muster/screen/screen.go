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
	// size returns the current columns and lines of the terminal. Without a terminal it returns 0 columns; 0 lines are unknown.
	size func() (width, height int)
	// color is true if the terminal shows colours, and the user has not switched them off.
	color bool
	// scrolls is set while a keyboard moves through a table that is taller than the terminal.
	scrolls bool
	// first is the line of the table that is shown first, counted from 1 below the header; 0 shows the pools that need attention.
	first int

	drawn string
	lines map[string]string
	// begun and reported are the times of the first and of the last report of progress.
	begun, reported time.Time
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
		s.color = os.Getenv("NO_COLOR") == "" // https://no-color.org
	}
	return s
}

// narrowest is the width, in columns, below which a table is useless. It is also the assumed width of a terminal that reports none.
const narrowest = 40

// Columns returns the present width of the terminal in characters; 0 without a terminal.
func (s *Screen) Columns() int {
	width, _ := s.size()
	return width
}

// Terminal describes the terminal for a text that is written to it.
func (s *Screen) Terminal() view.Terminal { return view.Terminal{Width: s.Columns(), Color: s.color} }

// Live reports whether the table is redrawn, so that it can show elapsed time.
func (s *Screen) Live() bool { return s.Columns() > 0 }

// Show brings the screen up to date.
func (s *Screen) Show(pools []view.Pool, now time.Time) error {
	if s.Live() {
		return s.draw(pools, now)
	}
	return s.printChanges(pools, now)
}

// draw puts the new table where the old one was.
func (s *Screen) draw(pools []view.Pool, now time.Time) error {
	table, err := s.table(pools, now)
	if err != nil {
		return err
	}
	return s.redraw(table)
}

// redraw puts a text where the last one was.
func (s *Screen) redraw(text string) error {
	if text == s.drawn {
		return nil
	}
	back := s.back()
	s.drawn = text
	_, err := io.WriteString(s.out, back+s.drawn)
	return err
}

// ShowText brings the screen up to date with a text whose first line is a header. Where nothing can be redrawn, a changed text is printed
// again.
func (s *Screen) ShowText(text string) error {
	if s.Live() {
		return s.redraw(s.fitText(text))
	}
	if text == s.drawn {
		return nil
	}
	between := ""
	if s.drawn != "" {
		between = "\n"
	}
	s.drawn = text
	_, err := io.WriteString(s.out, between+text)
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

// printChanges prints a line for each pool that has changed.
func (s *Screen) printChanges(pools []view.Pool, now time.Time) error {
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

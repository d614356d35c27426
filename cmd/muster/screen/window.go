package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/view"
)

const (
	// hiddenRows is the line below a table that does not have all rows; it fits into the narrowest terminal.
	hiddenRows = "(%d more pools hidden: window too low)\n"
	// hiddenBelow is the same where a keyboard shows them.
	hiddenBelow = "(%d more pools: press down to scroll)\n"
	// position is the line below a table that is scrolled.
	position = "(lines %d to %d of %d; Home: back)\n"
	// around are the lines of a terminal that the rows cannot have: the header, and the line below the table that the cursor stays on.
	around = 2
)

// table returns what the terminal has room for: the window that was scrolled to, or the pools that need attention.
func (s *Screen) table(pools []view.Pool, now time.Time) (string, error) {
	width, height := s.size()
	shown := fit(pools, width, height)
	hidden := len(pools) - len(shown)
	if hidden == 0 || !s.scrolls {
		s.first = 0
	}
	if s.first > 0 {
		shown = pools
	}
	var text strings.Builder
	if err := view.Table(&text, shown, now, view.Terminal{Width: width, Color: s.color}); err != nil {
		return "", err
	}
	switch {
	case s.first > 0:
		return s.window(text.String(), height), nil
	case hidden > 0 && s.scrolls:
		fmt.Fprintf(&text, hiddenBelow, hidden)
	case hidden > 0:
		fmt.Fprintf(&text, hiddenRows, hidden)
	}
	return text.String(), nil
}

// window returns the header of a table and as many of its other lines as fit, from the first one that is shown.
func (s *Screen) window(table string, height int) string {
	lines := slices.Collect(strings.Lines(table))
	header, rows := lines[0], lines[1:]
	room := max(height-around-1, 1) // one line is the position
	s.first = max(min(s.first, len(rows)-room+1), 1)
	last := min(s.first+room-1, len(rows))
	return header + strings.Join(rows[s.first-1:last], "") + fmt.Sprintf(position, s.first, last, len(rows))
}

const (
	// hiddenLines is the line below a text that does not have all lines.
	hiddenLines = "(%d more lines hidden: window too low)\n"
	// linesBelow is the same where a keyboard shows them.
	linesBelow = "(%d more lines: press down to scroll)\n"
)

// fitText returns as much of a text as the terminal has room for: its begin, or the window that was scrolled to.
func (s *Screen) fitText(text string) string {
	_, height := s.size()
	lines := slices.Collect(strings.Lines(text))
	if height <= 0 || len(lines) < height {
		s.first = 0
		return text
	}
	if s.scrolls && s.first > 0 {
		return s.window(text, height)
	}
	room := max(height-around, 1)
	below := hiddenLines
	if s.scrolls {
		below = linesBelow
	}
	return strings.Join(lines[:room], "") + fmt.Sprintf(below, len(lines)-room)
}

// Scroll moves through a table that is taller than the terminal. The next Show draws it.
func (s *Screen) Scroll(key Key) {
	_, height := s.size()
	page := max(height-around-1, 1)
	switch key {
	case Down:
		s.first++
	case Up:
		s.first--
	case PageDown:
		s.first = max(s.first, 1) + page
	case PageUp:
		s.first -= page
	case End:
		s.first = toEnd
	case Home:
		s.first = 0
	}
	s.first = max(min(s.first, toEnd), 0)
}

// toEnd is beyond the last line of every table; a window ends at the last one that there is.
const toEnd = 1 << 30

// fit returns the pools whose rows and messages fit into a terminal of this size, in their order. Settled pools are left out
// first, and the last ones before the first ones. At least one pool is returned if there is one. A height of 0 is unknown.
//
// A table of more lines than the terminal has cannot be drawn again in place: its first lines have scrolled out of reach.
func fit(pools []view.Pool, width, height int) []view.Pool {
	lines := around
	for _, p := range pools {
		lines += view.Rows(p, width)
	}
	if height <= 0 || lines <= height {
		return pools
	}
	lines++ // the line that counts the hidden pools
	hidden, left := make([]bool, len(pools)), len(pools)
	for _, settled := range []bool{true, false} {
		for i := len(pools) - 1; i >= 0 && lines > height && left > 1; i-- {
			if pools[i].Settled == settled {
				hidden[i], lines, left = true, lines-view.Rows(pools[i], width), left-1
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

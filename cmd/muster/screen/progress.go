package screen

import (
	"fmt"
	"io"
	"time"

	"github.com/muster-project/muster/view"
)

// progressPause is the least time between two lines of progress where nothing can be redrawn.
const progressPause = 3 * time.Second

// Progress reports what is being done, with the time since the first report: as one line that is rewritten, or in a log as a line every few
// seconds. Other output takes the place of the line.
func (s *Screen) Progress(now time.Time, doing string) error {
	first := s.begun.IsZero()
	if first {
		s.begun = now
	}
	took := ""
	if seconds := now.Sub(s.begun).Round(time.Second); seconds > 0 {
		took = fmt.Sprintf(" (%v)", seconds)
	}
	if s.Live() {
		width := s.Columns() - len(took) - 1 // the cursor stays on the line
		return s.redraw(view.Cut(doing+" ...", width) + took)
	}
	if now.Sub(s.reported) < progressPause {
		return nil
	}
	if !first { // what the first report announces begins with the second one
		s.reported = now
	}
	_, err := fmt.Fprintf(s.out, "%s ...%s\n", doing, took)
	return err
}

// EndProgress clears the line of progress.
func (s *Screen) EndProgress() error {
	s.begun = time.Time{}
	if !s.Live() || s.drawn == "" {
		return nil
	}
	back := s.back()
	s.drawn = ""
	_, err := io.WriteString(s.out, back)
	return err
}

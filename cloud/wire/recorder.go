package wire

import (
	"fmt"
	"io"
	"sync"
)

// Recorder writes one line for every request: the call, where it went and how it ended. It sees neither bodies nor
// headers, so that no secret can reach it.
type Recorder struct {
	mu sync.Mutex
	w  io.Writer
}

// NewRecorder makes a Recorder that writes to w, one line at a time.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{w: w} }

// Done writes the line. A line that can't be written is lost: recording never disturbs the call.
func (r *Recorder) Done(c Call, result Result) {
	end := fmt.Sprint(result.Status)
	switch {
	case result.Limited:
		end = "held-back"
	case result.Status == 0:
		end = "no-reply"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = fmt.Fprintf(r.w, "%s %s %s %s\n", c, c.Account, c.Region, end)
}

// Throttled writes nothing: Done has written the line of the request.
func (r *Recorder) Throttled(Call, Result) {}

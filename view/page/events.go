package page

import (
	"bytes"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// beat is the time between two signs of life of a stream.
	beat = 10 * time.Second
	// writeLimit bounds the time that a client takes for one message.
	writeLimit = 20 * time.Second
	// retryAfter is the time in seconds after which a client that was refused may try again.
	retryAfter = 10
)

// beatMessage is a named event: it replaces nothing, and the page's script hears it.
var beatMessage = []byte("event: beat\ndata: .\n\n")

// message renders a part of a page as an event without a name, which htmx swaps in.
func message(page, part string, data any) ([]byte, error) {
	text, err := execute(page, part, data)
	if err != nil {
		return nil, err
	}
	return event(text), nil
}

// event returns a text as an event.
func event(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			b.WriteString("data: ")
			b.Write(bytes.ReplaceAll(line, []byte("\r"), []byte(" ")))
			b.WriteByte('\n')
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// take takes one of the streams for a user.
func (s *Server) take(v *Viewer) (func(), error) {
	free, err := s.slots.Take(v.Name)
	if err != nil {
		return nil, apierrors.NewTooManyRequests(err.Error()+": close a page", retryAfter)
	}
	return free, nil
}

// writer returns a function that writes one part of a stream, and reports whether the client took it in time.
func writer(w http.ResponseWriter) func(text []byte) bool {
	control := http.NewResponseController(w)
	return func(text []byte) bool {
		if len(text) == 0 {
			return true
		}
		if err := control.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
			return false
		}
		_, err := w.Write(text)
		return err == nil && control.Flush() == nil
	}
}

// send keeps a stream open until the client or the server ends it, the user is due for a review, or the channel is closed. first is sent
// at once.
func (s *Server) send(w http.ResponseWriter, r *http.Request, v *Viewer, first []byte, messages <-chan []byte) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	write := writer(w)
	if !write(append([]byte("retry: 1000\n"), append(beatMessage, first...)...)) {
		return nil
	}
	beats := time.NewTicker(beat)
	defer beats.Stop()
	var until <-chan time.Time
	if !v.Until.IsZero() {
		until = time.After(time.Until(v.Until))
	}
	for {
		var text []byte
		select {
		case <-r.Context().Done():
			return nil
		case <-s.o.Done:
			return nil
		case <-until:
			return nil // it connects again
		case <-beats.C:
			text = beatMessage
		case next, open := <-messages:
			if !open {
				return nil // too slow; it connects again
			}
			text = next
		}
		if !write(text) {
			return nil // the client went away
		}
	}
}

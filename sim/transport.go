package sim

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// ErrDropped is what a client sees of a connection that was closed without an answer.
var ErrDropped = errors.New("connection closed before an answer came")

// ErrClosed is what a simulated cloud returns that was closed.
var ErrClosed = errors.New("the simulator is closed")

// Transport carries requests to a handler in the same process, in the caller's goroutine: no socket, no goroutine of its own,
// so that a simulated cloud can be used in virtual time and every run is the same.
type Transport struct{ Handler http.Handler }

// RoundTrip answers with what the handler writes, or with ErrDropped when it drops the connection.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	t.Handler.ServeHTTP(w, in)
	if err := errors.Join(in.Body.Close(), r.Context().Err()); err != nil {
		return nil, err
	}
	if w.dropped {
		return nil, ErrDropped
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// recorder keeps what a handler writes.
type recorder struct {
	header  http.Header
	body    bytes.Buffer
	status  int
	dropped bool
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }

// Drop throws away the answer.
func (w *recorder) Drop() { w.dropped = true }

// Drop closes the client's connection without an answer. Where the connection cannot be had, the answer is one that no client
// takes for an answer of the cloud.
func Drop(w http.ResponseWriter) {
	if d, ok := w.(interface{ Drop() }); ok {
		d.Drop()
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = conn.Close() // dropping it is the point
}

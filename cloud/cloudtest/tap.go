package cloudtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// tap is the wire between driver and cloud.
type tap struct {
	t    T
	next http.RoundTripper
	// published is the suite's.
	published Specification
	// carried says of every request so far whether bootstrap data was in it.
	carried []bool
	// retryAfter is put into the header of every refusal, where it is not empty.
	retryAfter string
}

// RoundTrip carries the request. Addresses are written into logs everywhere: no secret may be in one.
func (w *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	if leaks(req.URL.String()) {
		w.t.Errorf("want no bootstrap data in an address, got one in %s", req.URL.Path)
	}
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	if w.published != nil {
		if err := w.published.Request(req, body); err != nil {
			w.t.Errorf("want requests as the service publishes them: %v", err)
		}
	}
	text, err := url.QueryUnescape(body)
	w.carried = append(w.carried, leaks(body) || err == nil && leaks(text))
	reply, err := w.next.RoundTrip(req)
	if err == nil && w.published != nil {
		err = w.checkAnswer(req, body, reply)
	}
	if err == nil && reply.StatusCode >= http.StatusBadRequest && w.retryAfter != "" {
		reply.Header.Set("Retry-After", w.retryAfter)
	}
	return reply, err
}

// checkAnswer holds a reply against what the service publishes.
func (w *tap) checkAnswer(req *http.Request, body string, reply *http.Response) error {
	answer, err := io.ReadAll(reply.Body)
	if err = errors.Join(err, reply.Body.Close()); err != nil {
		return fmt.Errorf("read the reply: %w", err)
	}
	reply.Body = io.NopCloser(bytes.NewReader(answer))
	if err := w.published.Answer(req, body, reply, answer); err != nil {
		w.t.Errorf("want answers as the service publishes them: %v", err)
	}
	return nil
}

// bodyOf reads the request's body and puts it back.
func bodyOf(req *http.Request) (string, error) {
	if req.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return "", fmt.Errorf("read the request: %w", err)
	}
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	return string(body), nil
}

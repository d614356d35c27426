package specs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Watch returns a transport that holds the answers of another against the specification and reports what differs. Requests are not held
// against it: tests of a simulator send wrong ones on purpose.
func (s *Specification) Watch(next http.RoundTripper, report func(error)) http.RoundTripper {
	return transport{s, next, report}
}

type transport struct {
	spec   *Specification
	next   http.RoundTripper
	report func(error)
}

// RoundTrip carries a request and reads the answer whole.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := whole(&r.Body)
	if err != nil {
		return nil, err
	}
	reply, err := t.next.RoundTrip(r)
	if err != nil {
		return reply, err
	}
	answer, err := whole(&reply.Body)
	if err != nil {
		return nil, err
	}
	if err := t.spec.Answer(r, string(body), reply, answer); err != nil {
		t.report(err)
	}
	return reply, nil
}

// whole reads a body and puts it back.
func whole(body *io.ReadCloser) ([]byte, error) {
	if *body == nil || *body == http.NoBody {
		return nil, nil
	}
	text, err := io.ReadAll(*body)
	if err = errors.Join(err, (*body).Close()); err != nil {
		return nil, fmt.Errorf("read a body: %w", err)
	}
	*body = io.NopCloser(bytes.NewReader(text))
	return text, nil
}

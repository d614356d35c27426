package world

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// trace is everything that happened, one line each, with the virtual time since the beginning.
type trace struct {
	began time.Time
	text  strings.Builder
}

func (t *trace) add(what, format string, args ...any) {
	fmt.Fprintf(&t.text, "%10.3f %-6s ", time.Since(t.began).Seconds(), what)
	fmt.Fprintf(&t.text, format, args...)
	t.text.WriteByte('\n')
}

func (t *trace) String() string { return t.text.String() }

// inWords is what a write asks for, without its secrets, and which instances it names.
func (w *World) inWords(service string, req *http.Request) (text string, named []string, err error) {
	var body []byte
	if req.Body != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return "", nil, fmt.Errorf("read the request: %w", err)
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return w.pool.Asked(service, req, body)
}

// errorCodes are where the services put the word for what is wrong.
var errorCodes = []*regexp.Regexp{regexp.MustCompile(`<Code>([^<]*)</Code>`), regexp.MustCompile(`^\{"error":\{"code":"([^"]*)"`)}

// Ending is how a call ended, in words.
func Ending(reply *http.Response, err error) string {
	if err != nil {
		return "no reply"
	}
	if reply.StatusCode < http.StatusMultipleChoices {
		return "ok"
	}
	body, _ := io.ReadAll(reply.Body)
	reply.Body = io.NopCloser(bytes.NewReader(body))
	code := cmp.Or(reply.Header.Get("X-Amzn-Errortype"), "?")
	for _, form := range errorCodes {
		if found := form.FindSubmatch(body); found != nil {
			code = string(found[1])
		}
	}
	return fmt.Sprintf("%d %s", reply.StatusCode, code)
}

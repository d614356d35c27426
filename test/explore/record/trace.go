package record

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Trace is everything that happened, one line each, with the virtual time since the beginning. Workers and the alarms of the simulated
// clouds add to it at once.
type Trace struct {
	Began time.Time

	mu   sync.Mutex
	text strings.Builder
}

// Add adds a line.
func (t *Trace) Add(what, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(&t.text, "%10.3f %-6s ", time.Since(t.Began).Seconds(), what)
	fmt.Fprintf(&t.text, format, args...)
	t.text.WriteByte('\n')
}

func (t *Trace) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// errorCodes match the error code in the responses of the services.
var errorCodes = []*regexp.Regexp{regexp.MustCompile(`<Code>([^<]*)</Code>`), regexp.MustCompile(`^\{"error":\{"code":"([^"]*)"`)}

// Ending describes the outcome of a call.
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

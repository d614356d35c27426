package world

import (
	"fmt"
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

package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoResponse holds that the words on a reply that never came are the same each time, and name no connection.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		err    error
		want   string
	}{
		{"nothing is known", errors.New("odd"), ""},
		{"the deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), " (it took too long)"},
		{"the caller went", context.Canceled, " (the call was given up)"},
		{"nothing listens", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, " (nothing listens there)"},
		{"it broke off", fmt.Errorf("read tcp 10.0.0.1:51111: %w", syscall.ECONNRESET), " (the connection ended)"},
		{"it broke off in the middle", io.ErrUnexpectedEOF, " (the connection ended)"},
		{"an unknown name", &net.DNSError{Name: "x"}, " (its name can't be resolved)"},
		{"a text is all that is left", errors.New(`Post "https://x": dial tcp: lookup x: no such host`), " (its name can't be resolved)"},
	} {
		want := &Error{Kind: Unavailable, Op: "s:Call", Code: "NoReply",
			Message: "the service gave no reply that could be read" + c.want + ": it may have done what was asked"}
		if diff := cmp.Diff(want, NoResponse("s:Call", c.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

// TestRefusals holds what is done with a refusal that has been made, and with an error that is none.
func TestRefusals(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	if CodeOf(other) != "" || CodeOf(nil) != "" || InField(other, "spec.x").Error() != "other" || AsConflict(other).Error() != "other" {
		t.Error("want an error that is no refusal left as it is")
	}
	refused := fmt.Errorf("step: %w", &Error{Kind: Invalid, Op: "Put", Code: "Bad"})
	if CodeOf(refused) != "Bad" || OpOf(refused) != "Put" || OpOf(other) != "" {
		t.Errorf("want the code and the call within, got %q and %q", CodeOf(refused), OpOf(refused))
	}
	var e *Error
	if !errors.As(InField(refused, "spec.x"), &e) || e.Field != "spec.x" {
		t.Errorf("want the field, got %v", refused)
	}
	if !errors.As(InField(refused, "spec.y"), &e) || e.Field != "spec.x" {
		t.Errorf("want a field that is named kept, got %v", refused)
	}
	if AsConflict(refused); KindOf(refused) != Conflict || e.Field != "" {
		t.Errorf("want a conflict about no field, got %v", refused)
	}
	if err := InField(&Error{Kind: Denied}, "spec.x"); !errors.As(err, &e) || e.Field != "" {
		t.Errorf("want no field for what is not invalid, got %v", err)
	}
	for status, want := range map[int]ErrorKind{429: Throttled, 401: Denied, 403: Denied, 409: Conflict, 412: Conflict, 408: Unavailable,
		400: Invalid, 404: Invalid, 500: Unavailable, 0: Unavailable} {
		if got := KindOfStatus(status); got != want {
			t.Errorf("status %d: want %s, got %s", status, want, got)
		}
	}
}

// TestPlain holds that a message fits into a condition.
func TestPlain(t *testing.T) {
	t.Parallel()
	if got := NormalizeText("  a\r\n\t b  "); got != "a b" {
		t.Errorf("want one line, got %q", got)
	}
	long := NormalizeText(strings.Repeat("ü", messageMost))
	if len(long) > messageMost+3 || !strings.HasSuffix(long, "ü...") {
		t.Errorf("want a long message cut between letters, got %d bytes: %q", len(long), long[len(long)-8:])
	}
}

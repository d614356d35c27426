package session

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// replyAt returns the metadata of the SDK for a reply with that date.
func replyAt(t *testing.T, date string) smithymiddleware.Metadata {
	t.Helper()
	next := smithymiddleware.DeserializeHandlerFunc(func(context.Context,
		smithymiddleware.DeserializeInput) (smithymiddleware.DeserializeOutput, smithymiddleware.Metadata, error) {
		h := http.Header{}
		if date != "" {
			h.Set("Date", date)
		}
		return smithymiddleware.DeserializeOutput{RawResponse: &smithyhttp.Response{Response: &http.Response{Header: h}}},
			smithymiddleware.Metadata{}, nil
	})
	_, metadata, err := (&middleware.RecordResponseTiming{}).HandleDeserialize(t.Context(), smithymiddleware.DeserializeInput{}, next)
	if err != nil {
		t.Fatal(err)
	}
	return metadata
}

func TestOurTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, time.May, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		reason string
		date   string
		moved  time.Duration
	}{
		"no date":  {"a reply that does not tell the time is taken at its word", "", 0},
		"a little": {"replies tell whole seconds, and some while after", time.Now().Add(time.Second).UTC().Format(http.TimeFormat), 0},
		"ahead": {"what the service made at noon was made earlier by our clock", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat),
			-time.Hour},
		"behind":    {"or later", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), time.Hour},
		"no moment": {"a date that is none tells nothing", "noon", 0},
	} {
		got := OurTime(&at, replyAt(t, c.date))
		if moved := got.Sub(at); (moved-c.moved).Abs() > 2*time.Second || c.moved == 0 && moved != 0 {
			t.Errorf("%s: %s: want it moved by %s, got %s", name, c.reason, c.moved, moved)
		}
	}
	if got := OurTime(nil, replyAt(t, "")); got != nil {
		t.Errorf("what is not told stays so, got %v", got)
	}
}

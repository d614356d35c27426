package instancepool

import (
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/session"
)

// TestRetryTokens holds that a request has the same token each time it is sent, until OCI refuses the token and reads from after the
// refusal show no effect.
func TestRetryTokens(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var first, second retryTokens
	key, token := first.of(now, "pool", "owner")
	if _, again := second.of(now.Add(time.Hour), "pool", "owner"); *again != *token || len(*token) > 64 {
		t.Errorf("want one token in all processes, of 64 characters at most, got %s and %s", *token, *again)
	}
	if _, other := first.of(now, "pool", "other"); *other == *token {
		t.Errorf("want another token for another owner, got %s", *other)
	}
	first.note(key, now, &cloud.Error{Kind: cloud.Unavailable})
	if _, again := first.of(now, "pool", "owner"); *again != *token {
		t.Errorf("want the same token after a lost reply, got %s and %s", *token, *again)
	}
	refused := &cloud.Error{Kind: cloud.Conflict, Code: session.CodeInvalidatedRetryToken}
	first.note(key, now, refused)
	if _, again := first.of(now.Add(visibleWithin-1), "pool", "owner"); *again != *token {
		t.Error("want the same token as long as reads may be from before the refusal")
	}
	first.note(key, now.Add(visibleWithin-1), refused)
	_, next := first.of(now.Add(visibleWithin), "pool", "owner")
	if *next == *token {
		t.Error("want another token once reads are from after the refusal")
	}
	first.note(key, now.Add(visibleWithin), refused)
	if _, third := first.of(now.Add(3*visibleWithin), "pool", "owner"); *third == *next || *third == *token {
		t.Error("want another token after each refusal")
	}
}

// TestStates holds what becomes of the states of instances, in whatever spelling.
func TestStates(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"Running": "Running", "RUNNING": "Running", "Creating Image": "Running", "MOVING": "Running", "Stopping": "Running", "stopped": "Failed",
		"Provisioning": "Pending", "STARTING": "Pending", "Terminating": "Terminating", "Terminated": "Terminating", "DETACHING": "Terminating",
		"Termination_await": "Terminating", "TERMINATION_PROCEED": "Terminating", "Something new": "Running", "": "Running",
	} {
		if got := string(stateOf(wordOf(word))); got != want {
			t.Errorf("%q: want %s, got %s", word, want, got)
		}
	}
}

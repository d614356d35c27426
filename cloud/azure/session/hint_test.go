package session_test

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud/azure/session"
)

// begun is an operation that runs, with the token that the SDK keeps.
type begun string

func (begun) Done() bool                     { return false }
func (b begun) ResumeToken() (string, error) { return string(b), nil }

// TestHintKeepsOneAddress holds that of an operation only the address is kept that is polled: signed addresses are long, and the hint is in
// the status of an object.
func TestHintKeepsOneAddress(t *testing.T) {
	t.Parallel()
	at := func(name string) string {
		return "https://management.azure.com/" + name + "?s=" + strings.Repeat("x", 3000)
	}
	for why, row := range map[string]struct{ token, want string }{
		"the status first": {`{"type":"X","token":{"asyncURL":"` + at("status") + `","locURL":"` + at("result") + `","origURL":"` + at("set") +
			`","state":"InProgress"}}`, `{"token":{"asyncURL":"` + at("status") + `"}}`},
		"the result without a status": {`{"token":{"pollURL":"` + at("result") + `"}}`, `{"token":{"asyncURL":"` + at("result") + `"}}`},
		"no address":                  {`{"token":{"state":"InProgress"}}`, `{"token":{"state":"InProgress"}}`},
	} {
		if got, ok := session.Hint(begun(row.token)); !ok || got != row.want {
			t.Errorf("%s: want %s, got %s, %t", why, row.want, got, ok)
		}
	}
}

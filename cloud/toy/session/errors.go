package session

import (
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

// CodeExists is the code of a refusal because a name is taken.
const CodeExists = "AlreadyExists"

const codeNotFound = "NotFound"

// Table holds the codes of the cloud's refusals, of requests and of operations.
var Table = refusal.New(refusal.Table{
	Codes: map[cloud.ErrorKind][]string{
		cloud.Throttled:   {"TooManyRequests"},
		cloud.Conflict:    {CodeExists, "Busy", "PreconditionFailed", "NodeNotFound", "MachineNotFound", "NotCancellable", "InUse"},
		cloud.Capacity:    {"OutOfCapacity"},
		cloud.Denied:      {"Forbidden", "Unauthenticated"},
		cloud.Invalid:     {"InvalidField", "InvalidBody", codeNotFound},
		cloud.Unavailable: {"Internal"},
	},
	Absent:    []string{codeNotFound},
	Rewritten: []refusal.Rewritten{{Part: regexp.MustCompile(`operation [0-9a-f-]{36}`), By: "operation"}},
	Places:    []refusal.Place{{Name: regexp.MustCompile(`left in ([a-z0-9-]+)`), Label: "zone "}},
})

// kindOf returns the kind of a code, or that of an HTTP status for a code that is not documented.
func kindOf(code string, status int) cloud.ErrorKind {
	if kind, known := Table.Kind(code); known {
		return kind
	}
	return cloud.KindOfStatus(status)
}

// refused returns the error of a reply, about the member of the request that the cloud names.
func refused(op string, status int, header http.Header, body []byte, now time.Time) error {
	if refusal.NotFromService(status, body) {
		return cloud.NotFromService(op, status)
	}
	var said struct{ Code, Message, Field string }
	_ = json.Unmarshal(body, &said) // a body of another form says nothing
	e := &cloud.Error{Op: op, After: wire.RetryAfter(header, now)}
	Table.Describe(e, refusal.ServiceError{Kind: kindOf(said.Code, status), Code: said.Code, Message: said.Message, Status: status})
	return driverkit.AboutPart(e, said.Field)
}

// unanswered returns the error of a request without a reply.
func unanswered(op string, err error) error {
	e := &cloud.Error{Op: op, Kind: cloud.Unavailable}
	if !refusal.Unsent(e, err) {
		refusal.Unanswered(e, err)
	}
	return e
}

// Problem is why something failed, as the cloud shows it.
type Problem struct{ Code, Message string }

// Error returns the problem as an error of the cloud's.
func (p *Problem) Error() *cloud.Error {
	e := &cloud.Error{}
	Table.Describe(e, refusal.ServiceError{Kind: kindOf(p.Code, 0), Code: p.Code, Message: p.Message})
	return e
}

package project

import (
	"strconv"
	"time"

	"github.com/muster-project/muster/sim/core"
)

// Core is shared by the services: the clock, the numbering, and the operations. Operations of the API run one at a time.
type Core struct {
	*core.State
	// Operations holds the started operations, Requests the operation that each request ID started.
	Operations *core.Table[Operation]
	Requests   *core.Table[Begun]
	// Outages are the unreachable scopes, such as zones/us-central1-a.
	Outages *core.Table[Outage]
}

// Outage is an unreachable scope.
type Outage struct{ Scope string }

// NewCore returns an empty core.
func NewCore(e *core.Environment) *Core {
	return &Core{
		State: core.NewState(e, ""), Operations: core.NewTable[Operation]("operation/"), Requests: core.NewTable[Begun]("request/"),
		Outages: core.NewTable[Outage]("outage/"),
	}
}

// Tables returns the tables of the core.
func (w *Core) Tables() core.Tables {
	return core.Tables{w.Sequences, w.Operations, w.Requests, w.Outages}
}

// NewID returns the next ID of a resource: a number of nineteen digits, no two alike.
func (w *Core) NewID() uint64 {
	const first, span = uint64(1e18), uint64(8e18)
	n := w.NextNumber("id")
	return first + uint64(w.Seed.Chance("id", n)*float64(span))/1e6*1e6 + uint64(n)
}

// Unreachable returns the error for a request to a scope that can't be reached.
func Unreachable(scope string) *Error {
	return &Error{Status: 503, Reason: "backendError", State: "UNAVAILABLE",
		Message: "The scope '" + scope + "' can't be reached. Try again later."}
}

// Digits returns an ID as Google writes it: in JSON it is a string.
func Digits(id uint64) string { return strconv.FormatUint(id, 10) }

// Address returns the next private address of a network.
func (w *Core) Address() string {
	n := w.NextNumber("address") + 1 // the first addresses of a subnetwork are Google's
	return "10.128." + strconv.Itoa(int(n/250)%250) + "." + strconv.Itoa(int(n%250)+2)
}

// Stamp returns a time as Compute Engine writes it.
func Stamp(t time.Time) string {
	return t.In(time.FixedZone("", -8*60*60)).Format("2006-01-02T15:04:05.000-07:00")
}

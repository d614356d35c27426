package wire

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/muster-project/muster/cloud"
)

// Call identifies one request by the names of the cloud's API.
type Call struct {
	// Service and Operation: "autoscaling", "DescribeAutoScalingGroups".
	Service, Operation string
	// Account identifies the account, Region the region that the call goes to.
	Account, Region string
	// Resource is the single object of the call, where a cloud has a budget for each. It is no label of metrics.
	Resource string
	// ReadOnly is true if the call changes nothing: it yields to writes of the same priority.
	ReadOnly bool
}

// String is the form that messages and policies use: "autoscaling:DescribeAutoScalingGroups".
func (c Call) String() string { return c.Service + ":" + c.Operation }

type callKey struct{}

// WithCall names the request that is sent with the context.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom is the call that the context names; the zero Call when it names none.
func CallFrom(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

type writesKey struct{}

// Writes counts the requests of a context that were sent and may change something.
type Writes struct{ sent atomic.Int64 }

// Sent returns how many were sent, whether they were answered or not.
func (w *Writes) Sent() int { return int(w.sent.Load()) }

// CountWrites returns a context whose writes are counted.
func CountWrites(ctx context.Context) (context.Context, *Writes) {
	w := &Writes{}
	return context.WithValue(ctx, writesKey{}, w), w
}

// count counts a request that is sent within the context.
func (c Call) count(ctx context.Context) {
	if w, ok := ctx.Value(writesKey{}).(*Writes); ok && !c.ReadOnly {
		w.sent.Add(1)
	}
}

type pagesKey struct{}

// Pages are the requests of one list. They are sent one after another.
type Pages struct{ expected, sent int }

// Sent returns how many were sent.
func (p *Pages) Sent() int { return p.sent }

// Paged returns a context for the requests of one list of the expected number of pages. The first request is sent only when its budgets
// have room for all pages; the others are then sent at once. A paged list that is throttled midway restarts: without this reservation a
// list longer than the refill between two attempts would never finish. Pages beyond those expected are counted, and not held back.
func Paged(ctx context.Context, expected int) (context.Context, *Pages) {
	p := &Pages{expected: max(expected, 1)}
	return context.WithValue(ctx, pagesKey{}, p), p
}

// PagesOf returns the list that a context is for, or nil.
func PagesOf(ctx context.Context) *Pages {
	p, _ := ctx.Value(pagesKey{}).(*Pages)
	return p
}

// ReadPages reads a complete list: page reads the next page and reports whether others follow. The context is one of Paged if more than one
// page is expected. A list of more than limit pages is an error, because the missing part could matter.
func ReadPages(ctx context.Context, limit int, page func(context.Context) (more bool, err error)) error {
	if PagesOf(ctx) == nil {
		ctx, _ = Paged(ctx, 1)
	}
	for range limit {
		if more, err := page(ctx); err != nil || !more {
			return err
		}
	}
	return &cloud.Error{Kind: cloud.Unavailable, Code: "EndlessList",
		Message: fmt.Sprintf("the service has given %d pages of a list and still has more: make the filters of the specification narrower",
			limit)}
}

// next returns how many calls the next request counts as, and whether it is sent whatever the budgets have left.
func (p *Pages) next() (calls int, begun bool) {
	switch {
	case p == nil:
		return 1, false
	case p.sent == 0:
		return p.expected, false
	case p.sent < p.expected:
		return 0, true
	}
	return 1, true
}

// Result is the outcome of one request.
type Result struct {
	// Status is the HTTP status of the reply, zero when there was none.
	Status int
	// Limited is true if the request was not sent, because its budget was empty.
	Limited bool
	// Priority of the request.
	Priority cloud.Priority
	// Duration until the reply's header had come.
	Duration time.Duration
	// Budgets are the buckets that the call shares with others, after it.
	Budgets []BudgetState
}

// Hook is called after every request. It must be safe for concurrent use, quick, and never fail.
type Hook interface {
	Done(c Call, r Result)
	// Throttled is called after Done if the cloud refused the request because of its rate limits, once for each request. Budgets of r are
	// those after the refusal.
	Throttled(c Call, r Result)
}

// Around is called before a request and returns the context of the request and a function that is called after it. Both must be safe for
// concurrent use and quick.
type Around func(ctx context.Context, c Call) (context.Context, func(Result))

// Hooks are several hooks as one.
type Hooks []Hook

// Done tells each of them.
func (h Hooks) Done(c Call, r Result) {
	for _, hook := range h {
		hook.Done(c, r)
	}
}

// Throttled tells each of them.
func (h Hooks) Throttled(c Call, r Result) {
	for _, hook := range h {
		hook.Throttled(c, r)
	}
}

// RateLimitedError is the error of a request that was not sent because a budget is used up.
type RateLimitedError struct {
	Call Call
	// Budget is the name of the bucket that is used up.
	Budget string
	// After is the time until the call's place in line comes.
	After time.Duration
}

// Error names the call and the budget that held it back. It contains no times, so that the message is stable.
func (e *RateLimitedError) Error() string {
	name := e.Budget
	if name == "" {
		name = "this account and region"
	}
	return fmt.Sprintf("%s was held back: the rate budget of %s is used up", e.Call, name)
}

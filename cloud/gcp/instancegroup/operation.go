package instancegroup

import (
	"context"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// The methods by which operations on the group are begun.
const (
	methodCreate = "PUT"
	methodChange = "PATCH"
	methodDelete = "DELETE"
)

// operation is the last operation that Muster began on the group. It is a hint for the words of a failure: nothing else is derived from it.
type operation struct {
	pool.Operation
	// cause is why it failed, nil while that is not known. ended is true once Compute Engine has answered that it is over.
	cause *pool.Cause
	ended bool
}

// began remembers an operation.
func (m *memory) began(method, group string, op *compute.Operation) {
	if op != nil && op.SelfLink != "" {
		m.operation = operation{Operation: pool.Operation{Type: method, Resource: group, Token: op.SelfLink}}
	}
}

// pending reports whether the group is not as the last operation was to make it.
func (o operation) pending(exists bool, group *pool.Group) bool {
	switch o.Type {
	case methodCreate:
		return !exists
	case methodDelete:
		return exists
	}
	return exists && (len(group.Drift) > 0 || group.SurgeRecordStale)
}

// explain adds to an observation why the last operation has failed, in Compute Engine's words. It is asked only while the group is not as it
// was to be, and until it has answered.
func (p view) explain(ctx context.Context, out *pool.Observed) {
	last := &p.memory.operation
	if last.Token == "" && len(p.t.Operations) > 0 {
		*last = operation{Operation: p.t.Operations[len(p.t.Operations)-1]}
	}
	if last.Token == "" || !last.pending(p.memory.group.is != nil, out.Group) {
		*last = operation{}
		return
	}
	if !last.ended {
		// Without an answer it is asked again by the next pass.
		if outcome, err := p.c.Poll(ctx, last.Token); err == nil && outcome.Done {
			last.ended = true
			if outcome.Failed != nil {
				last.cause = new(session.IssueOf(outcome.Failed))
			}
		}
	}
	if last.cause != nil {
		out.Issues = append(out.Issues, *last.cause)
	}
	out.Operations = []pool.Operation{last.Operation}
}

package instancegroup

import (
	"context"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
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

// poll looks once at the operation, unless it is over.
func (o *operation) poll(ctx context.Context, c *session.Session) error {
	if o.ended {
		return nil
	}
	outcome, err := c.Poll(ctx, o.Token)
	if err != nil || !outcome.Done {
		return err
	}
	if o.ended = true; outcome.Failed != nil {
		o.cause = new(driverkit.FailureOf(outcome.Failed))
	}
	return nil
}

// beingCreated returns an error while Compute Engine is at work on a creation that this process has begun: the group may appear any moment,
// and its object must not be released before.
func (r *groupReader) beingCreated(ctx context.Context) error {
	last := &r.memory.operation
	if last.Type != methodCreate {
		return nil
	}
	switch err := last.poll(ctx, r.c); {
	case err != nil && cloud.KindOf(err) == cloud.Denied, err == nil && last.ended:
		return nil
	case err != nil:
		return err
	}
	r.memory.group = groupRead{}
	return &cloud.Error{Kind: cloud.Conflict, Code: "GroupNotShown",
		Message: "managed instance group " + r.t.group + " is being created and is not shown yet"}
}

// explain adds to an observation why the last operation has failed, in Compute Engine's words. It is asked only while the group is not as
// it was to be, and until it has answered.
func (r reader) explain(ctx context.Context, out *pool.Observed) {
	last := &r.memory.operation
	if last.Token == "" && len(r.t.Operations) > 0 {
		*last = operation{Operation: r.t.Operations[len(r.t.Operations)-1]}
	}
	if last.Token == "" || !last.pending(r.memory.group.is != nil, out.Group) {
		*last = operation{}
		return
	}
	// Without an answer it is asked again by the next pass.
	if err := last.poll(ctx, r.c); err != nil && r.memory.tolerance.Tolerate(r.now, err) == nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(err))
	}
	if last.cause != nil {
		out.Issues = append(out.Issues, *last.cause)
	}
	out.Operations = []pool.Operation{last.Operation}
}

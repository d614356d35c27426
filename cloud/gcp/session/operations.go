package session

import (
	"context"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
)

// Outcome is the state of an operation at one look.
type Outcome struct {
	// Done is true if it has ended, or nothing is known of it any more.
	Done bool
	// Failed is why it has failed; nil where it has not, or not yet.
	Failed *cloud.Error
}

// done is the status of an operation that has ended.
const done = "DONE"

// Poll looks once at an operation of the project by its link, and waits for nothing. The link may have been changed by any client that may
// write the object that remembers it: another project is never called.
func (s *Session) Poll(ctx context.Context, link string) (Outcome, error) {
	at := ParseResource(link).In(s.Project)
	if at.Collection != "operations" || at.Project != s.Project {
		return Outcome{Done: true}, nil
	}
	op, err := s.operation(ctx, at)
	if err = s.Refusal(err); Absent(err) {
		return Outcome{Done: true}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Done: op.Status == done, Failed: Failed(op)}, nil
}

func (s *Session) operation(ctx context.Context, at Resource) (*compute.Operation, error) {
	switch {
	case at.Scope == global:
		return s.Compute.GlobalOperations.Get(s.Project, at.Name).Context(ctx).Do()
	case IsZone(at.Location()):
		return s.Compute.ZoneOperations.Get(s.Project, at.Location(), at.Name).Context(ctx).Do()
	}
	return s.Compute.RegionOperations.Get(s.Project, at.Location(), at.Name).Context(ctx).Do()
}

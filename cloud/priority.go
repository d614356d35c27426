package cloud

import "context"

// Priority orders the calls that compete for one rate budget. The zero Priority is the most urgent.
type Priority int

// The priorities, from most to least urgent. At equal priority writes come before reads.
const (
	// PriorityOperation is a deletion, a removal or a change of size: a user or an autoscaler waits for it.
	PriorityOperation Priority = iota
	// PriorityRollout is the replacement or the change in place of instances, and what it launches from.
	PriorityRollout
	// PriorityRotation is new bootstrap data with the same content: nothing waits for it while the old token is valid.
	PriorityRotation
	// PriorityIdle is a look at a pool in which nothing moves.
	PriorityIdle
	// Priorities is their number.
	Priorities
)

var priorityNames = [Priorities]string{"operation", "rollout", "rotation", "idle"}

// String is the name that metrics use.
func (p Priority) String() string { return priorityNames[p.bounded()] }

func (p Priority) bounded() Priority { return min(max(p, PriorityOperation), PriorityIdle) }

type priorityKey struct{}

// rank is the order of the calls of a context.
type rank struct {
	priority Priority
	turn     bool
}

func rankOf(ctx context.Context) rank {
	r, _ := ctx.Value(priorityKey{}).(rank)
	return r
}

// WithPriority returns a context whose calls have the priority.
func WithPriority(ctx context.Context, p Priority) context.Context {
	return context.WithValue(ctx, priorityKey{}, rank{priority: p.bounded(), turn: rankOf(ctx).turn})
}

// PriorityOf returns the priority of the calls of a context: PriorityOperation if it names none.
func PriorityOf(ctx context.Context) Priority { return rankOf(ctx).priority }

// WithTurn returns a context whose calls were held back before and come at the place in line that they were given. They do not queue again
// behind calls that came later.
func WithTurn(ctx context.Context) context.Context {
	return context.WithValue(ctx, priorityKey{}, rank{priority: rankOf(ctx).priority, turn: true})
}

// HasTurn reports whether the calls of a context come at a place in line.
func HasTurn(ctx context.Context) bool { return rankOf(ctx).turn }

package record

import (
	"fmt"
	"slices"
	"time"
)

const (
	// quarrelMost bounds how often within quarrelSpell two managers may restore an earlier cloud status in the objects.
	quarrelMost  = 8
	quarrelSpell = 5 * time.Minute
)

// Quarrel detects managers that overwrite each other's view of the cloud in the status: it counts writes that restore the status before the
// last change.
type Quarrel struct {
	before, last string
	// cloud is the state of the cloud when last was written.
	cloud string
	backs []time.Time
}

// Record records the status that a write has left in the objects, and returns a violation if earlier states were restored too often. A
// restored state does not count if counts returns false, nor if the cloud has changed since, because a group can create the same instance
// again and again.
func (q *Quarrel) Record(status string, cloud func() string, counts func() bool) string {
	if status == q.last {
		return ""
	}
	now, is := time.Now(), cloud()
	back := status == q.before && is == q.cloud
	q.before, q.last, q.cloud = q.last, status, is
	if !back || !counts() {
		return ""
	}
	q.backs = append(slices.DeleteFunc(q.backs, func(at time.Time) bool { return now.Sub(at) > quarrelSpell }), now)
	if len(q.backs) != quarrelMost {
		return ""
	}
	q.backs = nil
	return fmt.Sprintf("what the objects say of the group was written back to what it was before %d times within %s", quarrelMost,
		quarrelSpell)
}

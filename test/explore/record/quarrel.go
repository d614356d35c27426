package record

import (
	"fmt"
	"slices"
	"time"
)

const (
	// quarrelMost is how often within quarrelSpell two managers may write what the objects say of the cloud back to what it was before.
	quarrelMost  = 8
	quarrelSpell = 5 * time.Minute
)

// Quarrel is how often what the objects say of the cloud was written back to what it was before the last change.
type Quarrel struct {
	before, last string
	// cloud is what there was when last was written.
	cloud string
	backs []time.Time
}

// Said notes what a write has left in the objects, and returns what is wrong if they were taken back too often. Where counts returns false
// a way back does not count, nor where the cloud has changed since: a group may create the same instance again and again.
func (q *Quarrel) Said(said string, cloud func() string, counts func() bool) string {
	if said == q.last {
		return ""
	}
	now, is := time.Now(), cloud()
	back := said == q.before && is == q.cloud
	q.before, q.last, q.cloud = q.last, said, is
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

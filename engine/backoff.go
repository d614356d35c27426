package engine

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/muster-project/muster/cloud"
)

const (
	// maxConflictBackoff bounds the back-off of a step that conflicts with another operation of the cloud, which ends after a while.
	maxConflictBackoff = time.Minute
	// conflictTries is after how many conflicts in a row, in some twenty minutes, a step backs off as after any other error.
	conflictTries = 30
)

// conflictWait returns the back-off of a step that has conflicted so many times in a row, given the one of other errors. After the first it
// differs from pool to pool by up to a half. A managed cluster takes one operation at a time: of many pools that try again at the same
// moments one would succeed, and the cluster would then be idle until the next such moment.
func (r *record) conflictWait(wait time.Duration, times int, err error) time.Duration {
	if times < conflictTries {
		wait = min(wait, maxConflictBackoff)
	}
	if times > 1 {
		wait -= time.Duration(float64(wait/2) * r.spread(times))
	}
	var refused *cloud.Error
	if errors.As(err, &refused) {
		wait = max(wait, refused.After)
	}
	return wait
}

// spread returns a number from 0 to 1 that differs from pool to pool and from try to try, and is the same in each run.
func (r *record) spread(times int) float64 {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s/%d", r.owner, times) // it never fails
	return float64(h.Sum32()) / math.MaxUint32
}

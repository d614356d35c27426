package engine

import (
	"time"

	"github.com/muster-project/muster/pool"
)

// unfilled tracks a group that rests with fewer instances than its size.
type unfilled struct {
	// since is the first look that showed it. newest is the creation of its newest instance, lacks the number of missing ones, both at the
	// last look.
	since, newest time.Time
	lacks         int
}

// after returns what is known after a look. A group to which instances come one after the other is not left short.
func (u unfilled) after(o pool.Observed, now time.Time) unfilled {
	lacks := o.Unfilled()
	if lacks == 0 {
		return unfilled{}
	}
	next := unfilled{since: u.since, lacks: lacks}
	for _, i := range o.Instances {
		if i.Created.After(next.newest) {
			next.newest = i.Created
		}
	}
	if u.since.IsZero() || next.newest.After(u.newest) || lacks < u.lacks {
		next.since = now
	}
	return next
}

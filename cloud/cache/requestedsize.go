package cache

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/cloud"
)

// RequestedSize is the size that a group was last asked for, when it may have been heard. Where reads are eventually consistent, a group
// that shows another size a moment later is either read too early or was changed by another client: neither is a ground to take instances
// away. The zero value has asked for nothing.
type RequestedSize struct {
	size int
	at   time.Time
}

// Note notes that the group was asked for a size, unless that was surely not heard.
func (a *RequestedSize) Note(size int, now time.Time, err error) {
	if err == nil || cloud.KindOf(err) == cloud.Unavailable {
		*a = RequestedSize{size: size, at: now}
	}
}

// Check returns a conflict if the size that a group shows is not the one that it was asked for within the period: what is removed is chosen
// from the instances that exist after all requests. The group is named with its kind.
func (a *RequestedSize) Check(group string, shown int, now time.Time, within time.Duration) error {
	if a.at.IsZero() || now.Sub(a.at) >= within || shown == a.size {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "SizeNotShown", Message: fmt.Sprintf(
		"%s shows a size of %d and was asked for %d a moment ago: nothing is taken away before it is known which of the two holds",
		group, shown, a.size)}
}

package cache

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/cloud"
)

// RequestedSize is the last size that was requested of a group, if the request may have arrived. Where reads are eventually consistent, a
// group that shows another size a moment later was either read too early or changed by another client: neither is a reason to remove
// instances. The zero value has requested nothing.
type RequestedSize struct {
	size int
	at   time.Time
}

// Note records a requested size, unless the request surely did not arrive.
func (a *RequestedSize) Note(size int, now time.Time, err error) {
	if err == nil || cloud.KindOf(err) == cloud.Unavailable {
		*a = RequestedSize{size: size, at: now}
	}
}

// Check returns a conflict if the size that a group shows is not the one that was requested within the period: what is removed is chosen
// from the instances that exist after all requests. The group is named with its kind.
func (a *RequestedSize) Check(group string, shown int, now time.Time, within time.Duration) error {
	if a.at.IsZero() || now.Sub(a.at) >= within || shown == a.size {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "SizeNotShown", Message: fmt.Sprintf(
		"%s shows a size of %d and was asked for %d a moment ago: nothing is taken away before it is known which of the two holds",
		group, shown, a.size)}
}

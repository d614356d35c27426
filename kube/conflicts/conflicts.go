// Package conflicts tells the API server's refusals of a write that rests on an old read, which are no news to anybody, from
// what went wrong.
package conflicts

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsOnlyConflict says that an error is a conflict, or holds several of which each is one. An error that stands beside a conflict is not
// lost with it; without an error there is no conflict either.
func IsOnlyConflict(err error) bool {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return apierrors.IsConflict(err)
	}
	for _, e := range joined.Unwrap() {
		if !IsOnlyConflict(e) {
			return false
		}
	}
	return true
}

package control

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsOnlyConflict reports whether an error is a conflict, or joins several errors of which each is one. An error next to a conflict is not
// lost. nil is no conflict.
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

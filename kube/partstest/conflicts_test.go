package partstest

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/kube/control"
)

func TestIsOnlyConflict(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "machines"}, "m", errors.New("changed"))
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "machines"}, "m", errors.New("denied"))
	for name, c := range map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"none":           {"no error is no conflict", nil, false},
		"one":            {"another client has written the object", conflict, true},
		"wrapped":        {"with context", fmt.Errorf("write: %w", conflict), true},
		"another":        {"this one needs attention", forbidden, false},
		"two":            {"each is one", errors.Join(conflict, fmt.Errorf("write: %w", conflict)), true},
		"beside another": {"the other is not lost", errors.Join(conflict, forbidden), false},
		"behind another": {"in whatever order", errors.Join(forbidden, conflict), false},
		"beside, wrapped": {"at any depth", fmt.Errorf("pass: %w",
			errors.Join(conflict, fmt.Errorf("write: %w", errors.Join(conflict, forbidden)))), false},
		"conflicts, deeper": {"at any depth", fmt.Errorf("pass: %w", errors.Join(conflict, errors.Join(conflict, nil))), true},
	} {
		if got := control.IsOnlyConflict(c.err); got != c.want {
			t.Errorf("%s: %s: want %t, got %t", name, c.reason, c.want, got)
		}
	}
}

package cloudtest

import (
	"errors"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Unexpanded is the value of a field whose variable was not expanded.
const Unexpanded = "${VARIABLE}"

// PlaceThatIsNone holds that a target which names a place that can't exist is refused with the field, and that its pool can be deleted as
// long as it names no group; groupID is the ID of one.
func PlaceThatIsNone[S any](t *testing.T, d cloud.Driver[S], target cloud.Target[S], field, groupID string) {
	t.Helper()
	target.Deleting = true
	o, err := d.Observe(t.Context(), target)
	var unmet *cloud.SpecUnsatisfiableError
	var refused *cloud.Error
	if !errors.As(err, &unmet) || !errors.As(err, &refused) || refused.Field != field {
		t.Fatalf("want %s refused, got %v", field, err)
	}
	if plan := pool.Decide(pool.Desired{Deleting: true}, o, d.Traits(), time.Now()); !plan.DeletionComplete {
		t.Errorf("%s: want the pool deleted, got %+v", field, plan)
	}
	target.GroupID = groupID
	if _, err = d.Observe(t.Context(), target); err == nil || errors.As(err, &unmet) {
		t.Errorf("%s: want a pool kept that has a group somewhere, got %v", field, err)
	}
}

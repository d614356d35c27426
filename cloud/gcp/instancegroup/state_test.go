package instancegroup

import (
	"testing"

	"github.com/muster-project/muster/pool"
)

// TestStates holds what each state of an instance and each action of its group is taken for.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, action string
		id             uint64
		want           pool.InstanceState
		notice         bool
	}{
		{"", "CREATING", 0, pool.Pending, false}, {"PROVISIONING", "CREATING", 1, pool.Pending, false},
		{"STAGING", "CREATING", 1, pool.Pending, false},
		{"PENDING", "CREATING", 1, pool.Pending, false}, {"RUNNING", "NONE", 1, pool.Running, false},
		{"RUNNING", "VERIFYING", 1, pool.Running, false},
		{"RUNNING", "REFRESHING", 1, pool.Running, false}, {"RUNNING", "DELETING", 1, pool.Terminating, false},
		{"RUNNING", "ABANDONING", 1, pool.Terminating, false},
		{"RUNNING", "RECREATING", 1, pool.Terminating, false}, {"", "RECREATING", 0, pool.Pending, false},
		{"STAGING", "RECREATING", 1, pool.Pending, false},
		{"STOPPING", "NONE", 1, pool.Running, true}, {"PENDING_STOP", "NONE", 1, pool.Running, true},
		{"SUSPENDING", "NONE", 1, pool.Running, true},
		{"STOPPED", "NONE", 1, pool.Failed, false}, {"TERMINATED", "NONE", 1, pool.Failed, false}, {"SUSPENDED", "NONE", 1, pool.Failed, false},
		{"REPAIRING", "NONE", 1, pool.Failed, false}, {"DEPROVISIONING", "NONE", 1, pool.Terminating, false},
	} {
		i := instance{status: c.status, action: c.action, id: c.id}
		if got := i.state(); got != c.want || c.notice != (i.notice() != nil) {
			t.Errorf("%s (%s): want %s and a notice: %t, got %s and %+v", c.status, c.action, c.want, c.notice, got, i.notice())
		}
	}
}

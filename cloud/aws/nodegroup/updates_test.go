package nodegroup

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
)

// TestChangesThatFailAreNotRepeatedAtOnce holds that a change that EKS accepted and failed to make is sent again after a pause, and is
// reported for a limited time.
func TestChangesThatFailAreNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	const ok, failed = ekstypes.UpdateStatusSuccessful, ekstypes.UpdateStatusFailed
	now := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		reason string
		// list is newest first; the newest ended so long ago.
		list  []ekstypes.UpdateStatus
		since time.Duration
		want  time.Duration
		told  bool
	}{
		{"nothing was ever changed", nil, 0, 0, false},
		{"the last change was made", []ekstypes.UpdateStatus{ok, failed}, time.Second, 0, false},
		{"one has failed", []ekstypes.UpdateStatus{failed, ok, failed}, 10 * time.Second, 20 * time.Second, true},
		{"its pause is over", []ekstypes.UpdateStatus{failed, ok}, 30 * time.Second, 0, true},
		{"three have failed in a row", []ekstypes.UpdateStatus{failed, failed, failed, ok}, time.Minute, time.Minute, true},
		{"many have failed in a row", []ekstypes.UpdateStatus{failed, failed, failed, failed, failed, failed, failed, failed}, time.Minute,
			4 * time.Minute, true},
		{"it is long ago, so that nothing is left to change", []ekstypes.UpdateStatus{failed}, 2 * time.Hour, 0, false},
	} {
		p := &writer{pass: &pass{now: now, memory: &memory{reads: reads{updates: updateHistory{known: map[string]updateRead{}}}}}}
		for k, status := range c.list {
			id, ended := strconv.Itoa(k), now.Add(-c.since-time.Duration(k)*time.Hour)
			p.memory.updates.known[id] = updateRead{ended: ended, Update: ekstypes.Update{
				Id: &id, Status: status, Type: ekstypes.UpdateTypeConfigUpdate, CreatedAt: new(ended.Add(-time.Minute)),
				Errors: []ekstypes.ErrorDetail{{ErrorCode: ekstypes.ErrorCodeAccessDenied, ErrorMessage: new("not for you")}},
			}}
		}
		var e *cloud.Error
		if got := p.memory.updates.configPause(p.t.name, now); (got != nil) != (c.want > 0) || errors.As(got, &e) &&
			(e.After != c.want || e.Kind != cloud.Throttled) {
			t.Errorf("%s: want a pause of %s, got %v", c.reason, c.want, got)
		}
		if c.want > 0 {
			// It is not sent: the pass has no client to send it with.
			if err := p.updateConfig(t.Context(), &eks.UpdateNodegroupConfigInput{}); cloud.KindOf(err) != cloud.Throttled {
				t.Errorf("%s: want nothing sent, got %v", c.reason, err)
			}
		}
		if issue := p.memory.updates.configIssue(now); (issue != nil) != c.told {
			t.Errorf("%s: want it told %t, got %+v", c.reason, c.told, issue)
		}
	}
}

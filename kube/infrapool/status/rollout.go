package status

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// stateEnded is the state of a rollout that has ended.
const stateEnded = "Ended"

// Progress returns what a status has recorded of a rollout.
func Progress(s *common.Status) rollouts.Record {
	r := s.Rollout
	if r == nil {
		return rollouts.Record{}
	}
	return rollouts.Record{ID: r.ID, Wave: int(r.Wave), Entered: r.Entered, StartedAt: ptr.Deref(r.StartedAt, metav1.Time{}).UTC(),
		Ended: r.State == stateEnded}
}

// SetRollout records how far the rollout of a plan is. opens is when a window that is closed opens.
func SetRollout(s *common.Status, p pool.Plan, opens time.Time, set settings.Settings) {
	v := p.Progress
	if v.Record.ID == "" {
		s.Rollout = nil
		return
	}
	out := &common.RolloutStatus{ID: v.Record.ID, State: string(v.State), Wave: int32(v.Record.Wave), Of: int32(v.Of),
		Entered: v.Record.Entered, StartedAt: moment(v.Record.StartedAt)}
	if last := s.Rollout; out.Of == 0 && last != nil && last.ID == out.ID {
		out.Of = last.Of
	}
	switch {
	case v.Record.Ended:
		out.State = stateEnded
	case v.State == rollouts.Soaking:
		out.SoakUntil = moment(v.Until)
	}
	if set.RolloutNow && !v.Record.Ended {
		out.OverriddenBy = cmp.Or(set.RolloutNowBy, "unknown")
	}
	if p.Rollout.State == pool.RolloutWaiting || p.Rollout.State == pool.RolloutHalted || p.Rollout.State == pool.RolloutPaused {
		out.Reason, out.Message = p.Rollout.Cause.Reason, p.Rollout.Cause.Message
		out.OpensAt = moment(opens)
	}
	s.Rollout = out
}

// moment returns a time as statuses have it: in whole seconds, or nil.
func moment(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at.UTC().Truncate(time.Second)}
}

// waveEvents returns the events of a rollout: a wave that has begun, and a user who has passed windows and exclusions.
func waveEvents(before, after *common.RolloutStatus) (list []report.Event) {
	if after == nil {
		return nil
	}
	was := ptr.Deref(before, common.RolloutStatus{})
	if was.ID != after.ID {
		was = common.RolloutStatus{}
	}
	if after.OverriddenBy != "" && was.OverriddenBy == "" {
		list = append(list, report.Event{Warning: true, Reason: "WindowsOverridden", Message: fmt.Sprintf(
			"Replacing machines outside of windows and in exclusions, as the annotation %s: %s requests, which %s has set",
			settings.RolloutAnnotation, settings.RolloutNow, after.OverriddenBy)})
	}
	if after.Of > 1 && after.Entered && (after.Wave != was.Wave || !was.Entered) {
		list = append(list, report.Event{Reason: "WaveStarted", Message: fmt.Sprintf("Started wave %d of %d of rollout %s", after.Wave, after.Of,
			after.ID)})
	}
	return list
}

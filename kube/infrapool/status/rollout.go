package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// Ended is the state of a rollout that has ended.
const Ended = "Ended"

// Progress returns what a status has recorded of a rollout.
func Progress(s *common.Status) rollouts.Record {
	r := s.Rollout
	if r == nil {
		return rollouts.Record{}
	}
	return rollouts.Record{ID: r.ID, Wave: int(r.Wave), Entered: r.Entered, StartedAt: ptr.Deref(r.StartedAt, metav1.Time{}).UTC(),
		Ended: r.State == Ended}
}

// SetRollout records how far the rollout of a plan is, which an observation led to within limits. returns is true if it returns to a former
// template.
func SetRollout(s *common.Status, p pool.Plan, o pool.Observed, l rollouts.Limits, set settings.Settings, returns bool) {
	v := p.Progress
	if v.Record.ID == "" {
		s.Rollout = nil
		return
	}
	out := &common.RolloutStatus{ID: v.Record.ID, State: string(v.State), Wave: int32(v.Record.Wave), Of: int32(v.Of),
		Entered: v.Record.Entered, Returns: returns, Left: ptr.To(int32(p.Rollout.Left)), StartedAt: moment(v.Record.StartedAt)}
	describe(out, v, o)
	complete(out, s.Rollout)
	switch {
	case v.Record.Ended:
		out.State = Ended
	case p.Rollout.State == pool.RolloutHalted:
		out.State = string(rollouts.Halted)
	case v.State == rollouts.Soaking:
		out.SoakUntil = moment(v.Until)
	}
	if !v.Record.Ended {
		out.Gates = gatesOf(l, v.Record.ID)
		out.OverriddenBy = overriddenBy(set)
	}
	if p.Rollout.State == pool.RolloutWaiting || p.Rollout.State == pool.RolloutHalted || p.Rollout.State == pool.RolloutPaused {
		out.Reason, out.Message = p.Rollout.Cause.Reason, p.Rollout.Cause.Message
		out.OpensAt = moment(l.OpensAt)
	}
	out.Held, out.Quarantined = firstNames(v.HeldNames), firstNames(v.QuarantinedNames)
	s.Rollout = out
}

// complete keeps what the last pass recorded of the same rollout and this one does not see any more.
func complete(out, last *common.RolloutStatus) {
	if last == nil || last.ID != out.ID {
		return
	}
	out.Returns = out.Returns || last.Returns
	out.Of, out.From, out.To = cmp.Or(out.Of, last.Of), cmp.Or(out.From, last.From), cmp.Or(out.To, last.To)
	if len(out.Reasons) == 0 {
		out.Reasons = last.Reasons
	}
}

// overriddenBy returns the client that passes windows and exclusions, or "".
func overriddenBy(set settings.Settings) string {
	if !set.RolloutNow {
		return ""
	}
	return cmp.Or(set.RolloutNowBy, "unknown")
}

// describe adds from which template to which one a rollout goes, and why.
func describe(out *common.RolloutStatus, v rollouts.Verdict, o pool.Observed) {
	if i := slices.IndexFunc(o.Instances, func(i pool.Instance) bool {
		return i.Template.Content != "" && !i.Template.Same(o.Wanted)
	}); i >= 0 {
		out.From = o.Instances[i].Template.Ref
	}
	if i := slices.IndexFunc(o.Versions, func(t pool.Template) bool { return t.Same(o.Wanted) }); i >= 0 {
		out.To = o.Versions[i].Ref
	}
	for _, why := range v.Reasons {
		out.Reasons = append(out.Reasons, string(why))
	}
}

// gatesMost is the number of gates that are listed.
const gatesMost = 64

// gatesOf returns the state of the gates of a rollout.
func gatesOf(l rollouts.Limits, id string) []common.GateStatus {
	var list []common.GateStatus
	for _, g := range l.GatesOf(id) {
		list = append(list, common.GateStatus{Name: g.Name, Policy: g.Policy, State: g.State, Message: g.Message})
	}
	return list[:min(len(list), gatesMost)]
}

// maxNames bounds how many nodes a status names.
const maxNames = 20

// firstNames returns as many names as a status has room for.
func firstNames(names []string) []string { return names[:min(len(names), maxNames)] }

// moment returns a time as statuses have it: in whole seconds, or nil.
func moment(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at.UTC().Truncate(time.Second)}
}

// approvalEvents returns an event for each gate that a user has approved since.
func approvalEvents(was, is common.RolloutStatus) (list []report.Event) {
	for _, g := range is.Gates {
		if g.State == rollouts.GatePassed && slices.ContainsFunc(was.Gates, func(before common.GateStatus) bool {
			return before.Name == g.Name && before.Policy == g.Policy && before.State == rollouts.GateAwaitsApproval
		}) {
			list = append(list, report.Event{Reason: "GateApproved", Message: fmt.Sprintf("Gate %s of %s is %s, for rollout %s", g.Name, g.Policy,
				g.Message, is.ID)})
		}
	}
	return list
}

// waveEvents returns the events of a rollout: a wave that has begun, a gate that was approved, and a user who has passed windows and
// exclusions.
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
	list = append(list, approvalEvents(was, *after)...)
	if after.Of > 1 && after.Entered && (after.Wave != was.Wave || !was.Entered) {
		list = append(list, report.Event{Reason: "WaveStarted", Message: fmt.Sprintf("Started wave %d of %d of rollout %s", after.Wave, after.Of,
			after.ID)})
	}
	return list
}

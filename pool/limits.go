package pool

import (
	"slices"
	"time"

	"github.com/muster-project/muster/pool/order"
	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/pool/undrainable"
	"github.com/muster-project/muster/pool/upgrade"
)

// limits are how far the strategy's waves and the policies let a rollout go.
type limits struct {
	in    *inputs
	fleet *classification
	rollouts.Allowance
}

// newLimits determines how far the rollout may go.
func newLimits(fleet *classification) *limits {
	v := &limits{in: fleet.in, fleet: fleet}
	replaces := func(m *member) bool { return m.reason == stale || m.reason == standby }
	last := v.in.d.Progress
	if !slices.ContainsFunc(v.fleet.members, replaces) && (last.ID == "" || last.Ended && last.ID == v.id()) {
		v.Record = last
		return v
	}
	p := rollouts.Pool{ID: v.id(), Size: v.in.want, Plan: v.plan(), Limits: v.in.d.Limits}
	list := make([]rollouts.Machine, 0, len(v.fleet.members))
	for _, m := range v.fleet.members {
		m.inRollout = v.machine(m)
		list = append(list, m.inRollout)
	}
	v.Allowance = rollouts.Allow(v.in.d.Progress, p, list, v.in.clock.Now())
	for _, at := range []time.Time{v.Until, p.Limits.Changes} {
		if !at.IsZero() {
			v.in.clock.Reached(at)
		}
	}
	return v
}

// machine returns a member as the waves and the policies see it.
func (v *limits) machine(m *member) rollouts.Machine {
	out := rollouts.Machine{ID: m.ID, Begun: m.Standby || m.EnteringStandby || m.drainRequested(), Current: m.current, Serves: m.available}
	if n := m.Node; n != nil {
		out.Name, out.Quarantined = n.Name, n.Quarantined && v.in.d.Strategy.undrainable().Action == undrainable.Quarantine
		out.ReadySince, out.TurnedUnready = n.ReadySince, !n.Ready && !n.Joining() && !v.in.o.NodesUnknown
	}
	if m.heldBy != "" {
		out.Held = rollouts.Cause{Reason: "Held", Message: "machines are held: " + m.Node.Name + " has " + m.heldBy}
	}
	if m.reason == standby || m.reason == stale && (m.byMuster || v.in.usesProviderRollout()) {
		out.Reasons = v.reasons(m)
	}
	out.PodsUnread = v.podsUnread(m)
	return out
}

// podsUnread reports whether a pod of a member may keep it, as far as is known.
func (v *limits) podsUnread(m *member) bool {
	return v.in.d.PodsHold && m.byMuster && m.Node != nil && !m.Node.Pods.Known
}

// podReads returns whose pods decide what the rollout does next.
func (v *selection) podReads() (r rollouts.PodReads) {
	if !v.in.d.PodsHold {
		return r
	}
	r.Next = v.rollout.limits.ReadsPods
	for _, m := range v.queue {
		if len(m.inRollout.Reasons) > 0 && m.byMuster && !m.inRollout.Begun {
			r.Of = append(r.Of, m.ID)
			if m.Node != nil && m.Node.Pods.By != "" {
				v.in.clock.Reached(v.in.clock.Now().Add(time.Minute)) // the pods are worth another read then
			}
		}
	}
	return r
}

// permitted reports whether the replacement of a member may begin, or may end if it has begun.
func (v *limits) permitted(m *member) bool {
	ok, until := v.Permits(m.inRollout)
	if ok && !until.IsZero() {
		v.in.clock.Reached(until)
	}
	return ok
}

// mayLeaveStandby reports whether a member in standby may go. rests is true if the rollout is paused or halted.
func (v *limits) mayLeaveStandby(m *member, rests bool) bool {
	return m.State == Failed || !rests && v.permitted(m)
}

// heldBack returns why no replacement begins although instances are stale, and the state of the rollout then, or nil.
func (v *limits) heldBack() (RolloutState, *Cause) {
	if v.Held == (rollouts.Cause{}) {
		return "", nil
	}
	c := Cause(v.Held)
	if v.State == rollouts.Halted {
		return RolloutHalted, &c
	}
	return RolloutWaiting, &c
}

// reasons returns the classes of reasons for which a member is stale.
func (v *limits) reasons(m *member) []rollouts.Reason {
	switch {
	case v.fleet.restarted(m.Instance):
		return []rollouts.Reason{rollouts.Restart}
	case v.in.d.SkipModel || !v.fleet.otherTemplate(m.Instance):
		return []rollouts.Reason{rollouts.Age}
	}
	version := m.Node == nil || upgrade.MayDiffer(v.in.d.Version, m.Node.KubeletVersion)
	return rollouts.ReasonsOf(m.TemplateDiff, v.in.t.ImageFields, version)
}

// aged returns that an instance is older than policies allow, or nil.
func (v *classification) aged(i *Instance) *Cause {
	limit, made := v.in.d.Limits.AgeLimit(order.Shuffle(v.in.d.Seed+"/age/"+i.ID)%1000), provisioned(i)
	if limit <= 0 || made.IsZero() || !v.in.clock.Reached(made.Add(limit)) {
		return nil
	}
	return &Cause{"MaxAge", "older than the policy's maxAge"}
}

// id returns the ID of what is to be rolled out now; empty while it is not known.
func (v *limits) id() string {
	switch {
	case v.in.o.Group == nil:
		return ""
	case v.in.d.Restart != nil:
		return rollouts.ID(v.in.o.Wanted.Content, v.in.d.Restart.Before)
	}
	return rollouts.ID(v.in.o.Wanted.Content, time.Time{})
}

// plan returns the waves of the strategy for the present size.
func (v *limits) plan() rollouts.Plan {
	if s := v.in.d.Strategy; s != nil {
		return rollouts.PlanOf(s.Waves, s.Soak, v.in.want)
	}
	return rollouts.Plan{}
}

// heldBack returns why waves or policies let Muster begin no replacement.
func (v *status) heldBack() []Cause {
	_, held := v.rollout.limits.heldBack()
	if held == nil || held.Reason == undrainable.Quarantined || !v.rollout.mayReplace() || v.in.usesProviderRollout() || v.in.o.NodesUnknown {
		return nil
	}
	return []Cause{*held}
}

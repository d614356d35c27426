package pool

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/muster-project/muster/pool/undrainable"
)

// rollout is the decision about the replacement of instances: whether it is paused, halted or waits, and which instances the cloud
// replaces before Muster does.
type rollout struct {
	in    *inputs
	fleet *classification
	// blocked, when set, is why no serving instance is replaced now. state is the state of the rollout then.
	blocked *Cause
	state   RolloutState
	// blockedInSpec is true if what blocks it does not pass by itself: the object, or the traits of the cloud.
	blockedInSpec bool
	// remediating is 1 while an unhealthy instance may go whose removal shrinks the group: one at a time.
	remediating int
	// limits bound it where nothing blocks it.
	limits *limits
}

func newRollout(fleet *classification) *rollout {
	v := &rollout{in: fleet.in, fleet: fleet, limits: newLimits(fleet)}
	v.assess()
	v.surgeForRemediation()
	return v
}

// reasonHolds reports whether the removal reason of a member holds now.
func (v *rollout) reasonHolds(m *member) bool {
	switch m.reason {
	case keep:
		return false
	case notServing:
		return v.mayReplace() || v.state == RolloutHalted
	case failedInstance:
		return !v.removalIsLost()
	case unhealthy:
		return !v.removalIsLost() && !v.halts(m)
	case stale:
		return v.replaces(m)
	case standby:
		return v.limits.mayLeaveStandby(m, v.rests())
	case surplus:
		return !v.waitsForReads(m)
	default:
		return true
	}
}

// rests reports whether the rollout is paused or halted.
func (v *rollout) rests() bool {
	return v.state == RolloutPaused || v.state == RolloutHalted
}

// waitsForReads reports whether a member goes only because there are too many, while reads are known to be behind: they would let instances
// go that another client has released already, and nothing brings those back.
func (v *rollout) waitsForReads(m *member) bool {
	return m.reason == surplus && m.cause.Reason == ScaleIn && !v.in.clock.Reached(v.in.o.Cache.StaleUntil)
}

// halts reports whether a member is a new instance that halts the rollout.
func (v *rollout) halts(m *member) bool {
	return v.state == RolloutHalted && v.missedProgressDeadline(m)
}

// halted returns why the rollout is halted, or nil (rule 5): a new instance was never Ready since its launch beyond the progress deadline.
// It is derived from the instance itself, so that another template, or the end of the instance, lets the rollout continue.
func (v *rollout) halted() *Cause {
	if v.in.o.NodesUnknown {
		return nil
	}
	var late []*Instance
	for _, m := range v.fleet.members {
		if v.missedProgressDeadline(m) {
			late = append(late, m.Instance)
		}
	}
	for k := range v.in.o.Beside {
		i := &v.in.o.Beside[k]
		m := &member{Instance: i, reason: keep, current: i.Template.Same(v.in.o.Wanted)}
		if v.in.o.ProviderRollout.brought(i) && v.missedProgressDeadline(m) {
			late = append(late, i)
		}
	}
	if len(late) == 0 {
		return nil
	}
	first, n := slices.MinFunc(late, func(a, b *Instance) int { return cmp.Compare(a.ID, b.ID) }), len(late)
	what := "has not joined the cluster in time"
	if first.Node != nil {
		what = fmt.Sprintf("has joined as %s and was never Ready", first.Node.Name)
	}
	text := fmt.Sprintf("the rollout is halted: new instance %s %s", first.ID, what)
	if n > 1 {
		text = fmt.Sprintf("the rollout is halted: %d new instances do not become Ready; %s %s", n, first.ID, what)
	}
	if len(v.in.o.Issues) > 0 {
		text += "; " + v.in.o.Issues[0].Message
	}
	return &Cause{"RolloutHalted", text}
}

// missedProgressDeadline reports whether a new instance was never Ready since its launch beyond the progress deadline.
func (v *rollout) missedProgressDeadline(m *member) bool {
	if m.reason != keep && m.reason != unhealthy || !m.current || m.Node != nil && !m.Node.Joining() {
		return false
	}
	made := provisioned(m.Instance)
	return !made.IsZero() && v.in.clock.Passed(made.Add(cmp.Or(v.in.d.ProgressDeadline, DefaultProgressDeadline)))
}

// assess determines why no serving instance is replaced now, if that is so. A failed or unhealthy one of another template waits for the
// same where its removal is lost.
func (v *rollout) assess() {
	waits := v.fleet.toReplace+v.fleet.inStandby > 0 || v.fleet.goAnyway > 0 && v.removalIsLost()
	if !waits || v.in.o.Group == nil {
		return
	}
	v.state, v.blocked = v.blockedBySpec()
	if v.blockedInSpec = v.blocked != nil; !v.blockedInSpec {
		v.state, v.blocked = v.blockedByState()
	}
}

// replicasManagedExternally is the reason of what is not done because an external autoscaler owns the size.
const replicasManagedExternally = "ReplicasManagedExternally"

// blockedBySpec returns what in the object, or in the traits of the cloud, blocks a rollout.
func (v *rollout) blockedBySpec() (RolloutState, *Cause) {
	switch {
	case v.in.d.rolloutHeld() != nil:
		return RolloutPaused, v.in.d.rolloutHeld()
	case v.in.d.Strategy.bothZero() != nil:
		return RolloutNone, v.in.d.Strategy.bothZero()
	case v.in.outOfBounds() != nil:
		return RolloutWaiting, v.in.outOfBounds()
	case v.removalIsLost() && !v.in.t.RecordsSurge:
		return RolloutNone, &Cause{replicasManagedExternally, v.surgeIsLost()}
	case v.removalIsLost():
		return RolloutNone, &Cause{replicasManagedExternally,
			fmt.Sprintf("replicas are managed externally and %s is 0: set it to 1 or more to allow a rollout", v.in.surgeField())}
	}
	return "", nil
}

// surgeIsLost returns why no surge is possible beside a size that others own, and what the user can do.
func (v *rollout) surgeIsLost() string {
	if v.in.d.AutoscalerField != "" {
		return fmt.Sprintf("the cloud's own autoscaler sizes the %s, and no other client adds machines meanwhile: remove %s for as long as "+
			"machines are replaced",
			v.in.t.Group, v.in.d.AutoscalerField)
	}
	return fmt.Sprintf("replicas are managed externally, and a surge of the %s can't be told from them: let the MachinePool own them for as "+
		"long as machines are replaced", v.in.t.Group)
}

// blockedByState returns what blocks a rollout and may pass by itself.
func (v *rollout) blockedByState() (RolloutState, *Cause) {
	roll := v.in.o.ProviderRollout
	switch {
	case v.musterReplaces() && !v.in.t.RolloutOnTemplateChange && !v.in.launchesWanted():
		return RolloutWaiting, &Cause{"TemplateOutOfDate",
			fmt.Sprintf("the %s does not launch from the wanted %s yet", v.in.t.Group, v.in.t.Template)}
	case v.in.o.NodesUnknown:
		return RolloutWaiting, &Cause{"ConnectionDown", v.in.o.NodesUnknownText() + ", so no machine is replaced"}
	case v.in.o.ProviderRolloutUnknown != nil:
		return RolloutWaiting, v.in.o.ProviderRolloutUnknown
	case roll != nil && !roll.ended():
		return RolloutWaiting, &Cause{"ProviderRolloutInProgress", "waiting for a provider rollout to end"}
	case v.cloudFirst() || v.needsRepointing():
		return RolloutWaiting, &Cause{"ProviderRolloutInProgress",
			fmt.Sprintf("a rollout of the %s replaces machines of another %s first", v.in.t.Group, v.in.t.Template)}
	}
	if halted := v.halted(); halted != nil {
		return RolloutHalted, halted
	}
	return "", nil
}

// mayReplace reports whether serving instances may be replaced now.
func (v *rollout) mayReplace() bool { return v.blocked == nil }

// replaces reports whether the rollout may replace a stale member now.
func (v *rollout) replaces(m *member) bool {
	return m.reason == stale && m.byMuster && v.mayReplace() && v.limits.permitted(m)
}

// removalIsLost reports whether removing an instance also lowers a size that an external autoscaler owns, and no surge may restore it.
func (v *rollout) removalIsLost() bool {
	return v.in.d.ReplicasManagedExternally && !v.in.t.ReplaceKeepsSize && v.in.surge == 0
}

// DrainBlocked is the reason of a drain that something keeps from ending.
const DrainBlocked = undrainable.DrainBlocked

// drainOpen reports whether Muster drains a node and the drain has not ended.
func (n *Node) drainOpen() bool { return n != nil && !n.DrainStarted.IsZero() && !n.Drained() }

// draining says which drains have not ended, and what keeps them.
func draining(list []Instance) (out []Cause) {
	var open, quarantined undrainable.Open
	for _, i := range list {
		name, waits, ok := i.guarded()
		switch {
		case ok && (i.State != Terminating || i.LifecycleHook != nil):
			open.Add(name, waits)
		case i.State == Terminating && i.LifecycleHook == nil || !i.Node.drainOpen():
		case i.Node.Quarantined:
			quarantined.Add(i.Node.Name, i.Node.Blocked)
		default:
			open.Add(i.Node.Name, i.Node.Blocked)
		}
	}
	for _, r := range undrainable.Report(quarantined, open) {
		out = append(out, Cause(r))
	}
	return out
}

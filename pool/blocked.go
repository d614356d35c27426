package pool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// gate is whether instances may be replaced now.
type gate struct {
	*classification
	// blocked, when set, is why no serving instance is replaced now. rolloutState is the state of the rollout then.
	blocked      *Cause
	rolloutState RolloutState
}

func newGate(c *classification) *gate {
	v := &gate{classification: c}
	v.assess()
	v.surgeForRemediation()
	return v
}

// hasRemovals reports whether a member has a reason to go that Muster acts on.
func (v *gate) hasRemovals() bool {
	return slices.ContainsFunc(v.members, func(m *member) bool { return m.reason != keep && (m.byMuster || m.reason != stale) })
}

// reasonHolds reports whether the removal reason of a member holds now.
func (v *gate) reasonHolds(m *member) bool {
	switch m.reason {
	case keep:
		return false
	case notServing:
		return v.mayReplace() || v.rolloutState == RolloutHalted
	case failedInstance:
		return !v.removalIsLost()
	case unhealthy:
		return !v.removalIsLost() && !v.halts(m)
	case stale:
		return v.replaces(m)
	case standby:
		return !v.rests() || m.State == Failed
	case surplus:
		return !v.waitsForReads(m)
	default:
		return true
	}
}

// rests reports whether the rollout is paused or halted.
func (v *gate) rests() bool {
	return v.rolloutState == RolloutPaused || v.rolloutState == RolloutHalted
}

// waitsForReads reports whether a member goes only because there are too many, while reads are known to be behind: they would let instances
// go that another client has released already, and nothing brings those back.
func (v *gate) waitsForReads(m *member) bool {
	return m.reason == surplus && m.cause.Reason == ScaleIn && !v.reached(v.o.BehindUntil)
}

// halts reports whether a member is a new instance that halts the rollout.
func (v *gate) halts(m *member) bool {
	return v.rolloutState == RolloutHalted && v.missedProgressDeadline(m)
}

// halted returns why the rollout is halted, or nil (rule 5): a new instance was never Ready since its launch beyond the progress deadline.
// It is derived from the instance itself, so that another template, or the end of the instance, lets the rollout continue.
func (v *classification) halted() *Cause {
	if v.o.NodesUnknown {
		return nil
	}
	var late []*Instance
	for _, m := range v.members {
		if v.missedProgressDeadline(m) {
			late = append(late, m.Instance)
		}
	}
	for k := range v.o.Beside {
		i := &v.o.Beside[k]
		if v.o.ProviderRollout.brought(i) && v.missedProgressDeadline(&member{Instance: i, reason: keep, current: i.Template.Same(v.o.Wanted)}) {
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
	if len(v.o.Issues) > 0 {
		text += "; " + v.o.Issues[0].Message
	}
	return &Cause{"RolloutHalted", text}
}

// missedProgressDeadline reports whether a new instance was never Ready since its launch beyond the progress deadline.
func (v *classification) missedProgressDeadline(m *member) bool {
	if m.reason != keep && m.reason != unhealthy || !m.current || m.Node != nil && !m.Node.Joining() {
		return false
	}
	made := provisioned(m.Instance)
	return !made.IsZero() && v.passed(made.Add(cmp.Or(v.d.ProgressDeadline, DefaultProgressDeadline)))
}

// assess determines why no serving instance is replaced now, if that is so. A failed or unhealthy one of another template waits for the
// same where its removal is lost.
func (v *gate) assess() {
	waits := v.toReplace+v.inStandby > 0 || v.goAnyway > 0 && v.removalIsLost()
	if !waits || v.o.Group == nil {
		return
	}
	if v.rolloutState, v.blocked = v.blockedBySpec(); v.blocked == nil {
		v.rolloutState, v.blocked = v.blockedByState()
	}
}

// replicasManagedExternally is the reason of what is not done because an external autoscaler owns the size.
const replicasManagedExternally = "ReplicasManagedExternally"

// blockedBySpec returns what in the object, or in the traits of the cloud, blocks a rollout.
func (v *gate) blockedBySpec() (RolloutState, *Cause) {
	switch {
	case v.d.rolloutHeld() != nil:
		return RolloutPaused, v.d.rolloutHeld()
	case v.d.Strategy.bothZero() != nil:
		return RolloutNone, v.d.Strategy.bothZero()
	case v.outOfBounds() != nil:
		return RolloutWaiting, v.outOfBounds()
	case v.removalIsLost() && !v.t.RecordsSurge:
		return RolloutNone, &Cause{replicasManagedExternally, v.surgeIsLost()}
	case v.removalIsLost():
		return RolloutNone, &Cause{replicasManagedExternally,
			fmt.Sprintf("replicas are managed externally and %s is 0: set it to 1 or more to allow a rollout", v.surgeField())}
	}
	return "", nil
}

// surgeIsLost returns why no surge is possible beside a size that others own, and what the user can do.
func (v *gate) surgeIsLost() string {
	if v.d.AutoscalerField != "" {
		return fmt.Sprintf("the cloud's own autoscaler sizes the %s, and no other client adds machines meanwhile: remove %s for as long as "+
			"machines are replaced",
			v.t.Group, v.d.AutoscalerField)
	}
	return fmt.Sprintf("replicas are managed externally, and a surge of the %s can't be told from them: let the MachinePool own them for as "+
		"long as machines are replaced", v.t.Group)
}

// blockedByState returns what blocks a rollout and may pass by itself.
func (v *gate) blockedByState() (RolloutState, *Cause) {
	roll := v.o.ProviderRollout
	switch {
	case v.musterReplaces() && !v.t.RolloutOnTemplateChange && !v.launchesWanted():
		return RolloutWaiting, &Cause{"TemplateOutOfDate", fmt.Sprintf("the %s does not launch from the wanted %s yet", v.t.Group, v.t.Template)}
	case v.o.NodesUnknown:
		return RolloutWaiting, &Cause{"ConnectionDown", "the workload cluster does not answer, so no machine is replaced"}
	case v.o.ProviderRolloutUnknown != nil:
		return RolloutWaiting, v.o.ProviderRolloutUnknown
	case roll != nil && !roll.ended():
		return RolloutWaiting, &Cause{"ProviderRolloutInProgress", "waiting for a provider rollout to end"}
	case v.cloudFirst() || v.needsRepointing():
		return RolloutWaiting, &Cause{"ProviderRolloutInProgress",
			fmt.Sprintf("a rollout of the %s replaces machines of another %s first", v.t.Group, v.t.Template)}
	}
	if halted := v.halted(); halted != nil {
		return RolloutHalted, halted
	}
	return "", nil
}

// mayReplace reports whether serving instances may be replaced now.
func (v *gate) mayReplace() bool { return v.blocked == nil }

// replaces reports whether the rollout may replace a stale member now.
func (v *gate) replaces(m *member) bool { return m.reason == stale && m.byMuster && v.mayReplace() }

// removalIsLost reports whether removing an instance also lowers a size that an external autoscaler owns, and no surge may restore it.
func (v *gate) removalIsLost() bool {
	return v.d.ReplicasManagedExternally && !v.t.ReplaceKeepsSize && v.surge == 0
}

// blockedLimit bounds how many pods a message names.
const blockedLimit = 3

// draining says which drains have not ended, and what keeps them.
func draining(list []Instance) []Cause {
	var nodes, blocked []string
	for _, i := range list {
		if name, waits, ok := i.guarded(); ok && (i.State != Terminating || i.LifecycleHook != nil) {
			nodes = append(nodes, name)
			blocked = append(blocked, waits...)
			continue
		}
		if i.State == Terminating && i.LifecycleHook == nil || i.Node == nil || i.Node.DrainStarted.IsZero() || i.Node.Drained() {
			continue
		}
		nodes = append(nodes, i.Node.Name)
		blocked = append(blocked, i.Node.Blocked...)
	}
	if len(nodes) == 0 {
		return nil
	}
	text := fmt.Sprintf("draining %s", firstNames(nodes))
	if len(blocked) > 0 {
		return []Cause{{"DrainBlocked", text + "; kept by " + firstNames(blocked)}}
	}
	return []Cause{{"Draining", text}}
}

// firstNames lists the first few names and counts the rest.
func firstNames(names []string) string {
	if len(names) <= blockedLimit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:blockedLimit], ", "), len(names)-blockedLimit)
}

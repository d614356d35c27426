package pool

import (
	"cmp"
	"fmt"
)

// halted is rule 5: a new machine that was never Ready since its launch beyond the progress deadline stops the rollout. It
// is derived from the machine itself, so that another template, or the machine's end, lets it go on.
func (v *view) halted() *Cause {
	if v.o.NodesUnknown {
		return nil
	}
	var first *member
	n := 0
	for _, m := range v.members {
		if !v.late(m) {
			continue
		}
		n++
		if first == nil || m.ID < first.ID {
			first = m
		}
	}
	if first == nil {
		return nil
	}
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

// late says that a new machine was never Ready since its launch beyond the progress deadline.
func (v *view) late(m *member) bool {
	if m.why != stays && m.why != sick || !m.fresh || m.Node != nil && !m.Node.Joining() {
		return false
	}
	made := born(m.Instance)
	return !made.IsZero() && v.passed(made.Add(cmp.Or(v.d.ProgressDeadline, DefaultProgressDeadline)))
}

// hold finds out why no serving instance is replaced now, if that is so.
func (v *view) hold() {
	if v.left+v.aside == 0 || v.o.Group == nil {
		return
	}
	if v.state, v.stuck = v.forbidden(); v.stuck == nil {
		v.state, v.stuck = v.obstructed()
	}
}

// sizedElsewhere is the reason of what is not done because an external autoscaler owns the size.
const sizedElsewhere = "ReplicasManagedExternally"

// forbidden says what in the object, or in what the cloud can do, keeps a rollout from going on.
func (v *view) forbidden() (RolloutState, *Cause) {
	switch {
	case v.d.RolloutPaused != nil:
		return RolloutPaused, v.d.RolloutPaused
	case v.d.Strategy.bothZero() != nil:
		return RolloutNone, v.d.Strategy.bothZero()
	case v.bounds() != nil:
		return RolloutWaiting, v.bounds()
	case v.d.ReplicasManagedExternally && !v.t.ReplaceKeepsSize && v.surge == 0:
		return RolloutNone, &Cause{sizedElsewhere, fmt.Sprintf("replicas are managed externally and %s is 0: set it to 1 or more to allow a rollout", v.surgeField())}
	}
	return "", nil
}

// obstructed says what keeps a rollout from going on and may pass by itself.
func (v *view) obstructed() (RolloutState, *Cause) {
	roll := v.o.ProviderRollout
	switch {
	case v.byHand() && !v.t.RolloutOnTemplateChange && !v.launchesWanted():
		return RolloutWaiting, &Cause{"TemplateOutOfDate", fmt.Sprintf("the %s does not launch from the wanted %s yet", v.t.Group, v.t.Template)}
	case v.o.NodesUnknown:
		return RolloutWaiting, &Cause{"ConnectionDown", "the workload cluster does not answer, so no machine is replaced"}
	case v.o.ProviderRolloutUnknown != nil:
		return RolloutWaiting, v.o.ProviderRolloutUnknown
	case roll != nil && !roll.ended():
		return RolloutWaiting, &Cause{"ProviderRolloutInProgress", "waiting for a roll of the cloud's own to end"}
	case v.cloudFirst() || v.repoints():
		return RolloutWaiting, &Cause{"ProviderRolloutInProgress", fmt.Sprintf("a roll of the %s replaces machines of another %s first", v.t.Group, v.t.Template)}
	}
	if halted := v.halted(); halted != nil {
		return RolloutHalted, halted
	}
	return "", nil
}

// rolling says that serving instances may be replaced now.
func (v *view) rolling() bool { return v.stuck == nil }

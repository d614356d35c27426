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
	deadline := cmp.Or(v.d.ProgressDeadline, DefaultProgressDeadline)
	var first *member
	n := 0
	for _, m := range v.members {
		made := born(m.Instance)
		never := m.Node == nil || m.Node.Joining()
		if m.why != stays || !m.fresh || !never || made.IsZero() || v.now.Sub(made) <= deadline {
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

// hold finds out why no serving instance is replaced now, if that is so.
func (v *view) hold() {
	if v.left+v.aside == 0 || v.o.Group == nil {
		return
	}
	roll := v.o.Roll
	switch {
	case v.d.RolloutHeld != nil:
		v.state, v.stuck = RolloutPaused, v.d.RolloutHeld
	case v.d.Strategy.bothZero() != nil:
		v.state, v.stuck = RolloutNone, v.d.Strategy.bothZero()
	case v.bounds() != nil:
		v.state, v.stuck = RolloutWaiting, v.bounds()
	case v.d.External && v.t.NoReplace:
		v.state, v.stuck = RolloutNone, &Cause{"SizedElsewhere", fmt.Sprintf("somebody else sizes the %s, and this cloud replaces no instance without changing the size", v.t.Group)}
	case v.byHand() && !v.launchesWanted():
		v.state, v.stuck = RolloutWaiting, &Cause{"TemplateBehind", fmt.Sprintf("the %s does not launch from the wanted %s yet", v.t.Group, v.t.Template)}
	case v.o.NodesUnknown:
		v.state, v.stuck = RolloutWaiting, &Cause{"WorkloadClusterUnreachable", "the workload cluster does not answer, so no machine is replaced"}
	case roll != nil && !roll.ended():
		v.state, v.stuck = RolloutWaiting, &Cause{"CloudRolls", "waiting for a roll of the cloud's own to end"}
	default:
		if halted := v.halted(); halted != nil {
			v.state, v.stuck = RolloutHalted, halted
		}
	}
}

// rolling says that serving instances may be replaced now.
func (v *view) rolling() bool { return v.stuck == nil }

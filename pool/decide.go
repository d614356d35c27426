package pool

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Decide says what the next step of a pool is. It is pure: equal inputs give equal plans. It derives everything from
// what is observed now, so that it does not matter what an earlier pass began, or whether its reply was lost.
func Decide(d Desired, o Observed, t Traits, now time.Time) Plan {
	switch {
	case d.Deleting:
		v := look(d, o, t, now)
		return planDelete(d, o, t, v).until(v)
	case o.OwnershipConflict != nil:
		return Plan{Refused: o.OwnershipConflict, Quiescent: true}
	case o.Group == nil:
		return planCreate(d, o, t)
	case o.Group.Deleting:
		p := Plan{Waiting: []Cause{{"GroupDeleting", fmt.Sprintf("waiting for the %s to be gone, which is being deleted", t.Group)}}}
		v := look(d, o, t, now)
		p.first(d, v.caught()...)
		return p.until(v)
	default:
		v := look(d, o, t, now)
		return planKeep(d, v).until(v)
	}
}

// until says when time alone may change the plan, once all has been asked.
func (p Plan) until(v *view) Plan {
	p.Next = v.next
	return p
}

// planCreate makes the template and what else the group needs, then the group.
func planCreate(d Desired, o Observed, t Traits) Plan {
	switch {
	case d.CreateBlocked != nil:
		return Plan{Waiting: []Cause{*d.CreateBlocked}, Quiescent: true}
	case d.FormerMachines != nil:
		return Plan{Waiting: []Cause{*d.FormerMachines}}
	case !d.ReplicasManagedExternally && outOfBounds(d) != nil:
		return Plan{Refused: outOfBounds(d), Quiescent: true}
	case o.Wanted.Content == "":
		return Plan{Waiting: unknownTemplate(o, t), Quiescent: true}
	case notThere(o, t) != nil:
		return Plan{Waiting: append(slices.Clone(o.Issues), *notThere(o, t)), Quiescent: true}
	}
	p := Plan{}
	var put *Step
	if !t.InlineTemplate {
		put = templateStep(d, o, t)
	}
	if provide := provideStep(d, o, t); put != nil || provide != nil {
		p.first(d, put, provide)
		return p
	}
	size := d.Replicas
	if d.ReplicasManagedExternally {
		size = min(max(size, d.minReplicas()), d.MaxReplicas())
	}
	p.first(d, &Step{
		Kind: CreateGroup, Size: size, Template: o.Latest().Ref,
		Cause: Cause{"GroupMissing", fmt.Sprintf("there is no %s yet; it is made with %s", t.Group, machines(size))},
	})
	return p
}

// planKeep follows a group that exists. The checks stand in the order of their weight; the first that has a step wins,
// and a step that the cloud refused a moment ago does not keep the others from being begun. What brings machines or makes
// room for them, and drains that begin, come before instances are let go that serve nobody any more: a large rollout takes
// as long as the calls that it waits for. A removal that brings no machine comes after those releases, or a large scale-in would
// hold hundreds of instances in termination. The rounds of drains come last, for a drain may take days and each of its rounds is a step.
func planKeep(d Desired, v *view) Plan {
	v.choose()
	p := Plan{Waiting: v.waiting(), Instances: v.verdicts(), InPlace: v.inPlace(), Forecast: v.forecast(), Budget: v.budget(), Rollout: v.rollout()}
	p.Quiescent = v.settled() && p.Rollout.State != RolloutInProgress
	p.Refused = d.Strategy.bothZero()
	if v.bounds() != nil {
		p.Refused = v.bounds()
	}
	begins, rounds := v.drainSteps()
	remove, release := v.removeUnlessHeld(), v.releaseStep()
	p.first(d, v.quiet(
		v.renewStep(), v.remakeStep(), v.cancelRollStep(), v.templateStep(), provideStep(d, v.o, v.t), v.groupStep(), v.accountStep(),
		v.undrainStep(), v.growStep(), v.asideStep(), v.shrinkStep(), v.releaseBefore(remove, release), remove, begins, release,
		v.startRollStep(), v.applyStep(), v.defaultStep(), v.pruneStep(), v.protectStep(), v.unprotectStep(), rounds)...)
	if p.Step == nil && len(p.Waiting) == 0 {
		p.Waiting = v.turns()
	}
	return p
}

// first takes the first step that there is and that the cloud did not refuse a moment ago, and says whether there are others.
func (p *Plan) first(d Desired, steps ...*Step) {
	told := map[StepKind]bool{} // a kind may stand in several places
	for _, step := range steps {
		if step == nil {
			continue
		}
		p.Quiescent = false
		switch cause, avoid := d.StepsInBackoff[step.Kind]; {
		case avoid && p.Step == nil && !told[step.Kind]:
			told[step.Kind] = true
			p.Waiting = append(p.Waiting, avoided(step.Kind, cause)...)
		case avoid:
		case p.Step == nil:
			p.Step = step
		default:
			p.Step.More = true
			return
		}
	}
}

// avoided returns what is told about a step that waits for its back-off.
func avoided(kind StepKind, c Cause) []Cause {
	switch c.Reason {
	case EffectPending:
		return nil
	case NoEffect:
		return []Cause{c}
	case ClientRateLimited:
		return []Cause{{c.Reason, fmt.Sprintf("%s waits: %s", kind, c.Message)}}
	default:
		return []Cause{{c.Reason, fmt.Sprintf("%s was refused: %s", kind, c.Message)}}
	}
}

// outOfBounds says whether the replicas are outside of what the group allows.
func outOfBounds(d Desired) *Cause {
	if d.Replicas >= d.minReplicas() && d.Replicas <= d.MaxReplicas() {
		return nil
	}
	return &Cause{"ReplicasOutOfBounds", fmt.Sprintf("spec.replicas of the MachinePool is %d, allowed are %d (%s) to %d (%s)",
		d.Replicas, d.Min, d.MinField, d.Max, d.MaxField)}
}

// bounds is outOfBounds, unless somebody else sizes the group.
func (v *view) bounds() *Cause {
	if v.d.ReplicasManagedExternally {
		return nil
	}
	return outOfBounds(v.d)
}

// unknownTemplate says why there is no template to launch from.
func unknownTemplate(o Observed, t Traits) []Cause {
	if len(o.Issues) > 0 {
		return o.Issues
	}
	return []Cause{{"TemplateUnknown", fmt.Sprintf("waiting for what the %s is made of", t.Template)}}
}

// launchesNext is the template that the group shall launch from: the newest, unless that is not what is wanted, or a roll of the
// cloud's own sees to it, as it always does where it replaces whatever is of another template.
func (v *view) launchesNext() string {
	latest := v.o.Latest()
	unwanted := v.o.Wanted.Content != "" && !latest.Same(v.o.Wanted)
	if latest.Ref == "" || unwanted || v.t.RolloutOnTemplateChange || v.pointsByRoll() || v.rollsNow() && !v.launchesNothing() {
		return v.o.Group.Template
	}
	return latest.Ref
}

// groupStep repairs the group's fields and points it at the newest template. A lower maximum waits until the group is
// small enough and as few instances exist: a cloud that is asked for it sooner would choose instances by itself, undrained.
func (v *view) groupStep() *Step {
	g, latest := v.o.Group, v.launchesNext()
	fields := make([]string, 0, len(g.Drift))
	for _, f := range g.Drift {
		if f == v.d.MaxField && v.d.MaxReplicas() < max(g.Size, v.counted, v.least()) {
			continue
		}
		fields = append(fields, f)
	}
	if g.Template == latest && len(fields) == 0 {
		return nil
	}
	s := &Step{Kind: UpdateGroup, Template: latest, Fields: fields}
	if len(fields) == 0 {
		s.Cause = Cause{"TemplateOutOfDate", fmt.Sprintf("the %s launches from %s, the newest is %s", v.t.Group, g.Template, latest)}
		return s
	}
	s.Cause = Cause{"GroupChanged", fmt.Sprintf("the %s differs in %s", v.t.Group, strings.Join(fields, ", "))}
	return s
}

// machines counts in words.
func machines(n int) string {
	if n == 1 {
		return "1 machine"
	}
	return fmt.Sprintf("%d machines", n)
}

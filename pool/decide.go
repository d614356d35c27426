package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/pool/words"
)

// Decide returns the next step of a pool. It is pure: equal inputs give equal plans. It derives everything from what is observed now, so
// that it does not matter what an earlier pass started, or whether its reply was lost.
func Decide(d Desired, o Observed, t Traits, now time.Time) Plan {
	in := newInputs(d, o, t, now)
	var p Plan
	switch {
	case d.Deleting:
		p = planDelete(in)
	case o.OwnershipConflict != nil:
		return planConflict(d, o)
	case o.Group == nil:
		return planCreate(d, o, t)
	case o.Group.Deleting:
		p = planWhileDeleting(in)
	default:
		p = planKeep(in)
	}
	p.Next = in.clock.Next()
	return p
}

// steps are the steps that follow from a selection.
type steps struct {
	in        *inputs
	fleet     *classification
	rollout   *rollout
	budget    *budget
	selection *selection
	inPlace   *inPlace
}

func newSteps(s *selection) *steps {
	return &steps{in: s.in, fleet: s.fleet, rollout: s.rollout, budget: s.budget, selection: s, inPlace: newInPlace(s.rollout)}
}

// planKeep plans for a group that exists. The steps stand in the order of their importance; the first one that exists is started, and a
// step in back-off does not keep the others from being started. Steps that launch instances or make room for them, and the start of
// drains, come before the release of drained instances: a large rollout takes as long as the calls that it waits for. A removal that
// launches nothing comes after those releases, or a large scale-in would hold hundreds of instances in termination. Further rounds of
// drains come last, because a drain may take days and each of its rounds is a step.
func planKeep(in *inputs) Plan {
	budget := newBudget(newRollout(classifyInstances(in)))
	v := newSteps(newSelection(budget))
	status := newStatus(v)
	p := status.report()
	begins, rounds := v.drainSteps()
	remove, release := v.removeUnlessHeld(), v.releaseStep()
	p.first(in.d, in.allowedDuringOperation(
		v.renewStep(), v.recreateStep(), v.cancelProviderRolloutStep(), ensurePrerequisitesStep(in.d, in.o, in.t), v.templateStep(),
		v.updateGroupStep(), budget.recordSurgeStep(), v.undrainStep(), budget.scaleUpStep(), v.standbyStep(), budget.shrinkStep(),
		v.releaseBefore(remove, release), remove, begins, release, v.startProviderRolloutStep(), v.inPlace.applyStep(), v.defaultStep(),
		v.pruneStep(), v.inPlace.protectStep(), v.inPlace.unprotectStep(), rounds)...)
	if p.Step == nil && len(p.Waiting) == 0 {
		p.Waiting = status.waitForTurn()
	}
	return p
}

// planCreate creates the template and the prerequisites, then the group.
func planCreate(d Desired, o Observed, t Traits) Plan {
	switch {
	case adoptionTargetMissing(d, t) != nil:
		return Plan{Refused: adoptionTargetMissing(d, t), Quiescent: true}
	case d.CreateBlocked != nil:
		return Plan{Waiting: []Cause{*d.CreateBlocked}, Quiescent: true}
	case FormerLeft(d, o) != nil:
		return Plan{Waiting: []Cause{*FormerLeft(d, o)}}
	case !d.ReplicasManagedExternally && replicasOutOfBounds(d) != nil:
		return Plan{Refused: replicasOutOfBounds(d), Quiescent: true}
	case o.Wanted.Content == "":
		return Plan{Waiting: unknownTemplate(o, t), Quiescent: true}
	case templateNotFound(o, t) != nil:
		return Plan{Waiting: append(slices.Clone(o.Issues), *templateNotFound(o, t)), Quiescent: true}
	}
	p := Plan{}
	var put *Step
	if !t.InlineTemplate {
		put = templateStep(d, o, t)
	}
	if provide := ensurePrerequisitesStep(d, o, t); put != nil || provide != nil {
		p.first(d, put, provide)
		return p
	}
	size := d.Replicas
	if d.ReplicasManagedExternally {
		size = min(max(size, d.minReplicas()), d.MaxReplicas())
	}
	p.first(d, &Step{
		Kind: CreateGroup, Size: size, Template: o.Latest().Ref,
		Cause: Cause{"GroupMissing", fmt.Sprintf("there is no %s yet: creating it with %s", t.Group, words.Machines(size))},
	})
	return p
}

// FormerLeft returns what is left of a former group and keeps the pool's from being created: the group itself while it is being deleted,
// or, because new instances get the names of its own, Machines that are being deleted and Nodes that are Ready. kubeadm join rejects the
// name of a Ready Node, and runs once: the new machine would never join.
func FormerLeft(d Desired, o Observed) *Cause {
	if o.FormerGroup != nil {
		return o.FormerGroup
	}
	if d.FormerMachines != nil || len(o.FormerNodes) == 0 {
		return d.FormerMachines
	}
	return &Cause{"FormerNodesReady", fmt.Sprintf(
		"not created while Nodes of its former instances are Ready, because kubeadm join rejects the name of a Ready Node: %s. Look at the "+
			"machine behind a Node that stays Ready", words.First(o.FormerNodes))}
}

// CreatesGroup reports whether the plan for such an observation is to create the pool's group, or what it needs before it, now or once
// what is waited for has happened.
func (p Plan) CreatesGroup(d Desired, o Observed) bool {
	return !d.Deleting && o.Group == nil && o.OwnershipConflict == nil && !p.Quiescent
}

// first takes the first step that exists and is not in back-off, and records whether there are others.
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
			p.Waiting = append(p.Waiting, backoffCause(step.Kind, cause)...)
		case avoid:
		case p.Step == nil:
			p.Step = step
		default:
			p.Step.More = true
			return
		}
	}
}

// backoffCause returns what is reported about a step in back-off.
func backoffCause(kind StepKind, c Cause) []Cause {
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

// replicasOutOfBounds returns that the replicas are outside the limits of the group, or nil.
func replicasOutOfBounds(d Desired) *Cause {
	if d.Replicas >= d.minReplicas() && d.Replicas <= d.MaxReplicas() {
		return nil
	}
	return &Cause{"ReplicasOutOfBounds", fmt.Sprintf("spec.replicas of the MachinePool is %d, allowed are %d (%s) to %d (%s)",
		d.Replicas, d.Min, d.MinField, d.Max, d.MaxField)}
}

// outOfBounds returns why the replicas are refused, or nil. An external autoscaler's size is never refused.
func (v *inputs) outOfBounds() *Cause {
	if v.d.ReplicasManagedExternally {
		return nil
	}
	return replicasOutOfBounds(v.d)
}

// unknownTemplate returns why there is no template to launch from.
func unknownTemplate(o Observed, t Traits) []Cause {
	if len(o.Issues) > 0 {
		return o.Issues
	}
	return []Cause{{"TemplateUnknown", fmt.Sprintf("waiting for the inputs of the %s", t.Template)}}
}

// ensurePrerequisitesStep creates what the group needs beside its template: before the group, and again if it was removed out of band.
func ensurePrerequisitesStep(d Desired, o Observed, t Traits) *Step {
	if len(o.MissingPrerequisites) == 0 || d.CreateBlocked != nil {
		return nil
	}
	return &Step{Kind: EnsurePrerequisites, Fields: o.MissingPrerequisites,
		Cause: Cause{"PrerequisiteMissing", fmt.Sprintf("a prerequisite of the %s is missing or out of date", t.Group)}}
}

// planConflict plans for a group that exists and is not the pool's: it is adopted if the object asks for exactly this group, or if the
// cloud created the group with its cluster for this object, and nothing shows another owner. It is left alone otherwise.
func planConflict(d Desired, o Observed) Plan {
	if refused := adoptionRefused(d.Adopt, o); refused != nil {
		return Plan{Refused: refused, Quiescent: true}
	}
	is := o.Unowned
	if is.Busy != nil {
		return Plan{Waiting: []Cause{*is.Busy}}
	}
	cause := Cause{"AdoptionRequested", fmt.Sprintf("annotation %s asks for %s", AdoptAnnotation, is.Group)}
	if d.Adopt.Name == "" {
		cause = Cause{"CreatedWithCluster", fmt.Sprintf("%s was created with its cluster for this object", is.Group)}
	}
	var p Plan
	p.first(d, &Step{Kind: Adopt, Fields: is.Resources, Cause: cause})
	return p
}

// adoptionRefused returns why a group is left alone, or nil if it is adopted.
func adoptionRefused(asked Adoption, o Observed) *Cause {
	conflict, is := *o.OwnershipConflict, o.Unowned
	refuse := func(format string, args ...any) *Cause {
		return &Cause{conflict.Reason, fmt.Sprintf(format, args...)}
	}
	switch {
	case is == nil, is.Owner != "":
		return &conflict
	case asked.Name == "" && !is.createdForPool():
		return refuse("%s. %s", conflict.Message, AdoptionHint(is.Name))
	case asked.Name != "" && asked.Name != is.Name:
		return refuse("annotation %s names %q, and the group found is %s: set the annotation to %q, or remove it", AdoptAnnotation, asked.Name,
			is.Group, is.Name)
	case is.NamedInstead != "":
		return refuse("annotation %s names %q, and spec.providerID names %q: correct the one that is wrong", AdoptAnnotation, asked.Name,
			is.NamedInstead)
	case is.OtherCluster != "":
		return refuse("%s is not adopted: its tags say that it belongs to cluster %q. Correct the annotation %s", is.Group, is.OtherCluster,
			AdoptAnnotation)
	case !asked.Done && is.notAllowed(asked) != nil:
		return is.notAllowed(asked)
	case is.TemplateConflict != nil:
		return is.TemplateConflict
	case asked.Done:
		return refuse("%s was this pool's and has lost its owner tag. To take it over again, remove the key %q from the annotation "+
			"muster.dev/resolved",
			is.Group, AdoptedKey)
	}
	return nil
}

// AdoptionHint says how the user has a group adopted.
func AdoptionHint(name string) string {
	return fmt.Sprintf("To take it over without replacing a machine, set the annotation %s: %s (docs/migrating.md)", AdoptAnnotation, name)
}

// AdoptedKey is the key under which an object remembers the name of the group that it has adopted.
const AdoptedKey = "adopted"

// adoptionTargetMissing returns that the group to adopt does not exist, or nil. No other is created in its place.
func adoptionTargetMissing(d Desired, t Traits) *Cause {
	if d.Adopt.Name == "" || d.Adopt.Done {
		return nil
	}
	if t.GroupNamedBy != "" {
		return &Cause{"AdoptionTargetMissing", fmt.Sprintf("annotation %s names the %s %q, and there is none of the name in %s: "+
			"set both to the name of one that exists, or remove the annotation to have a new one created", AdoptAnnotation, t.Group, d.Adopt.Name,
			t.GroupNamedBy)}
	}
	return &Cause{"AdoptionTargetMissing", fmt.Sprintf(
		"annotation %s names the %s %q, which does not exist: correct the annotation, or remove it to have a new one created",
		AdoptAnnotation, t.Group, d.Adopt.Name)}
}

package pool

import (
	"fmt"
	"strings"
	"time"
)

// Decide says what the next step of a pool is. It is pure: equal inputs give equal plans. It derives everything from
// what is observed now, so that it does not matter what an earlier pass began, or whether its reply was lost.
func Decide(d Desired, o Observed, t Traits, now time.Time) Plan {
	switch {
	case d.Deleting:
		return planDelete(d, o, t, now)
	case o.Foreign != nil:
		return Plan{Refused: o.Foreign, Settled: true}
	case o.Group == nil:
		return planCreate(d, o, t)
	case o.Group.Deleting:
		return Plan{Waiting: []Cause{{"GroupDeleting", fmt.Sprintf("waiting for the %s to be gone, which is being deleted", t.Group)}}}
	default:
		return planKeep(d, o, t, now)
	}
}

// planCreate makes the template, then the group.
func planCreate(d Desired, o Observed, t Traits) Plan {
	switch {
	case d.Held != nil:
		return Plan{Waiting: []Cause{*d.Held}, Settled: true}
	case !d.External && outOfBounds(d) != nil:
		return Plan{Refused: outOfBounds(d), Settled: true}
	case o.Wanted.Content == "":
		return Plan{Waiting: unknownTemplate(o, t), Settled: true}
	case behind(o):
		return begin(d, putTemplate(o, t))
	}
	size := d.Replicas
	if d.External {
		size = min(max(size, d.Min), d.Max)
	}
	return begin(d, &Step{
		Kind: CreateGroup, Size: size, Template: o.Latest().Ref,
		Cause: Cause{"GroupMissing", fmt.Sprintf("there is no %s yet; it is made with %s", t.Group, machines(size))},
	})
}

// planKeep follows a group that exists. The checks stand in the order of their weight; the first that has a step wins,
// and a step that the cloud refused a moment ago does not keep the others from being begun.
func planKeep(d Desired, o Observed, t Traits, now time.Time) Plan {
	p := Plan{Waiting: waiting(d, o, t), Settled: settled(o)}
	if !d.External {
		p.Refused = outOfBounds(d)
	}
	for _, step := range []*Step{
		templateStep(d, o, t),
		groupStep(d, o, t),
		undrainStep(d, o),
		growStep(d, o, t),
		shrinkStep(d, o, t, now),
		pruneStep(o, t),
	} {
		if step == nil {
			continue
		}
		p.Settled = false
		if cause, avoid := d.Avoid[step.Kind]; avoid {
			p.Waiting = append(p.Waiting, Cause{cause.Reason, fmt.Sprintf("%s was refused: %s", step.Kind, cause.Message)})
			continue
		}
		p.Step = step
		return p
	}
	return p
}

// begin is the plan of one step, unless the cloud refused it a moment ago.
func begin(d Desired, s *Step) Plan {
	if cause, avoid := d.Avoid[s.Kind]; avoid {
		return Plan{Waiting: []Cause{{cause.Reason, fmt.Sprintf("%s was refused: %s", s.Kind, cause.Message)}}}
	}
	return Plan{Step: s}
}

// outOfBounds says whether the replicas are outside of what the group allows.
func outOfBounds(d Desired) *Cause {
	if d.Replicas >= d.Min && d.Replicas <= d.Max {
		return nil
	}
	return &Cause{"ReplicasOutOfBounds", fmt.Sprintf("spec.replicas of the MachinePool is %d, allowed are %d (%s) to %d (%s)",
		d.Replicas, d.Min, d.MinField, d.Max, d.MaxField)}
}

// unknownTemplate says why there is no template to launch from.
func unknownTemplate(o Observed, t Traits) []Cause {
	if len(o.Issues) > 0 {
		return o.Issues
	}
	return []Cause{{"TemplateUnknown", fmt.Sprintf("waiting for what the %s is made of", t.Template)}}
}

// behind says whether the newest template lacks what is wanted, bootstrap data included.
func behind(o Observed) bool {
	latest := o.Latest()
	return o.Wanted.Content != "" && (!latest.Same(o.Wanted) || latest.Data != o.Wanted.Data)
}

func putTemplate(o Observed, t Traits) *Step {
	latest := o.Latest()
	cause := Cause{"TemplateChanged", fmt.Sprintf("the specification of the %s has changed", t.Template)}
	switch {
	case latest.Ref == "":
		cause = Cause{"TemplateMissing", fmt.Sprintf("there is no %s yet", t.Template)}
	case latest.Same(o.Wanted):
		cause = Cause{"BootstrapDataChanged", "new machines need the new bootstrap data; machines that exist stay as they are"}
	}
	return &Step{Kind: PutTemplate, Cause: cause, Base: latest.Ref}
}

// templateStep keeps the newest template what the specification and the bootstrap data ask for.
func templateStep(d Desired, o Observed, t Traits) *Step {
	if d.Held != nil || !behind(o) {
		return nil
	}
	return putTemplate(o, t)
}

// groupStep repairs the group's fields and points it at the newest template. A lower maximum waits until the group is
// small enough and as few instances exist: a cloud that is asked for it sooner would choose instances by itself, undrained.
func groupStep(d Desired, o Observed, t Traits) *Step {
	latest := o.Latest().Ref
	fields := make([]string, 0, len(o.Group.Drift))
	for _, f := range o.Group.Drift {
		if f == d.MaxField && d.Max < max(o.Group.Size, len(alive(o))) {
			continue
		}
		fields = append(fields, f)
	}
	if latest == "" {
		latest = o.Group.Template
	}
	if o.Group.Template == latest && len(fields) == 0 {
		return nil
	}
	s := &Step{Kind: UpdateGroup, Template: latest, Fields: fields}
	if len(fields) == 0 {
		s.Cause = Cause{"TemplateBehind", fmt.Sprintf("the %s launches from %s, the newest is %s", t.Group, o.Group.Template, latest)}
		return s
	}
	s.Cause = Cause{"GroupChanged", fmt.Sprintf("the %s differs in %s", t.Group, strings.Join(fields, ", "))}
	return s
}

// growStep raises the group's size. Where somebody lowered it by hand below what exists, it is raised to what exists: those
// that are too many are then drained, before the cloud takes some that it picks.
func growStep(d Desired, o Observed, t Traits) *Step {
	if d.External || outOfBounds(d) != nil || o.Group.Size >= d.Replicas {
		return nil
	}
	return &Step{Kind: Resize, Size: min(max(d.Replicas, len(alive(o))), max(d.Max, o.Group.Max)),
		Cause: Cause{"ScaleOut", fmt.Sprintf("the %s has a size of %d, the pool wants %d", t.Group, o.Group.Size, d.Replicas)}}
}

// pruneStep deletes versions that nothing launches from any more. Versions that differ from a newer one only in their
// bootstrap data go first and do not count as history.
func pruneStep(o Observed, t Traits) *Step {
	used := map[string]bool{o.Group.Template: true, o.Latest().Ref: true}
	seen := map[string]bool{}
	for _, i := range o.Instances {
		used[i.Template.Ref] = true
	}
	for _, v := range o.Versions {
		if used[v.Ref] {
			seen[v.Content] = true
		}
	}
	var refs []string
	kept := 0
	for _, v := range o.Versions {
		switch {
		case used[v.Ref] || v.Fixed:
		case !seen[v.Content] && kept < t.KeepTemplates:
			seen[v.Content] = true
			kept++
		default:
			refs = append(refs, v.Ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return &Step{Kind: PruneTemplates, Refs: refs,
		Cause: Cause{"TemplateUnused", fmt.Sprintf("nothing launches from %s of the %s any more", versions(len(refs)), t.Template)}}
}

// versions counts in words.
func versions(n int) string {
	if n == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", n)
}

// machines counts in words.
func machines(n int) string {
	if n == 1 {
		return "1 machine"
	}
	return fmt.Sprintf("%d machines", n)
}

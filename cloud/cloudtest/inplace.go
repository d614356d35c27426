package cloudtest

import (
	"github.com/muster-project/muster/pool"
)

// readyApply is a group of another shape than its machines have taken up.
func readyApply[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeSmall)
	target := p.target(p.suite.Reshaped)
	p.repair(target)
	return seen(p, target)
}

// dueApply is due for those that are behind the group.
func dueApply[S any](_ scene[S], o pool.Observed) *pool.Step {
	s := &pool.Step{Kind: pool.Apply}
	for _, i := range alive(o.Instances) {
		if len(i.InPlaceDrift) > 0 {
			s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	if len(s.Targets) == 0 {
		return nil
	}
	return s
}

// doneApply wants the same machines, none of them behind.
func doneApply[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	want := sc.before
	for k := range want.Instances {
		want.Instances[k].InPlaceDrift = nil
	}
	p.check("the group", want.Group, o.Group)
	p.check("the instances", undated(want).Instances, undated(o).Instances)
}

// dueProtect is due for those that the cloud may choose.
func dueProtect[S any](_ scene[S], o pool.Observed) *pool.Step {
	s := &pool.Step{Kind: pool.Protect}
	for _, i := range alive(o.Instances) {
		if i.ScaleInUnprotected {
			s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	if len(s.Targets) == 0 {
		return nil
	}
	return s
}

// doneProtect wants the same machines, none of which the cloud may choose.
func doneProtect[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	want := sc.before
	for k := range want.Instances {
		want.Instances[k].ScaleInUnprotected, want.Instances[k].ScaleInProtected = false, true
	}
	p.check("the group", want.Group, o.Group)
	p.check("the instances", want.Instances, o.Instances)
}

// readyProtected is a group in which the cloud may choose none.
func readyProtected[S any](p player[S]) scene[S] {
	sc := readyGroup(p)
	p.start(sc.target, *dueProtect(sc, sc.before))
	settle()
	return seen(p, sc.target)
}

// dueUnprotect is due for those that the cloud may not choose.
func dueUnprotect[S any](_ scene[S], o pool.Observed) *pool.Step {
	s := &pool.Step{Kind: pool.Unprotect}
	for _, i := range alive(o.Instances) {
		if i.ScaleInProtected {
			s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	if len(s.Targets) == 0 {
		return nil
	}
	return s
}

// doneUnprotect wants the same machines, all of which the cloud may choose.
func doneUnprotect[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	want := sc.before
	for k := range want.Instances {
		want.Instances[k].ScaleInProtected, want.Instances[k].ScaleInUnprotected = false, true
	}
	p.check("the group", want.Group, o.Group)
	p.check("the instances", want.Instances, o.Instances)
}

package pool

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool/health"
	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/pool/words"
)

// removalReason is the kind of reason for which an instance goes. Lower ones go first.
type removalReason int

const (
	keep removalReason = iota
	// deletionRequested: the user deleted the Machine of exactly this instance.
	deletionRequested
	// standby: its replacement was launched already.
	standby
	// failedInstance: it failed, and the cloud leaves its removal to Muster.
	failedInstance
	// unhealthy: its node is unhealthy.
	unhealthy
	// notServing: it is stale and not serving.
	notServing
	// stale: it is to be replaced.
	stale
	// surplus: it is above the wanted number.
	surplus
)

// member is one instance that is not terminating, with what a decision derives about it.
type member struct {
	*Instance
	// available is true if it serves (rule 1).
	available bool
	// current is true if it was launched from the wanted template and is not to be replaced.
	current bool
	// heldBy names the mark that keeps it from being replaced; empty if none does.
	heldBy string
	// byMuster is true if Muster replaces it rather than a provider rollout, toReplace if it is one of classification.toReplace, and
	// needsSurge if a surge has to take its place. The rollout sets needsSurge of unhealthy ones too.
	byMuster, toReplace, needsSurge bool
	// reason and cause are why it goes; the selection overwrites them where it goes with the size, and the rollout counts only the others
	// then.
	reason removalReason
	cause  Cause
	// inRollout is the member as the waves and the policies see it.
	inRollout rollouts.Machine
	// staleCause is why it would be replaced if it did not go for a more important reason.
	staleCause *Cause
	// quarantined is true if the rollout goes on with others because this one can't be drained. The selection sets it.
	quarantined bool
	// selected is true if its turn has come, yields if its drain is ended for one that is marked, passedOver if another one is surplus in its
	// place because its drain is blocked. The selection sets them.
	selected, yields, passedOver bool
}

// classification is the instances with their reasons to go, and their numbers.
type classification struct {
	in *inputs
	// members are the instances that are not terminating, in the order of Observed.
	members []*member
	// held are the terminating instances that a lifecycle hook keeps running.
	held []*member
	// available, inStandby and counted are the numbers of members that serve, that are in standby, and that the size of the group counts.
	available, inStandby, counted int
	// preserved is the ID of the member that failed and stays for diagnosis; empty if none does.
	preserved string
	// assumed is the number of terminating instances whose removal no read shows yet: it may be lost.
	assumed int
	// toReplace is the number of instances that Muster has still to replace in a rollout, servingStale the number of them that may serve.
	// Those in standby have been replaced. requested is the number of serving instances whose deletion was requested by name.
	toReplace, servingStale, requested int
	// shrinking is the number of instances that are not serving and need a surge, because their removal shrinks the group.
	shrinking int
	// goAnyway is the number of instances of an older template that are removed for a more important reason.
	goAnyway int
}

// classifyInstances determines for each instance whether it serves, and why it goes, if it does.
func classifyInstances(in *inputs) *classification {
	v := &classification{in: in, members: make([]*member, 0, len(in.o.Instances)), preserved: toPreserve(in)}
	all := make([]member, 0, len(in.o.Instances))
	causes := map[string]*Cause{}
	for k := range v.in.o.Instances {
		i := &v.in.o.Instances[k]
		if i.State == Terminating {
			if i.RemovalAssumed {
				v.assumed++
			}
			if i.LifecycleHook != nil {
				v.held = append(v.held, &member{Instance: i, reason: deletionRequested, cause: terminationCause(i)})
			}
			continue
		}
		all = append(all, member{Instance: i, available: v.serves(i)})
		m := &all[len(all)-1]
		v.members = append(v.members, m)
		v.classify(m, causes)
		if v.in.t.SelectsInstances && (m.reason != stale || m.byMuster) { // Muster removes nothing there
			m.reason, m.cause, m.staleCause, m.byMuster = keep, Cause{}, nil, false
		}
		v.count(m)
	}
	return v
}

// replaced reports whether there is a reason to replace a member, also where it goes with the size.
func (m *member) replaced() bool {
	return m.reason == stale || m.reason == notServing || m.reason == standby || m.toReplace || m.needsSurge || m.staleCause != nil
}

// drainRequested reports whether the drain of a member has started, or its guard was requested to release it. One that is ending may be
// drained without its guard.
func (m *member) drainRequested() bool {
	if m.Guard != nil && !m.ending() {
		return m.Guard.Requested
	}
	return m.isDraining() || m.Guard != nil && m.Guard.Requested
}

// ending reports whether the cloud is about to terminate a member that Muster does not remove, or only replaces.
func (m *member) ending() bool {
	return m.TerminationNotice != nil && (!m.selected || m.reason == stale || m.reason == notServing)
}

// isDraining reports whether Muster has started to drain its node.
func (m *member) isDraining() bool { return m.Node != nil && !m.Node.DrainStarted.IsZero() }

// voluntary reports whether it goes because Muster replaces it in a rollout.
func (m *member) voluntary() bool {
	return m.reason == standby || m.byMuster && m.reason != deletionRequested && m.cause.Reason != ScaleIn
}

// isReady reports whether its node exists and is Ready.
func (m *member) isReady() bool { return m.Node != nil && m.Node.Ready }

// lowersAvailable reports whether removing it costs an available instance, or may: a stale one that is not available yet may become so at
// any moment.
func (m *member) lowersAvailable() bool { return m.available || m.reason == stale && !m.isDraining() }

// count adds a member to the counts.
func (v *classification) count(m *member) {
	if m.available {
		v.available++
	}
	if m.Standby {
		v.inStandby++
	} else {
		v.counted++
	}
	switch {
	case m.Standby:
	case m.byMuster && m.reason == notServing:
		v.toReplace++
		m.toReplace = true
	case m.byMuster && m.reason == stale && m.heldBy == "":
		v.toReplace++
		v.servingStale++
		m.toReplace, m.needsSurge = true, true
	case m.reason == deletionRequested && m.available:
		v.requested++
		m.needsSurge = true
	}
	if m.staleCause != nil {
		v.goAnyway++
	}
	v.countShrinking(m)
}

// countShrinking counts an instance that is not serving and needs a surge nevertheless, because its removal shrinks the group.
func (v *classification) countShrinking(m *member) {
	if v.in.removalShrinksGroup() && !m.needsSurge && (m.toReplace || m.reason == deletionRequested || m.reason == failedInstance) {
		v.shrinking++
		m.needsSurge = true
	}
}

// hasRemovals reports whether a member has a reason to go that Muster acts on.
func (v *classification) hasRemovals() bool {
	return slices.ContainsFunc(v.members, func(m *member) bool { return m.reason != keep && (m.byMuster || m.reason != stale) })
}

// serves reports whether an instance is available (rule 1): joined, Ready for long enough, not drained by Muster, not terminating, without
// a termination notice. An instance whose deletion was requested and that is cordoned was drained by that request already.
func (v *classification) serves(i *Instance) bool {
	n := i.Node
	switch {
	case !v.in.runs(i) || n == nil || !n.Ready || !n.DrainStarted.IsZero():
		return false
	case i.TerminationNotice != nil || i.DeletionRequested != nil && n.Cordoned:
		return false
	default:
		return v.in.d.MinReady == 0 || v.in.clock.Reached(n.ReadySince.Add(v.in.d.MinReady))
	}
}

// classify determines why a member goes, if it does.
func (v *classification) classify(m *member, causes map[string]*Cause) {
	old, ill := v.staleCause(m.Instance, causes), v.unhealthyCause(m.Instance)
	m.current = old == nil && m.Template.Same(v.in.o.Wanted)
	m.heldBy = v.heldBy(m)
	switch {
	case m.DeletionRequested != nil:
		m.reason, m.cause, m.staleCause = deletionRequested, *m.DeletionRequested, old
	case m.Standby:
		m.reason, m.cause = standby, *cmp.Or(old, &Cause{"Standby", "another machine was launched in its place"})
	case m.ID == v.preserved:
		v.classifyStale(m, old)
	case v.in.failed(m.Instance) && v.in.t.KeepsFailedInstances:
		m.reason, m.cause, m.staleCause = failedInstance, Cause{"Failed", "the instance failed"}, old
	case ill != nil && v.remediated(m.Instance, old):
		m.reason, m.cause, m.staleCause = unhealthy, *ill, old
	case old != nil:
		v.classifyStale(m, old)
		if why := v.notServing(m.Instance); m.byMuster && why != nil {
			m.reason, m.cause = notServing, Cause{why.Reason, why.Message + ", and it was " + old.Message}
		}
	}
}

// classifyStale notes why a member is stale, if it is.
func (v *classification) classifyStale(m *member, old *Cause) {
	if old != nil {
		m.reason, m.cause, m.byMuster = stale, *old, v.replacedByMuster(m.Instance)
	}
}

// heldBy returns what keeps a member from being replaced, for messages; empty if nothing does.
func (v *classification) heldBy(m *member) string {
	switch n := m.Node; {
	case m.ID == v.preserved:
		return "the annotation muster.dev/preserve"
	case n != nil && v.in.d.PodsHold && n.Pods.By != "":
		return n.Pods.By
	case n != nil && n.Held && (n.HeldUntil.IsZero() || !v.in.clock.Reached(n.HeldUntil)):
		return cmp.Or(n.HeldBy, "the annotation muster.dev/hold")
	}
	return ""
}

// toPreserve returns the instance that failed and that a user wants to look at; empty if there is none.
func toPreserve(v *inputs) string {
	var list []health.Unready
	for _, i := range v.o.Instances {
		if n := i.Node; n != nil && n.Preserved && i.State != Terminating && !n.Ready {
			list = append(list, health.Unready{ID: i.ID, Since: n.ReadySince, Until: n.PreservedUntil})
		}
	}
	return health.Preserved(list, v.clock)
}

// replacedByMuster reports whether Muster replaces a stale instance rather than a provider rollout. Where provider rollouts replace every
// instance of another template and no others, they do that, and Muster does the rest; elsewhere a strategy takes all.
func (v *classification) replacedByMuster(i *Instance) bool {
	if v.in.t.RolloutOnTemplateChange {
		return v.in.d.SkipModel || !v.otherTemplate(i)
	}
	left := v.in.t.RolloutOfOtherTemplates && !v.in.d.SkipModel && v.otherTemplate(i)
	if v.in.d.Strategy != nil && v.in.d.Strategy.OnDelete {
		return v.restarted(i)
	}
	requested := v.restarted(i) || !v.otherTemplate(i)
	return v.in.d.Strategy != nil || (!v.in.t.ProviderRollout || v.in.t.RolloutOfOtherTemplates) && requested && !left
}

// musterReplaces reports whether Muster replaces stale instances by a strategy or a restart.
func (v *rollout) musterReplaces() bool {
	return v.in.d.Strategy != nil || (!v.in.t.ProviderRollout || v.in.t.RolloutOfOtherTemplates) && v.in.d.Restart != nil
}

// templateChanged is the reason of an instance whose template is not the wanted one.
const templateChanged = "TemplateChanged"

// staleCause returns why an instance is to be replaced with one of the wanted template, or nil (rules 7 and 8). Instances with equal causes
// share one.
func (v *classification) staleCause(i *Instance, causes map[string]*Cause) *Cause {
	changes := !v.in.d.SkipModel && v.otherTemplate(i)
	if v.restarted(i) && (!changes || !v.in.t.RolloutOnTemplateChange) {
		return &v.in.d.Restart.Cause
	}
	if !changes {
		return v.aged(i)
	}
	key := i.Template.Ref
	if len(i.TemplateDiff) > 0 {
		key += "\n" + strings.Join(i.TemplateDiff, ",")
	}
	if causes[key] == nil {
		cause := changedCause(*i, v.in.t)
		causes[key] = &cause
	}
	return causes[key]
}

// restarted reports whether the user requested a restart of all instances of that age.
func (v *classification) restarted(i *Instance) bool {
	made := born(i)
	return v.in.d.Restart != nil && !made.IsZero() && made.Before(v.in.d.Restart.Before)
}

// otherTemplate reports whether an instance was launched from other content than the wanted one. Bootstrap data alone never makes an
// instance stale. Unknown content counts as right while it may be: the list of versions may be behind the instances.
func (v *classification) otherTemplate(i *Instance) bool {
	wanted := v.in.o.Wanted
	if wanted.Content == "" || v.in.o.Group == nil {
		return false
	}
	if i.Template.Content != "" {
		return i.Template.Content != wanted.Content
	}
	return i.Template.Ref != "" && i.Template.Ref != v.in.o.Group.Template && !v.in.known(i.Template.Ref) && v.in.launchesWanted()
}

// changedCause says in a sentence what makes an instance stale.
func changedCause(i Instance, t Traits) Cause {
	return Cause{templateChanged, words.Launched(i.Template.Ref, t.Template, t.InlineTemplate, i.TemplateDiff)}
}

package pool

import "time"

// why is the kind of reason for which an instance goes; lower ones go first.
type why int

const (
	stays why = iota
	// condemned: exactly this one was asked to go.
	condemned
	// aside: another was launched in its place already.
	aside
	// broken: it failed, and the cloud leaves it to us.
	broken
	// sick: its node is unwell.
	sick
	// idle: it is stale and serves nobody.
	idle
	// stale: it is to be replaced.
	stale
	// spare: there is one too many.
	spare
)

// member is one instance that is not on its way out, with what a decision derives about it.
type member struct {
	*Instance
	// available says that it counts as serving (rule 1).
	available bool
	// fresh says that it was launched from the wanted template and shall not be replaced.
	fresh bool
	// ours says that it is replaced by our hand rather than by the cloud's roll, left that it is one of view.left, and needs
	// that a surge has to stand in for it.
	ours, left, needs bool
	why               why
	cause             Cause
	// old is why it would be replaced by one of the wanted template if it did not go for a reason that weighs more.
	old *Cause
	// going says that its turn has come.
	going bool
	// place, zone, born and hash are what the queue is ordered by.
	place int
	zone  int
	born  time.Time
	hash  uint64
}

// drains says that a drain of ours has begun on its node.
func (m *member) drains() bool { return m.Node != nil && !m.Node.DrainStarted.IsZero() }

// isReady says that its node is there and Ready now.
func (m *member) isReady() bool { return m.Node != nil && m.Node.Ready }

// costs says that an available machine is lost with it, or may be: one that is stale and has not become available yet may
// do so at any moment.
func (m *member) costs() bool { return m.available || m.why == stale && !m.drains() }

// view is what one decision works on: the facts, and what is derived from them once.
type view struct {
	d   Desired
	o   Observed
	t   Traits
	now time.Time
	// want is the number of machines that budgets are counted from.
	want int
	// surge and unavailable are the strategy's numbers for it.
	surge, unavailable int
	// members are the instances that are not on their way out, in the order of Observed.
	members []*member
	// available, aside and counted number those that serve, that are set aside, and that the group counts.
	available, aside, counted int
	// left is how many instances a rollout by our hand has still to replace, serving how many of them may serve, and asked
	// how many serving ones somebody asked to replace by name; those that are set aside have been replaced. Where a surge has to
	// stand in for those too that serve nobody, places is how many these are.
	left, serving, asked, places int
	// overtaken is how many are of an older template and go for a reason that weighs more.
	overtaken int
	// stuck, when set, is why no serving instance is replaced now, and state says so in one word.
	stuck *Cause
	state RolloutState
	// queue are the members in the order in which they would go; nil when there is no reason to choose.
	queue []*member
	// next is the earliest moment that was asked about and is still to come.
	next time.Time
}

// reached says that a moment has come. What it is asked about is remembered, so that the plan can say when to look again.
func (v *view) reached(at time.Time) bool {
	if !v.now.Before(at) {
		return true
	}
	if v.next.IsZero() || at.Before(v.next) {
		v.next = at
	}
	return false
}

// passed says that a moment has come and gone.
func (v *view) passed(at time.Time) bool { return v.reached(at.Add(1)) }

// look derives what a decision needs.
func look(d Desired, o Observed, t Traits, now time.Time) *view {
	v := &view{d: d, o: o, t: t, now: now, want: d.Replicas}
	if d.ReplicasManagedExternally && o.Group != nil {
		v.want = max(0, o.Group.Size-o.Group.Surge)
	}
	v.surge, v.unavailable = v.limits()
	all := make([]member, 0, len(o.Instances))
	v.members = make([]*member, 0, len(o.Instances))
	causes := map[string]Cause{}
	for k := range o.Instances {
		i := &o.Instances[k]
		if i.State == Terminating {
			continue
		}
		all = append(all, member{Instance: i, available: v.serves(i)})
		m := &all[len(all)-1]
		v.members = append(v.members, m)
		v.judge(m, causes)
		v.count(m)
	}
	v.hold()
	v.placeSick()
	return v
}

func (v *view) count(m *member) {
	if m.available {
		v.available++
	}
	if m.Standby {
		v.aside++
	} else {
		v.counted++
	}
	switch {
	case m.Standby:
	case m.ours && m.why == idle:
		v.left++
		m.left = true
	case m.ours && m.why == stale:
		v.left++
		v.serving++
		m.left, m.needs = true, true
	case m.why == condemned && m.available:
		v.asked++
		m.needs = true
	}
	if m.old != nil {
		v.overtaken++
	}
	v.countPlace(m)
}

// countPlace counts those who serve nobody and need a surge in their place all the same.
func (v *view) countPlace(m *member) {
	if v.placesAreOthers() && !m.needs && (m.left || m.why == condemned || m.why == broken) {
		v.places++
		m.needs = true
	}
}

// limits are the strategy's numbers. A surge by the size that nobody could tell from what somebody else asks for who sizes
// the group is none; one machine may be unavailable then at least, or nobody could ever be replaced.
func (v *view) limits() (surge, unavailable int) {
	surge, unavailable = v.d.Strategy.limits(v.want)
	if v.d.ReplicasManagedExternally && !v.t.SupportsStandby && !v.t.RecordsSurge {
		return 0, min(max(unavailable, 1), v.want)
	}
	return surge, unavailable
}

// placesAreOthers says that whoever goes takes a place with it that somebody else has asked for and that only a surge gives
// back.
func (v *view) placesAreOthers() bool {
	return v.d.ReplicasManagedExternally && !v.t.ReplaceKeepsSize && v.surge > 0
}

// runs says that an instance runs.
func (v *view) runs(i *Instance) bool { return v.t.Runs(*i) }

// failed says that an instance failed and does not run.
func (v *view) failed(i *Instance) bool { return i.State == Failed && !v.runs(i) }

// serves is rule 1: joined, Ready for long enough, not drained by us, not on its way out, by the cloud's hand either. A
// condemned machine that is cordoned was drained already by him who condemned it.
func (v *view) serves(i *Instance) bool {
	n := i.Node
	switch {
	case !v.runs(i) || n == nil || !n.Ready || !n.DrainStarted.IsZero():
		return false
	case i.TerminationNotice != nil || i.DeletionRequested != nil && n.Cordoned:
		return false
	default:
		return v.d.MinReady == 0 || v.reached(n.ReadySince.Add(v.d.MinReady))
	}
}

// floor is the number of available machines that no step of ours goes below.
func (v *view) floor() int { return v.want - v.unavailable }

// judge finds out why a member goes, if it does.
func (v *view) judge(m *member, causes map[string]Cause) {
	old, ill := v.outdated(m.Instance, causes), v.sickness(m.Instance)
	m.fresh = old == nil && m.Template.Same(v.o.Wanted)
	switch {
	case m.DeletionRequested != nil:
		m.why, m.cause, m.old = condemned, *m.DeletionRequested, old
	case m.Standby:
		m.why, m.cause = aside, Cause{"Standby", "another machine was launched in its place"}
		if old != nil {
			m.cause = *old
		}
	case v.failed(m.Instance) && v.t.KeepsFailedInstances:
		m.why, m.cause, m.old = broken, Cause{"Failed", "the instance failed"}, old
	case ill != nil && v.sickNotStale(m.Instance, old):
		m.why, m.cause, m.old = sick, *ill, old
	case old != nil:
		m.why, m.cause = stale, *old
		m.ours = v.ours(m.Instance)
		if nobody := v.servesNobody(m.Instance); m.ours && nobody != nil {
			m.why, m.cause = idle, Cause{nobody.Reason, nobody.Message + ", and it was " + old.Message}
		}
	}
}

// ours says that a stale instance is replaced by our hand. Where the cloud's roll replaces what is of another template and
// nothing else, that is what it is asked for, and the rest is ours; elsewhere a strategy takes all.
func (v *view) ours(i *Instance) bool {
	if v.t.RolloutOnTemplateChange {
		return v.d.SkipModel || !v.outOfDate(i)
	}
	return v.d.Strategy != nil || !v.t.ProviderRollout && v.restarted(i)
}

// byHand says whether a strategy of ours replaces stale instances.
func (v *view) byHand() bool {
	return v.d.Strategy != nil || !v.t.ProviderRollout && v.d.Restart != nil
}

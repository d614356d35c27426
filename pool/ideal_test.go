package pool

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ideal is a cloud, and a workload cluster, in which every step succeeds at once and everything that is launched joins.
type ideal struct {
	o    Observed
	now  time.Time
	next int
	// gone counts the machines that went.
	gone int
	tr   Traits
	// barren are the machines that never join.
	barren map[string]bool
}

// failer is a test, or one round of a property.
type failer interface{ Fatalf(string, ...any) }

// do begins a step, as a driver and the Kubernetes edge would.
func (c *ideal) do(t failer, s Step) {
	g := c.o.Group
	switch s.Kind {
	case PutTemplate:
		c.template()
	case CreateGroup:
		c.o.Group = &Group{ID: "arn", Size: s.Size, Template: s.Template}
		if c.tr.InlineTemplate {
			c.template()
		}
	case Unprotect:
		for k, i := range c.o.Instances {
			c.o.Instances[k].ScaleInProtected = i.ScaleInProtected && !named(s)(i)
		}
	case Apply, Protect:
		for k, i := range c.o.Instances {
			if named(s)(i) && s.Kind == Protect {
				c.o.Instances[k].ScaleInUnprotected = false
			} else if named(s)(i) {
				c.o.Instances[k].InPlaceDrift = nil
			}
		}
	case EnsurePrerequisites:
		c.o.MissingPrerequisites = slices.DeleteFunc(slices.Clone(c.o.MissingPrerequisites),
			func(f string) bool { return slices.Contains(s.Fields, f) })
	case CleanUp:
		c.o.Leftovers = slices.DeleteFunc(slices.Clone(c.o.Leftovers), func(f string) bool { return slices.Contains(s.Fields, f) })
	case DefaultTemplate:
		for k, v := range c.o.Versions {
			c.o.Versions[k].Undeletable = v.Ref == s.Template || v.Undeletable && v.UserManaged
		}
	case UpdateGroup:
		g.Template, g.SurgePlanned = s.Template, s.Planned
		g.Drift = slices.DeleteFunc(g.Drift, func(f string) bool { return slices.Contains(s.Fields, f) })
	case Resize:
		g.Size, g.Surge, g.SurgePlanned = s.Size, s.Surge, PlannedSurge{}
	case Drain, Undrain:
		c.nodes(s)
	case Remove:
		for _, i := range alive(c.o) {
			if named(s)(i) {
				g.Size = max(0, g.Size-1)
			}
		}
		g.Surge = s.Surge
		c.leave(named(s))
	case Replace:
		c.leave(named(s))
	case EnterStandby:
		for k, i := range c.o.Instances {
			c.o.Instances[k].Standby = i.Standby || named(s)(i)
		}
	case Release:
		c.o.Instances = slices.DeleteFunc(c.o.Instances, named(s))
	case Renew:
		for k, i := range c.o.Instances {
			if named(s)(i) {
				hold := *i.LifecycleHook
				hold.Until = c.now.Add(hold.Heartbeat)
				c.o.Instances[k].LifecycleHook = &hold
			}
		}
	case StartProviderRollout:
		failures := 0
		if c.o.ProviderRollout != nil {
			failures = c.o.ProviderRollout.Failures
		}
		c.o.ProviderRollout = &ProviderRollout{ID: fmt.Sprintf("roll-%d", c.next), State: ProviderRolloutRunning, Template: c.version(s.Template),
			Started: c.now, Failures: failures}
		c.next++
	case CancelProviderRollout:
		roll := *c.o.ProviderRollout
		roll.State = ProviderRolloutCancelling
		c.o.ProviderRollout = &roll
	case PruneTemplates:
		c.o.Versions = slices.DeleteFunc(c.o.Versions, func(v Template) bool { return slices.Contains(s.Refs, v.Ref) })
	case DeleteGroup:
		g.Deleting = true
		c.leave(func(Instance) bool { return true })
	case DeleteTemplates:
		c.o.Versions = slices.DeleteFunc(c.o.Versions, ours)
	default:
		t.Fatalf("a step that no driver knows: %s", s.Kind)
	}
}

// template makes a version of what is wanted. A group that holds its template launches from it at once, and forgets what was
// before.
func (c *ideal) template() {
	v := c.o.Wanted
	v.Ref = fmt.Sprintf("lt:%d", 100+c.next)
	c.next++
	c.o.Versions = append([]Template{v}, c.o.Versions...)
	if c.tr.InlineTemplate {
		c.o.Versions, c.o.Group.Template = c.o.Versions[:1], v.Ref
	}
}

// named reports whether a step names an instance.
func named(s Step) func(i Instance) bool {
	return func(i Instance) bool {
		return slices.ContainsFunc(s.Targets, func(t InstanceRef) bool { return t.ID == i.ID })
	}
}

// version returns the template with that name.
func (c *ideal) version(ref string) Template {
	for _, v := range c.o.Versions {
		if v.Ref == ref {
			return v
		}
	}
	return Template{Ref: ref}
}

// roll lets the cloud's own roll replace one machine, or end.
func (c *ideal) roll() {
	if c.o.ProviderRollout == nil || c.o.ProviderRollout.ended() {
		return
	}
	roll := *c.o.ProviderRollout
	c.o.ProviderRollout = &roll
	switch roll.State {
	case ProviderRolloutCancelling:
		roll.State, roll.Ended = ProviderRolloutCancelled, c.now
		return
	case ProviderRolloutReverting:
		roll.State, roll.Ended = ProviderRolloutReverted, c.now
		return
	}
	for k, i := range c.o.Instances {
		old := i.Template.Ref != roll.Template.Ref || i.Created.Before(roll.Started)
		if c.tr.RolloutOnTemplateChange {
			old = i.Template != c.version(roll.Template.Ref)
		}
		if (i.State == Running || i.State == Failed && c.tr.KeepsFailedInstances) && old {
			c.o.Instances[k].State = Terminating
			return
		}
	}
	roll.State, roll.Ended, roll.Failures = ProviderRolloutSucceeded, c.now, 0
	c.o.Group.Template, c.o.Group.Content, c.o.Group.Unfinished = roll.Template.Ref, "", nil
}

func (c *ideal) leave(who func(Instance) bool) {
	for k, i := range c.o.Instances {
		if who(i) && i.State != Terminating {
			c.o.Instances[k].State = Terminating
			c.gone++
		}
	}
}

// nodes drains or gives back; a drain evicts one pod in each round.
func (c *ideal) nodes(s Step) {
	for k, i := range c.o.Instances {
		at := slices.IndexFunc(s.Targets, func(t InstanceRef) bool { return t.ID == i.ID })
		if i.Node == nil || at < 0 {
			continue
		}
		node := *i.Node
		switch {
		case s.Kind == Undrain:
			node.Cordoned, node.DrainStarted, node.Remaining, node.Detaching, node.Blocked = false, time.Time{}, 0, 0, nil
			if s.Targets[at].Cause.Reason == DrainBlocked {
				node.DrainAbandoned = c.now
			}
		case node.DrainStarted.IsZero():
			node.Cordoned, node.DrainStarted, node.Remaining, node.DrainAbandoned = true, c.now, 2, time.Time{}
		default:
			node.Remaining, node.Detaching, node.Blocked = max(0, node.Remaining-1), max(0, node.Detaching-1), nil
		}
		c.o.Instances[k].Node = &node
	}
}

// tick lets the cloud do its part: what leaves is gone, what failed is replaced, what is missing is launched and joins.
func (c *ideal) tick() {
	c.now = c.now.Add(10 * time.Second)
	if c.o.Group != nil && c.o.Group.Deleting {
		c.leave(func(Instance) bool { return true })
	}
	c.o.NodesUnknown = false
	c.o.Instances = slices.DeleteFunc(c.o.Instances, func(i Instance) bool {
		return i.State == Terminating && (i.LifecycleHook == nil || !i.LifecycleHook.Until.After(c.now)) || i.State == Failed &&
			!c.tr.KeepsFailedInstances || i.TerminationNotice != nil && c.now.Sub(now) > 2*time.Minute
	})
	for k, i := range c.o.Instances {
		c.o.Instances[k].Updating = false
		if i.State == Terminating || i.State == Failed {
			continue
		}
		if c.barren[i.ID] {
			c.o.Instances[k].State = Running
			continue
		}
		if i.Node == nil {
			c.o.Instances[k].Node = &Node{Name: "node-" + i.ID, Joined: c.now}
		}
		node := *c.o.Instances[k].Node
		if !node.Ready {
			node.Ready, node.ReadySince = true, c.now
		}
		c.o.Instances[k].State, c.o.Instances[k].Node = Running, &node
	}
	if c.o.Group == nil {
		return
	}
	if c.o.Group.Deleting {
		if len(c.o.Instances) == 0 {
			c.o.Group = nil
			if c.tr.InlineTemplate {
				c.o.Versions = nil
			}
		}
		return
	}
	c.o.Group.Busy = nil
	if !c.o.Group.ScaleUpFailedAt.IsZero() && c.now.Sub(c.o.Group.ScaleUpFailedAt) > 5*time.Minute {
		c.o.Group.ScaleUpFailedAt = time.Time{}
	}
	if slices.ContainsFunc(c.o.Instances, func(i Instance) bool { return i.Node != nil }) {
		c.o.Group.Failed = nil
	}
	c.roll()
	counted := slices.DeleteFunc(alive(c.o), func(i Instance) bool { return i.Standby })
	// A group that is larger than its size is made smaller by the cloud, one at a time.
	if len(counted) > c.o.Group.Size {
		c.leave(func(i Instance) bool { return i.ID == counted[0].ID })
		return
	}
	from := c.version(c.o.Group.Template)
	from.Content = cmp.Or(c.o.Group.Content, from.Content)
	if c.o.ProviderRollout.Runs() {
		from = c.version(c.o.ProviderRollout.Template.Ref)
	}
	for range c.o.Group.Size - len(counted) {
		id := fmt.Sprintf("n-%d", c.next)
		c.next++
		c.o.Instances = append(c.o.Instances, Instance{ID: id, ProviderID: "aws:///x/" + id, Zone: "a", Template: from, State: Pending,
			Created: c.now})
	}
}

// passBound is enough for the longest way: every node drained in three rounds, every batch removed, every machine launched,
// and a handful of steps for templates and the group.
func passBound(d Desired, o Observed) int { return 220 + 16*(len(o.Instances)+d.Replicas) }

// Whatever the fleet is like at first, on an ideal cloud it is as wanted after a bounded number of passes; each step of
// them is safe; and after that there is none.
func TestFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		d.StepsInBackoff, d.CreateBlocked = nil, nil
		if o.Wanted.Content == "" {
			o.Wanted = Template{Content: "v1:new", Data: "d"}
		}
		if o.Wanted.UserManaged && o.Latest().Ref == "" {
			o.Versions = append([]Template{{Ref: "lt:99", UserManaged: true, Content: o.Wanted.Content}}, o.Versions...)
		}
		tr := someTraits().Draw(t, "traits")
		o = seenBy(tr, o)
		c := &ideal{o: copied(o), now: now, tr: tr}
		for k := range c.o.Instances { // its reads are not behind
			c.o.Instances[k].EnteringStandby = false
		}
		bound := passBound(d, o)
		var trail []string
		for range bound {
			p := Decide(d, c.o, c.tr, c.now)
			trail = append(trail, say(p))
			if p.Step != nil {
				if fault := unsafeStep(d, c.o, c.tr, c.now, *p.Step); fault != "" {
					t.Fatalf("%s: %s", say(p), fault)
				}
				c.do(t, *p.Step)
			}
			c.tick()
		}
		for range 3 {
			p := Decide(d, c.o, c.tr, c.now)
			if p.Step != nil || !p.Quiescent && !stuck(p) {
				t.Fatalf("want rest after %d passes, got %s; the way there: %q", bound, say(p), begin(slices.Compact(trail)))
			}
			c.tick()
		}
		c.asWanted(t, d, o)
	})
}

// begin returns what is worth being shown of a long way.
func begin(trail []string) []string { return trail[:min(20, len(trail))] }

// stuck reports whether a removal waits for a failed machine that nothing replaces, and the user is told both.
func stuck(p Plan) bool {
	told := func(reason string) bool {
		return slices.ContainsFunc(p.Waiting, func(c Cause) bool { return c.Reason == reason })
	}
	return told(replicasManagedExternally) && told(budgetSpent)
}

// asWanted holds the end against what was asked for.
func (c *ideal) asWanted(t *rapid.T, d Desired, before Observed) {
	switch {
	case d.Deleting:
		if c.o.Group != nil || slices.ContainsFunc(c.o.Versions, ours) || len(c.o.Leftovers) > 0 || len(c.o.Instances) > 0 ||
			!Decide(d, c.o, c.tr, c.now).DeletionComplete {
			t.Fatalf("want nothing left, got %+v", c.o)
		}
	case c.o.Group == nil:
		if d.ReplicasManagedExternally || replicasOutOfBounds(d) == nil {
			t.Fatalf("want a group, got none")
		}
	case c.isStale(d):
		t.Fatalf("want every machine as it should be, got %+v", c.o.Instances)
	case !c.pointed(d):
		t.Fatalf("want the group to launch from what is wanted, got %+v of %+v", c.o.Group, c.o.Versions)
	case slices.ContainsFunc(c.o.Instances, func(i Instance) bool {
		return i.DeletionRequested != nil || i.TerminationNotice != nil || i.LifecycleHook != nil
	}) && replicasOutOfBounds(d) == nil && !stuck(Decide(d, c.o, c.tr, c.now)):
		t.Fatalf("want no machine left that had to be removed, got %+v", c.o.Instances)
	case !c.rests(d):
	case !d.ReplicasManagedExternally && replicasOutOfBounds(d) == nil && (len(c.o.Instances) != d.Replicas || c.o.Group.Size != d.Replicas):
		t.Fatalf("want %d machines, got %d in a group of size %d", d.Replicas, len(c.o.Instances), c.o.Group.Size)
	case d.ReplicasManagedExternally && before.Group != nil && !before.Group.Deleting && before.Group.Failed == nil &&
		c.o.Group.Size != max(0, before.Group.Size-before.Group.Surge):
		t.Fatalf("want the size left alone at %d, got %d", before.Group.Size, c.o.Group.Size)
	case slices.ContainsFunc(c.o.Instances, func(i Instance) bool { return !i.Node.DrainStarted.IsZero() }):
		t.Fatalf("want no node left cordoned, got %+v", c.o.Instances)
	}
}

// pointed reports whether the newest template has the wanted content, and whether the group launches from it or from one as good.
func (c *ideal) pointed(d Desired) bool {
	latest, launches := c.o.Latest(), c.version(c.o.Group.Template)
	launches.Content = cmp.Or(c.o.Group.Content, launches.Content)
	switch {
	case !latest.Same(c.o.Wanted):
		return false
	case c.waitsForRoll(d):
		return true
	case c.tr.RolloutOnTemplateChange:
		return launches.Same(c.o.Wanted)
	}
	// What the group launches from is the default at rest, where the template has one.
	if !launches.Undeletable && !launches.UserManaged && slices.ContainsFunc(c.o.Versions,
		func(v Template) bool { return v.Undeletable && ours(v) }) && c.settledOn(d) {
		return false
	}
	if c.tr.InlineTemplate && !slices.Contains(d.LostBootstrapData, launches.Data) {
		return true
	}
	return launches.Ref == latest.Ref && (latest.UserManaged || latest.Data == c.o.Wanted.Data)
}

// settledOn reports whether no machine waits to be replaced.
func (c *ideal) settledOn(d Desired) bool {
	return Decide(d, c.o, c.tr, c.now).Rollout.State == RolloutDone
}

// rests reports whether no rollout is held up in its middle.
func (c *ideal) rests(d Desired) bool {
	return d.RolloutPaused == nil && d.Strategy.bothZero() == nil && (c.tr.ReplaceKeepsSize || !d.ReplicasManagedExternally)
}

// noSurge reports whether the strategy lets none be launched beside those that there are.
func (c *ideal) noSurge(d Desired) bool {
	surge, _ := d.Strategy.limits(c.o.Group.Size)
	return surge == 0
}

// waitsForRoll reports whether the group is pointed at its template by a roll that may not begin.
func (c *ideal) waitsForRoll(d Desired) bool {
	if c.tr.RolloutOnTemplateChange && d.SkipModel && slices.ContainsFunc(c.o.Instances,
		func(i Instance) bool { return !i.Template.Same(c.o.Wanted) }) {
		return true
	}
	return (c.tr.RolloutOnTemplateChange || d.Rollback && c.tr.ProviderRollout && d.Strategy == nil) &&
		(d.RolloutPaused != nil || replicasOutOfBounds(d) != nil && !d.ReplicasManagedExternally)
}

// isStale reports whether a machine is left that should have been replaced.
func (c *ideal) isStale(d Desired) bool {
	switch {
	case d.RolloutPaused != nil, !d.ReplicasManagedExternally && replicasOutOfBounds(d) != nil, d.Strategy.bothZero() != nil,
		d.ReplicasManagedExternally && !c.tr.ReplaceKeepsSize && (!c.tr.RecordsSurge || c.noSurge(d)), d.Strategy == nil && !c.tr.ProviderRollout:
		return false
	}
	return slices.ContainsFunc(c.o.Instances, func(i Instance) bool {
		made := born(&i)
		return !d.SkipModel && i.Template.Content != "" && !i.Template.Same(c.o.Wanted) || d.Restart != nil && !made.IsZero() &&
			made.Before(d.Restart.Before)
	})
}

// A pool that is made on an ideal cloud takes one step for the template and one for the group, and removes nothing; one
// that shrinks by k removes exactly k.
func TestNoStepTooMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := rapid.IntRange(0, 10).Draw(t, "from"), rapid.IntRange(0, 10).Draw(t, "to")
		c := &ideal{o: Observed{Wanted: Template{Content: "v1:a", Data: "d"}}, now: now, tr: traits}
		run := func(d Desired) (steps []StepKind) {
			for range passBound(d, c.o) {
				if p := Decide(d, c.o, c.tr, c.now); p.Step != nil {
					steps = append(steps, p.Step.Kind)
					c.do(t, *p.Step)
				}
				c.tick()
			}
			return steps
		}
		if steps := run(wants(from)); !slices.Equal(steps, []StepKind{PutTemplate, CreateGroup}) || c.gone > 0 {
			t.Fatalf("want two steps to make a pool of %d, got %v", from, steps)
		}
		steps := run(wants(to))
		if c.gone != max(0, from-to) {
			t.Fatalf("want %d machines gone from %d to %d, got %d by %v", max(0, from-to), from, to, c.gone, steps)
		}
		if to > from && !slices.Equal(steps, []StepKind{Resize}) || to == from && len(steps) > 0 {
			t.Fatalf("want one step from %d to %d, got %v", from, to, steps)
		}
	})
}

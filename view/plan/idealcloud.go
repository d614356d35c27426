package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
)

// idealCloud is a cloud, and a workload cluster, in which every step succeeds at once, every drain ends, and everything that is
// launched joins by the end of its round. What has failed to become Ready till now is not taken to do so.
type idealCloud struct {
	d   pool.Desired
	o   pool.Observed
	t   pool.Traits
	now time.Time
	// began is the time of the observation. What was observed to boot has booted a round later.
	began time.Time
	// round counts the rounds; each is as long as machines take to boot, or ends when a decision can change by itself.
	round int
	next  int
	// launched are the rounds in which machines were launched, in order; left are the machines that went.
	launched []int
	left     []removedMachine
	// changed are the machines that stay and were changed in place.
	changed []ReplacedMachine
	// rolled lists the machines that the provider rollout replaces, which begins in the round rolledIn.
	rolled   []pool.InstanceRef
	rolledIn int
	pace     pace
}

// removedMachine is a machine that went.
type removedMachine struct {
	pool.Instance
	cause pool.Cause
	round int
	// shrank is true if the group's size was lowered with it; aside that another had been launched in its place before all
	// this began.
	shrank, aside bool
}

// boot is the length of a round. The forecast of a rollout does not depend on it while it is shorter than the deadlines.
const boot = 3 * time.Minute

// newIdealCloud returns a cloud in the observed state.
func newIdealCloud(l preview.Look) *idealCloud {
	c := &idealCloud{d: l.Desired, o: l.Observed, t: l.Traits, now: l.Now, began: l.Now, pace: newPace(l)}
	c.d.Limits = c.pace.limits(c.now)
	c.o.Instances = slices.Clone(l.Observed.Instances)
	for k := range c.o.Instances {
		i := &c.o.Instances[k]
		i.Standby, i.EnteringStandby = i.Standby || i.EnteringStandby, false
	}
	c.o.Versions = slices.Clone(l.Observed.Versions)
	if g := l.Observed.Group; g != nil {
		group := *g
		group.Drift = slices.Clone(g.Drift)
		c.o.Group = &group
	}
	if r := l.Observed.ProviderRollout; r != nil {
		roll := *r
		c.o.ProviderRollout = &roll
	}
	return c
}

// do begins a step of a plan, which is its whole effect here.
func (c *idealCloud) do(p pool.Plan) {
	s, g := *p.Step, c.o.Group
	switch s.Kind {
	case pool.PutTemplate:
		c.template()
	case pool.CreateGroup:
		c.group(s)
	case pool.UpdateGroup:
		g.Template, g.SurgePlanned = s.Template, s.Planned
		g.Drift = slices.DeleteFunc(g.Drift, func(f string) bool { return slices.Contains(s.Fields, f) })
	case pool.Resize:
		g.Size, g.Surge, g.SurgePlanned = s.Size, s.Surge, pool.PlannedSurge{}
	case pool.DefaultTemplate, pool.PruneTemplates, pool.DeleteTemplates:
		c.versions(s)
	case pool.EnsurePrerequisites:
		c.o.MissingPrerequisites = nil
	case pool.CleanUp:
		c.o.Leftovers = nil
	case pool.StartProviderRollout:
		c.rolled, c.rolledIn = append(c.rolled, s.Targets...), c.round
		c.o.ProviderRollout = &pool.ProviderRollout{ID: "new", State: pool.ProviderRolloutRunning, Template: c.version(s.Template),
			Started: c.now}
	case pool.CancelProviderRollout:
		c.o.ProviderRollout.State = pool.ProviderRolloutCancelling
	case pool.DeleteGroup:
		g.Deleting = true
		c.leave(func(pool.Instance) *pool.Cause { return &s.Cause }, true)
	default:
		c.machines(s)
	}
	c.launch()
}

// group makes the group, with its template where it holds one.
func (c *idealCloud) group(s pool.Step) {
	c.o.Group = &pool.Group{Size: s.Size, Min: c.d.Min, Max: c.d.Max, Template: s.Template}
	if c.t.InlineTemplate {
		c.template()
	}
}

// template creates a version with the wanted content. A group that holds its template itself has that version and launches from it.
func (c *idealCloud) template() {
	c.next++
	v := c.o.Wanted
	v.Ref = fmt.Sprintf("new:%d", c.next)
	c.o.Versions = append([]pool.Template{v}, c.o.Versions...)
	if c.t.InlineTemplate {
		c.o.Versions, c.o.Group.Template = c.o.Versions[:1], v.Ref
	}
}

// versions begins a step that concerns template versions that exist. What is given is not the pool's to touch.
func (c *idealCloud) versions(s pool.Step) {
	switch s.Kind {
	case pool.DefaultTemplate:
		for k, v := range c.o.Versions {
			c.o.Versions[k].Undeletable = v.Ref == s.Template || v.Undeletable && v.UserManaged
		}
	default:
		c.o.Versions = slices.DeleteFunc(c.o.Versions, func(v pool.Template) bool {
			return !v.UserManaged && (s.Kind == pool.DeleteTemplates || slices.Contains(s.Refs, v.Ref))
		})
	}
}

// machines begins a step that concerns instances by name.
func (c *idealCloud) machines(s pool.Step) {
	g := c.o.Group
	switch s.Kind {
	case pool.Drain, pool.Undrain, pool.EnterStandby, pool.Renew, pool.Apply, pool.Protect, pool.Unprotect:
		for k := range c.o.Instances {
			if cause := target(s, c.o.Instances[k]); cause != nil {
				if s.Kind == pool.Apply {
					changed := c.o.Instances[k]
					changed.TemplateDiff = changed.InPlaceDrift
					c.changed = append(c.changed, ReplacedMachine{changed, *cause})
				}
				c.touch(&c.o.Instances[k], s.Kind)
			}
		}
	case pool.Remove, pool.Replace:
		n := c.leave(func(i pool.Instance) *pool.Cause { return target(s, i) }, s.Kind == pool.Remove)
		if s.Kind == pool.Remove {
			g.Size, g.Surge = max(0, g.Size-n), s.Surge
		}
	case pool.Release:
		c.o.Instances = slices.DeleteFunc(c.o.Instances, func(i pool.Instance) bool { return target(s, i) != nil })
	}
}

// touch applies a step to an instance that stays.
func (c *idealCloud) touch(i *pool.Instance, kind pool.StepKind) {
	switch kind {
	case pool.EnterStandby:
		i.Standby = true
	case pool.Apply:
		i.InPlaceDrift = nil
	case pool.Protect:
		i.ScaleInUnprotected = false
	case pool.Unprotect:
		i.ScaleInProtected = false
	case pool.Renew:
		hold := *i.LifecycleHook
		hold.Until = c.now.Add(hold.Heartbeat)
		i.LifecycleHook = &hold
	case pool.Drain, pool.Undrain:
		if i.Guard != nil && kind == pool.Drain {
			i.Guard = &pool.Guard{Requested: true, Released: true}
		}
		if i.Node == nil {
			return
		}
		node := *i.Node
		node.Cordoned, node.DrainStarted, node.Remaining, node.Detaching, node.Blocked = false, time.Time{}, 0, 0, nil
		if kind == pool.Drain {
			node.Cordoned, node.DrainStarted = true, c.now
		}
		i.Node = &node
	}
}

// target is why a step names an instance; nil when it does not.
func target(s pool.Step, i pool.Instance) *pool.Cause {
	cause := named(s.Targets, i.ID)
	if cause != nil && cause.Reason == "" {
		return &s.Cause
	}
	return cause
}

// named is why an instance is among the targets.
func named(list []pool.InstanceRef, id string) *pool.Cause {
	for _, t := range list {
		if t.ID == id {
			return &t.Cause
		}
	}
	return nil
}

// leave takes the instances away that why gives a cause for.
func (c *idealCloud) leave(why func(pool.Instance) *pool.Cause, shrank bool) int {
	n := len(c.left)
	c.o.Instances = slices.DeleteFunc(c.o.Instances, func(i pool.Instance) bool {
		cause := why(i)
		if cause == nil || i.State == pool.Terminating {
			return false
		}
		c.left = append(c.left, removedMachine{Instance: i, cause: *cause, round: c.round, shrank: shrank})
		return true
	})
	return len(c.left) - n
}

// version returns the known facts about a template.
func (c *idealCloud) version(ref string) pool.Template {
	for _, v := range c.o.Versions {
		if v.Ref == ref {
			return v
		}
	}
	return pool.Template{Ref: ref}
}

// missing returns how many machines the group lacks to its size.
func (c *idealCloud) missing() int {
	g := c.o.Group
	if g == nil || g.Deleting {
		return 0
	}
	counted := 0
	for _, i := range c.o.Instances {
		if i.State != pool.Terminating && !i.Standby {
			counted++
		}
	}
	return max(0, g.Size-counted)
}

// launches returns the template from which the group launches machines.
func (c *idealCloud) launches() pool.Template {
	t := c.version(c.o.Group.Template)
	t.Content = cmp.Or(c.o.Group.Content, t.Content)
	return t
}

// launch adds the missing machines, and reports whether there were any.
func (c *idealCloud) launch() bool {
	missing := c.missing()
	for range missing {
		c.next++
		id := fmt.Sprintf("new-%d", c.next)
		c.o.Instances = append(c.o.Instances, pool.Instance{ID: id, ProviderID: "new:///" + id, Template: c.launches(), State: pool.Pending,
			Created: c.now})
		c.launched = append(c.launched, c.round)
	}
	return missing > 0
}

// tick ends a round: leaving machines are gone, launched ones have joined, and the cloud's own operations are complete. It reports whether
// anything has happened. Where policies or waves delay a rollout, the round ends already when the last decision can change by itself, with
// machines that are still booting.
func (c *idealCloud) tick(last pool.Plan) bool {
	whole := c.endRound(last)
	before := len(c.o.Instances)
	c.o.Instances = slices.DeleteFunc(c.o.Instances, c.vanishes)
	moved := c.arrive() || before != len(c.o.Instances)
	if !c.pace.delays { // else that is when a decision can change by itself
		c.now = c.now.Add(c.d.MinReady)
	}
	c.d.Limits = c.pace.limits(c.now)
	if whole {
		moved = c.roll() || moved
		moved = c.work() || moved
	}
	moved = c.launch() || moved
	c.round++
	return moved
}

// endRound sets the clock to the end of the round, and reports whether the round lasts as long as machines take to boot.
func (c *idealCloud) endRound(last pool.Plan) (whole bool) {
	end := c.booted()
	whole = !c.pace.delays || !last.Next.After(c.now) || !last.Next.Before(end)
	if c.now = end; !whole {
		c.now = last.Next
	}
	return whole
}

// arrive releases guards that were requested to, and has machines join that have booted. It reports whether there were any.
func (c *idealCloud) arrive() (moved bool) {
	for k := range c.o.Instances {
		i := &c.o.Instances[k]
		if g := i.Guard; g != nil && g.Requested && !g.Released {
			i.Guard, moved = &pool.Guard{Requested: true, Released: true}, true
		}
		moved = !c.bootsUntil(i).After(c.now) && c.join(i) || moved
	}
	return moved
}

// work ends what the cloud is at work on.
func (c *idealCloud) work() bool {
	switch g := c.o.Group; {
	case g == nil:
		return false
	case g.Deleting && len(c.o.Instances) == 0:
		c.o.Group = nil
		if c.t.InlineTemplate {
			c.o.Versions = nil
		}
	case g.Busy != nil:
		g.Busy = nil
	default:
		return false
	}
	return true
}

// vanishes reports whether the cloud takes a machine away by itself.
func (c *idealCloud) vanishes(i pool.Instance) bool {
	switch i.State {
	case pool.Terminating:
		return i.LifecycleHook == nil || i.Node == nil
	case pool.Failed:
		return !c.t.KeepsFailedInstances
	}
	return i.TerminationNotice != nil
}

// join lets a machine that still may join do so.
func (c *idealCloud) join(i *pool.Instance) bool {
	switch {
	case i.State != pool.Pending && i.State != pool.Running, i.Node != nil && (i.Node.Ready || !i.Node.Joining()):
		return false
	case !i.Created.IsZero() && c.now.Sub(i.Created) > c.joinDeadline()+boot:
		return false
	}
	node := pool.Node{Joined: c.now}
	if i.Node != nil {
		node = *i.Node
	}
	node.Ready, node.ReadySince = true, c.now
	i.State, i.Node = pool.Running, &node
	return true
}

func (c *idealCloud) joinDeadline() time.Duration {
	if c.d.JoinDeadline > 0 {
		return c.d.JoinDeadline
	}
	return pool.DefaultJoinDeadline
}

// roll lets the cloud's own roll end, with everything replaced that it was to replace.
func (c *idealCloud) roll() bool {
	r := c.o.ProviderRollout
	if r == nil {
		return false
	}
	switch r.State {
	case pool.ProviderRolloutRunning, pool.ProviderRolloutBaking:
		r.State = pool.ProviderRolloutSucceeded
		c.leave(func(i pool.Instance) *pool.Cause { return named(c.rolled, i.ID) }, false)
		if r.Template.Content != "" {
			c.o.Group.Template, c.o.Group.Content = r.Template.Ref, ""
		}
		c.launch()
		for k := range c.o.Instances {
			c.join(&c.o.Instances[k])
		}
	case pool.ProviderRolloutCancelling:
		r.State = pool.ProviderRolloutCancelled
	case pool.ProviderRolloutReverting:
		r.State = pool.ProviderRolloutReverted
	default:
		return false
	}
	r.Ended = c.now
	return true
}

package pool

import (
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
}

// do begins a step, as a driver and the Kubernetes edge would.
func (c *ideal) do(t *rapid.T, s Step) {
	g := c.o.Group
	switch s.Kind {
	case PutTemplate:
		v := c.o.Wanted
		v.Ref = fmt.Sprintf("lt:%d", 100+c.next)
		c.next++
		c.o.Versions = append([]Template{v}, c.o.Versions...)
	case CreateGroup:
		c.o.Group = &Group{ID: "arn", Size: s.Size, Template: s.Template}
	case UpdateGroup:
		g.Template = s.Template
		g.Drift = slices.DeleteFunc(g.Drift, func(f string) bool { return slices.Contains(s.Fields, f) })
	case Resize:
		g.Size = s.Size
	case Drain, Undrain:
		c.nodes(s)
	case Remove:
		g.Size -= len(s.Targets)
		c.leave(func(i Instance) bool {
			return slices.ContainsFunc(s.Targets, func(t Target) bool { return t.ID == i.ID })
		})
	case PruneTemplates:
		c.o.Versions = slices.DeleteFunc(c.o.Versions, func(v Template) bool { return slices.Contains(s.Refs, v.Ref) })
	case DeleteGroup:
		g.Deleting = true
		c.leave(func(Instance) bool { return true })
	case DeleteTemplates:
		c.o.Versions = nil
	default:
		t.Fatalf("a step that no driver knows: %s", s.Kind)
	}
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
		if i.Node == nil || !slices.ContainsFunc(s.Targets, func(t Target) bool { return t.ID == i.ID }) {
			continue
		}
		node := *i.Node
		switch {
		case s.Kind == Undrain:
			node.Cordoned, node.DrainStarted, node.Remaining = false, time.Time{}, 0
		case node.DrainStarted.IsZero():
			node.Cordoned, node.DrainStarted, node.Remaining = true, c.now, 2
		default:
			node.Remaining = max(0, node.Remaining-1)
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
	c.o.Instances = slices.DeleteFunc(c.o.Instances, func(i Instance) bool { return i.State == Terminating || i.State == Failed })
	for k, i := range c.o.Instances {
		if i.Node == nil {
			c.o.Instances[k].Node = &Node{Name: "node-" + i.ID, Joined: c.now}
		}
		node := *c.o.Instances[k].Node
		node.Ready = true
		c.o.Instances[k].State, c.o.Instances[k].Node = Running, &node
	}
	if c.o.Group == nil {
		return
	}
	if c.o.Group.Deleting {
		if len(c.o.Instances) == 0 {
			c.o.Group = nil
		}
		return
	}
	// A group that is larger than its size is made smaller by the cloud, one at a time.
	if len(c.o.Instances) > c.o.Group.Size {
		c.o.Instances = c.o.Instances[1:]
		return
	}
	for len(c.o.Instances) < c.o.Group.Size {
		id := fmt.Sprintf("n-%d", c.next)
		c.next++
		c.o.Instances = append(c.o.Instances, Instance{ID: id, ProviderID: "aws:///x/" + id, Zone: "a", Template: Template{Ref: c.o.Group.Template}, State: Pending, Created: c.now})
	}
}

// passBound is enough for the longest way: every node drained in three rounds, every batch removed, every machine launched,
// and a handful of steps for templates and the group.
func passBound(d Desired, o Observed) int { return 40 + 8*(len(o.Instances)+d.Replicas) }

// Whatever the fleet is like at first, on an ideal cloud it is as wanted after a bounded number of passes; each step of
// them is safe; and after that there is none.
func TestFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		d.Avoid, d.Held = nil, nil
		if o.Wanted.Content == "" {
			o.Wanted = Template{Content: "v1:new", Data: "d"}
		}
		c := &ideal{o: copied(o), now: now, tr: traits}
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
			if p.Step != nil || !p.Settled {
				t.Fatalf("want rest after %d passes, got %s; the way there: %q", bound, say(p), trail)
			}
			c.tick()
		}
		c.asWanted(t, d, o)
	})
}

// asWanted holds the end against what was asked for.
func (c *ideal) asWanted(t *rapid.T, d Desired, before Observed) {
	switch {
	case d.Deleting:
		if c.o.Group != nil || len(c.o.Versions) > 0 || len(c.o.Instances) > 0 || !Decide(d, c.o, c.tr, c.now).Gone {
			t.Fatalf("want nothing left, got %+v", c.o)
		}
	case c.o.Group == nil:
		if d.External || outOfBounds(d) == nil {
			t.Fatalf("want a group, got none")
		}
	case !c.o.Latest().Same(c.o.Wanted) || c.o.Latest().Data != c.o.Wanted.Data || c.o.Group.Template != c.o.Latest().Ref:
		t.Fatalf("want the group to launch from what is wanted, got %+v of %+v", c.o.Group, c.o.Versions)
	case !d.External && outOfBounds(d) == nil && (len(c.o.Instances) != d.Replicas || c.o.Group.Size != d.Replicas):
		t.Fatalf("want %d machines, got %d in a group of size %d", d.Replicas, len(c.o.Instances), c.o.Group.Size)
	case d.External && before.Group != nil && !before.Group.Deleting && c.o.Group.Size != before.Group.Size:
		t.Fatalf("want the size left alone at %d, got %d", before.Group.Size, c.o.Group.Size)
	case slices.ContainsFunc(c.o.Instances, func(i Instance) bool { return !i.Node.DrainStarted.IsZero() }):
		t.Fatalf("want no node left cordoned, got %+v", c.o.Instances)
	}
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

package world

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/script"
)

// Change does to the pool's group what users do to groups of every kind: by the requests of the kind, or out of band where it has none.
func (g *Group) Change(is *sim.Group, e script.Event) error {
	notes := g.world.Notes
	switch e.What {
	case script.HandTerminate, script.HandFail, script.HandInterrupt, script.HandUnhealthy:
		return g.failInstance(is, e)
	case script.HandResize:
		notes.Moved()
		return g.resize(is, e.N)
	case script.Autoscaler:
		if !g.world.Objects.External() {
			return nil
		}
		notes.Moved()
		return g.resize(is, e.N)
	case script.HandTags:
		key := []string{"team", "stage"}[e.N%2]
		if is.Tags[key] == "" {
			key = Theirs // what others put there stays there, whatever its name
		}
		return notes.Kept("tag "+key, g.tag(is, key, "hand"))
	case script.HandDisown:
		notes.Disowned()
		value := OtherOwner
		if g.world.Scenario.Kind.LosesTag && e.N%2 == 0 {
			value = ""
		}
		return g.tag(is, g.world.Scenario.Kind.OwnerTag, value)
	case script.HandDropGroup:
		return g.drop(is)
	}
	return nil
}

// Do does something out of band, with the pool's group unless the resource names another.
func (g *Group) Do(action sim.Action, on sim.Resource) error {
	if on.Name == "" {
		on.Name = g.Name()
	}
	if is := g.world.Cloud.Snapshot().Group(on.Name); is != nil {
		on.Cluster = is.Cluster
	}
	has, err := g.world.Cloud.OutOfBand.Do(action, on)
	if err == nil && !has {
		err = fmt.Errorf("the cloud can't %s", action)
	}
	return err
}

func (g *Group) resize(is *sim.Group, size int) error {
	if do := g.world.pool.Resize; do != nil {
		return g.world.RetryAsUser(func(ctx context.Context) error { return do(ctx, is, size) })
	}
	return g.Do(sim.SetSize, sim.Resource{Name: is.Name, Size: size})
}

// tag sets a tag of a group, or removes it for an empty value.
func (g *Group) tag(is *sim.Group, key, value string) error {
	switch do := g.world.pool.Tag; {
	case do != nil:
		return g.world.RetryAsUser(func(ctx context.Context) error { return do(ctx, is, key, value) })
	case value == "":
		return g.Do(sim.RemoveTag, sim.Resource{Name: is.Name, Key: key})
	}
	return g.Do(sim.ChangeTag, sim.Resource{Name: is.Name, Key: key, Value: value})
}

// drop deletes a group, and with it what others put there.
func (g *Group) drop(is *sim.Group) error {
	if do := g.world.pool.Drop; do != nil {
		g.world.Notes.Dropped() // also if the reply is lost
		return g.world.RetryAsUser(func(ctx context.Context) error { return do(ctx, is) })
	}
	err := g.Do(sim.DeleteGroup, sim.Resource{Name: is.Name})
	if err == nil {
		g.world.Notes.Dropped()
	}
	return err
}

// failInstance does something to one of the machines that run.
func (g *Group) failInstance(is *sim.Group, e script.Event) error {
	living := slices.DeleteFunc(is.Staying(), func(m sim.Member) bool { return m.ID == "" })
	if len(living) == 0 {
		return nil
	}
	m := living[e.N%len(living)]
	action := map[script.What]sim.Action{script.HandTerminate: sim.TerminateInstance, script.HandFail: sim.FailInstance,
		script.HandInterrupt: sim.InterruptInstance,
		script.HandUnhealthy: sim.StopInstance}[e.What]
	if e.What == script.HandInterrupt && !m.Spot {
		return nil
	}
	if e.What == script.HandTerminate || e.What == script.HandInterrupt {
		g.world.Notes.Moved()
	}
	return g.Do(action, sim.Resource{Name: is.Name, Instance: m.ID})
}

// again is the pause of a user whom the cloud refuses while it is at work.
const again = 5 * time.Second

// TakeBack gives the group back that was taken from the pool.
func (g *Group) TakeBack() {
	w := g.world
	is := g.Now()
	owners := []string{OtherOwner}
	if w.Scenario.Kind.LosesTag {
		owners = append(owners, "")
	}
	if is == nil || is.Deleting || !slices.Contains(owners, g.Owner(is)) || !w.Notes.EverDisowned() || w.gone || !w.Objects.infraThere() {
		return
	}
	err := g.tag(is, w.Scenario.Kind.OwnerTag, w.Objects.Owner().ID)
	if err != nil && w.pool.Tag == nil {
		w.At(time.Now().Add(again), g.TakeBack)
		return
	}
	w.Notes.Owned()
}

// DropForeign deletes the group of another owner that has the pool's name, or that the object names.
func (g *Group) DropForeign() {
	w, name := g.world, g.Name()
	if w.Scenario.Named {
		name = TheirGroup
	}
	is := w.Cloud.Snapshot().Group(name)
	if is == nil || is.Deleting || g.Ours(is) || !w.Scenario.Named && w.gone {
		return
	}
	if do := w.pool.Drop; do != nil {
		_ = w.RetryAsUser(func(ctx context.Context) error { return do(ctx, is) }) // the user gives up
		return
	}
	if err := g.Do(sim.DeleteGroup, sim.Resource{Name: name}); err != nil {
		w.At(time.Now().Add(again), g.DropForeign)
	}
}

package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
)

// World is the content of a simulated cloud, or the part of it that a request addresses.
type World interface {
	// Enter sets the time of the operation, and the maximum number of items on a page of its answer; zero keeps the operation's own limit.
	Enter(now time.Time, pageLimit int)
	// Touch records that the operation may change the state.
	Touch()
	// Tick applies all transitions due at now and returns the time of the next one; the zero time means never.
	Tick(now time.Time) time.Time
	// Tables returns all tables of the state.
	Tables() Tables
	// Power powers machines on and off according to the state.
	Power()
}

// Docs are the rows of tables as a store holds them.
type Docs = map[string]json.RawMessage

// Cloud is a simulated cloud of worlds: one for all of it, or one for each location that shares nothing with the others.
type Cloud[W World] struct {
	*Base
	// Worlds are the loaded worlds, by name.
	Worlds map[string]W
	names  []string
	// load decodes the named world from documents; earlier is true for an earlier state that is only read.
	load func(name string, docs Docs, earlier bool) (W, error)
	// seed adds the initial content of a world, and powers on the machines that ran.
	seed func(name string, world W)
}

// NewCloud returns a cloud without worlds.
func NewCloud[W World](b *Base, load func(name string, docs Docs, earlier bool) (W, error), seed func(name string, world W)) *Cloud[W] {
	return &Cloud[W]{Base: b, Worlds: map[string]W{}, load: load, seed: seed}
}

// Run opens the worlds of these names and lets time pass from now on. After an error the cloud is closed.
func (c *Cloud[W]) Run(names ...string) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for _, name := range names {
		// Before time passes, so that a service that looks at nodes and drains them finds the machines.
		if _, err := c.World(name); err != nil {
			return errors.Join(err, c.Store.Close())
		}
	}
	c.content = c
	if err := c.settle(time.Now(), false); err != nil {
		return errors.Join(err, c.Store.Close())
	}
	return nil
}

// World returns the world of a name, and opens it first where it is not open. c.Mu is held.
func (c *Cloud[W]) World(name string) (W, error) {
	if w, open := c.Worlds[name]; open {
		return w, nil
	}
	w, err := c.load(name, c.Store.Docs(), false)
	if err != nil {
		return w, err
	}
	w.Enter(time.Now(), 0)
	w.Touch()
	c.seed(name, w)
	c.Worlds[name] = w
	at, _ := slices.BinarySearch(c.names, name)
	c.names = slices.Insert(c.names, at, name)
	return w, nil
}

// AsOf returns a world as it was at a time, or before so many writes. It must not be written to. c.Mu is held.
func (c *Cloud[W]) AsOf(name string, at time.Time, writes int) (W, error) {
	w, err := c.load(name, c.Store.DocsBefore(at, writes), true)
	if err != nil {
		return w, fmt.Errorf("load an older state: %w", err)
	}
	return w, nil
}

// ByHand does something to a world as its user would by other means: no request, no token, no limit and no fault is in the way.
func (c *Cloud[W]) ByHand(name string, do func(W) error) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	w, now, err := c.enter(name, 0)
	if err != nil {
		return err
	}
	w.Touch()
	if err := do(w); err != nil {
		return err
	}
	return c.settle(now, true)
}

// enter brings the cloud to the present and returns a world at that time. c.Mu is held.
func (c *Cloud[W]) enter(name string, pageLimit int) (w W, now time.Time, err error) {
	if c.closed {
		return w, now, sim.ErrClosed
	}
	if w, err = c.World(name); err != nil {
		return w, now, err
	}
	now = time.Now()
	if err := c.settle(now, false); err != nil {
		return w, now, err
	}
	w.Enter(now, pageLimit)
	return w, now, nil
}

// tick lets pass what is due by now in every world and returns when something is due next.
func (c *Cloud[W]) tick(now time.Time) time.Time {
	var next time.Time
	for _, name := range c.names {
		next = Earliest(next, c.Worlds[name].Tick(now))
	}
	return next
}

// flush writes the rows that have changed.
func (c *Cloud[W]) flush(changes Docs) error {
	for _, name := range c.names {
		if err := c.Worlds[name].Tables().Flush(changes); err != nil {
			return err
		}
	}
	return nil
}

// power powers machines on and off as they are wanted.
func (c *Cloud[W]) power() {
	for _, name := range c.names {
		c.Worlds[name].Power()
	}
}

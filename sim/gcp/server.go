package gcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Options say what a simulated Google Cloud is made of; the zero value is the default project in memory, whose clients need any token.
type Options struct {
	// Dir is where the state is kept and found again; empty keeps it in memory alone.
	Dir string
	// Projects are the IDs of the projects that exist; none means project.DefaultID.
	Projects []string
	// Accounts are the service accounts that can sign in. With none, any signed JWT is given a token and any bearer token is accepted; with
	// some, a token must be one that the token endpoint gave, to an account that is allowed what is requested.
	Accounts []Account
	// MachineHost runs what is inside machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is how much faster than life machines come and go; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed is where IDs and chances come from.
	Seed uint64
	// Limits are the quotas of requests; nil means DocumentedLimits, an empty one no quotas.
	Limits Limits
}

// Cloud is a simulated Google Cloud. It is an http.Handler for Compute Engine and the token endpoint at once.
type Cloud struct {
	host     sim.MachineHost
	seed     sim.Seed
	speed    sim.Speed
	calls    sim.Calls
	faults   *sim.Faults
	admin    http.Handler
	alarm    *sim.Alarm
	projects []string
	// guarded is true if tokens are checked.
	guarded bool

	console
	// GKE is what a user or GKE itself does to clusters by hand.
	GKE container.Console

	mu        sync.Mutex
	asked     Asked
	limits    Limits
	windows   map[string]window
	store     *sim.Store
	inventory *inventory
	unsaved   map[string]json.RawMessage
	closed    bool
}

// New makes a simulated Google Cloud and powers on again what ran when the directory was last used.
func New(o Options) (*Cloud, error) {
	store, err := sim.OpenStore(o.Dir)
	if err != nil {
		return nil, err
	}
	if len(o.Projects) == 0 {
		o.Projects = []string{project.DefaultID}
	}
	c := &Cloud{
		host: o.MachineHost, seed: sim.Seed(o.Seed), faults: sim.NewFaults(sim.Seed(o.Seed)), limits: DocumentedLimits(), store: store, projects: o.Projects,
		guarded: len(o.Accounts) > 0,
	}
	if o.Limits != nil {
		c.limits = o.Limits
	}
	c.console = console{Console: compute.NewConsole(c.byCompute), cloud: c}
	c.GKE = container.NewConsole(c.byContainer)
	c.speed.Set(o.Speed)
	c.admin = c.adminHandler()
	c.alarm = sim.NewAlarm(c.ring)
	if err := c.restore(o.Accounts); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return c, nil
}

// restore loads what there was, or seeds what there is from the start, and powers on the machines that ran.
func (c *Cloud) restore(accounts []Account) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inventory = newInventory(c)
	if err := c.inventory.tables().Load(c.store.Docs()); err != nil {
		return err
	}
	w := c.inventory
	w.Now, w.touched = time.Now(), true
	for _, id := range c.projects {
		w.compute.Catalogue.SeedProject(id)
	}
	for _, a := range accounts {
		if w.accounts.Get(a.Email) == nil {
			w.accounts.Put(a.Email, &a)
		}
	}
	w.compute.Resume()
	return c.settle(w.Now, false)
}

// Close stops time. Requests are refused afterwards; machines go on until their MachineHost is closed.
func (c *Cloud) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.alarm.Close()
	return c.store.Close()
}

// ring lets pass what is due.
func (c *Cloud) ring() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	// A failed write is tried again with the next request, whose caller is told.
	_ = c.settle(time.Now(), false)
}

// tickFloor is the shortest time from one tick to the next, so that no speed makes the simulator spin.
const tickFloor = time.Millisecond

// settle brings the world to the present, writes what has changed, powers machines, and sets the alarm. c.mu is held.
func (c *Cloud) settle(now time.Time, call bool) error {
	w := c.inventory
	if w.touched || project.Due(w.due, now) {
		w.touched = false
		w.due = w.tick(now)
	}
	next := w.due
	if floor := now.Add(tickFloor); !next.IsZero() && next.Before(floor) {
		next = floor
	}
	c.alarm.Set(next)
	return c.commit(now, call)
}

// commit writes what has changed and then powers machines on and off: in this order, so that a machine never runs that no state
// knows of. c.mu is held.
func (c *Cloud) commit(now time.Time, call bool) error {
	if c.unsaved == nil {
		c.unsaved = map[string]json.RawMessage{}
	}
	if err := c.inventory.tables().Flush(c.unsaved); err != nil {
		return err
	}
	if err := c.store.Commit(now, call, c.unsaved); err != nil {
		return err
	}
	c.unsaved = nil
	c.inventory.compute.Power()
	return nil
}

// asOf is the world as it was: for reads that are stale. It must not be written to.
func (c *Cloud) asOf(at time.Time, calls int) (*inventory, error) {
	old := newInventory(c)
	if err := old.tables().Load(c.store.DocsBefore(at, calls)); err != nil {
		return nil, fmt.Errorf("load an older state: %w", err)
	}
	// Images and networks are no news: reads of them are not behind.
	if err := old.compute.Catalogue.Tables().Load(c.store.Docs()); err != nil {
		return nil, fmt.Errorf("load the catalogue: %w", err)
	}
	old.Now = c.inventory.Now
	return old, nil
}

// environment is what the inventory and its earlier states share.
func (c *Cloud) environment() *project.Environment {
	return &project.Environment{Seed: c.seed, Speed: &c.speed, Faults: c.faults, Host: c.host, Projects: c.projects}
}

// by does something by hand: no request, no token, no quota and no fault is in its way.
func (c *Cloud) by(f func(*inventory) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if err := c.settle(now, false); err != nil {
		return err
	}
	c.inventory.Now, c.inventory.touched = now, true
	if err := f(c.inventory); err != nil {
		return err
	}
	return c.settle(now, true)
}

// byCompute does something to what Compute Engine holds by hand.
func (c *Cloud) byCompute(f func(*compute.Service) error) error {
	return c.by(func(w *inventory) error { return f(w.compute) })
}

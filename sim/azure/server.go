package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// Options say what a simulated Azure is made of; the zero value is the default subscription in memory, whose clients need any token.
type Options struct {
	// Dir is where the state is kept and found again; empty keeps it in memory alone.
	Dir string
	// Subscriptions that exist; none means DefaultSubscription.
	Subscriptions []Subscription
	// Applications are those that can sign in. With none, DefaultApplication can, and any bearer token is accepted; with
	// some, a token must be one that the token endpoint gave, to an application that is allowed what is requested.
	Applications []Application
	// MachineHost runs what is inside machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is how much faster than life machines come and go; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed is where IDs and chances come from.
	Seed uint64
	// Limits are the throttling buckets; nil means DocumentedLimits, an empty one no throttling.
	Limits Limits
	// LiveTags lets machines of uniform scale sets show the scale set's tags of now instead of those they were made with.
	LiveTags bool
}

// Cloud is a simulated Azure. It is an http.Handler for Resource Manager and the token endpoints at once.
type Cloud struct {
	host     sim.MachineHost
	seed     sim.Seed
	speed    sim.Speed
	calls    sim.Calls
	faults   *sim.Faults
	buckets  sim.Buckets
	admin    http.Handler
	alarm    *sim.Alarm
	liveTags bool
	// guarded is true if tokens are checked.
	guarded bool

	// writing are the scale sets of which a write has not been answered yet.
	writing sync.Map

	portal
	// AKS is what a user or AKS itself does to managed clusters by hand.
	AKS containerservice.Portal

	mu            sync.Mutex
	limits        Limits
	subscriptions []Subscription
	store         *sim.Store
	inventory     *inventory
	unsaved       map[string]json.RawMessage
	closed        bool
}

// New makes a simulated Azure and powers on again what ran when the directory was last used.
func New(o Options) (*Cloud, error) {
	store, err := sim.OpenStore(o.Dir)
	if err != nil {
		return nil, err
	}
	if len(o.Subscriptions) == 0 {
		o.Subscriptions = []Subscription{DefaultSubscription()}
	}
	c := &Cloud{
		host: o.MachineHost, seed: sim.Seed(o.Seed), faults: sim.NewFaults(sim.Seed(o.Seed)), limits: DocumentedLimits(), store: store,
		subscriptions: o.Subscriptions, liveTags: o.LiveTags, guarded: len(o.Applications) > 0,
	}
	if o.Limits != nil {
		c.limits = o.Limits
	}
	if len(o.Applications) == 0 {
		o.Applications = []Application{DefaultApplication()}
	}
	c.portal = portal{Portal: compute.NewPortal(c.byCompute), cloud: c}
	c.AKS = containerservice.NewPortal(func(f func(*containerservice.Service) error) error {
		return c.by(func(w *inventory) error { return f(w.containers) })
	})
	c.speed.Set(o.Speed)
	c.admin = c.adminHandler()
	c.alarm = sim.NewAlarm(c.ring)
	if err := c.restore(o.Applications); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return c, nil
}

// restore loads what there was, or seeds what there is from the start, and powers on the machines that ran.
func (c *Cloud) restore(applications []Application) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inventory = newInventory(c)
	if err := c.inventory.tables().Load(c.store.Docs()); err != nil {
		return err
	}
	w := c.inventory
	w.Now, w.touched = time.Now(), true
	for _, s := range c.subscriptions {
		w.environment.seed(s)
	}
	for _, a := range applications {
		if w.secrets.Get(a.key()) == nil {
			w.secrets.Put(a.key(), &a)
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
	if w.touched || arm.Due(w.due, now) {
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
	old.Now = c.inventory.Now
	return old, nil
}

// environment is what the inventory and its earlier states share.
func (c *Cloud) environment() *arm.Environment {
	return &arm.Environment{Seed: c.seed, Speed: &c.speed, Faults: c.faults, Host: c.host, LiveTags: c.liveTags, TenantOf: func(sub string) string {
		if s := c.subscription(sub); s != nil {
			return s.TenantID
		}
		return ""
	}}
}

package azure

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/server"
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
	*server.Base
	buckets  sim.Buckets
	liveTags bool
	// guarded is true if tokens are checked.
	guarded bool

	// writing are the scale sets of which a write has not been answered yet.
	writing sync.Map

	portal
	// AKS is what a user or AKS itself does to managed clusters by hand.
	AKS containerservice.Portal

	limits        Limits
	subscriptions []Subscription
	inventory     *inventory
}

// New makes a simulated Azure and powers on again what ran when the directory was last used.
func New(o Options) (*Cloud, error) {
	base, err := server.Open(server.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit})
	if err != nil {
		return nil, err
	}
	if len(o.Subscriptions) == 0 {
		o.Subscriptions = []Subscription{DefaultSubscription()}
	}
	c := &Cloud{Base: base, limits: DocumentedLimits(), subscriptions: o.Subscriptions, liveTags: o.LiveTags, guarded: len(o.Applications) > 0}
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
	c.Admin = c.adminHandler()
	if err := c.restore(o.Applications); err != nil {
		return nil, errors.Join(err, c.Store.Close())
	}
	return c, nil
}

// restore loads what there was, or seeds what there is from the start, and powers on the machines that ran.
func (c *Cloud) restore(applications []Application) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.inventory = newInventory(c)
	if err := c.inventory.tables().Load(c.Store.Docs()); err != nil {
		return err
	}
	w := c.inventory
	w.Now = time.Now()
	w.Touch()
	for _, s := range c.subscriptions {
		w.environment.seed(s)
	}
	for _, a := range applications {
		if w.secrets.Get(a.key()) == nil {
			w.secrets.Put(a.key(), &a)
		}
	}
	w.compute.Resume()
	return server.Run(c.Base, w, w.Now)
}

// asOf is the world as it was: for reads that are stale. It must not be written to.
func (c *Cloud) asOf(at time.Time, calls int) (*inventory, error) {
	old := newInventory(c)
	if err := old.tables().Load(c.Store.DocsBefore(at, calls)); err != nil {
		return nil, fmt.Errorf("load an older state: %w", err)
	}
	old.Now = c.inventory.Now
	return old, nil
}

// settings are what the inventory and its earlier states share.
func (c *Cloud) settings() arm.Settings {
	return arm.Settings{LiveTags: c.liveTags, TenantOf: func(sub string) string {
		if s := c.subscription(sub); s != nil {
			return s.TenantID
		}
		return ""
	}}
}

// held returns all that the cloud holds. c.Mu is held.
func (c *Cloud) held() (*inventory, error) { return c.inventory, nil }

// by does something by hand.
func (c *Cloud) by(f func(*inventory) error) error { return server.ByHand(c.Base, c.held, f) }

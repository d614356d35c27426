package gcp

import (
	"errors"
	"fmt"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/server"
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
	*server.Base
	projects []string
	// guarded is true if tokens are checked.
	guarded bool

	console
	// GKE is what a user or GKE itself does to clusters by hand.
	GKE container.Console

	asked     Asked
	limits    Limits
	windows   map[string]window
	inventory *inventory
}

// New makes a simulated Google Cloud and powers on again what ran when the directory was last used.
func New(o Options) (*Cloud, error) {
	base, err := server.Open(server.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit})
	if err != nil {
		return nil, err
	}
	if len(o.Projects) == 0 {
		o.Projects = []string{project.DefaultID}
	}
	c := &Cloud{Base: base, limits: DocumentedLimits(), projects: o.Projects, guarded: len(o.Accounts) > 0}
	if o.Limits != nil {
		c.limits = o.Limits
	}
	c.console = console{Console: compute.NewConsole(c.byCompute), cloud: c}
	c.GKE = container.NewConsole(c.byContainer)
	c.Admin = c.adminHandler()
	if err := c.restore(o.Accounts); err != nil {
		return nil, errors.Join(err, c.Store.Close())
	}
	return c, nil
}

// restore loads what there was, or seeds what there is from the start, and powers on the machines that ran.
func (c *Cloud) restore(accounts []Account) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.inventory = newInventory(c)
	if err := c.inventory.tables().Load(c.Store.Docs()); err != nil {
		return err
	}
	w := c.inventory
	w.Now = time.Now()
	w.Touch()
	for _, id := range c.projects {
		w.compute.Catalogue.SeedProject(id)
	}
	for _, a := range accounts {
		if w.accounts.Get(a.Email) == nil {
			w.accounts.Put(a.Email, &a)
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
	// Images and networks are no news: reads of them are not behind.
	if err := old.compute.Catalogue.Tables().Load(c.Store.Docs()); err != nil {
		return nil, fmt.Errorf("load the catalogue: %w", err)
	}
	old.Now = c.inventory.Now
	return old, nil
}

// held returns all that the cloud holds. c.Mu is held.
func (c *Cloud) held() (*inventory, error) { return c.inventory, nil }

// by does something by hand.
func (c *Cloud) by(f func(*inventory) error) error { return server.ByHand(c.Base, c.held, f) }

// byCompute does something to what Compute Engine holds by hand.
func (c *Cloud) byCompute(f func(*compute.Service) error) error {
	return c.by(func(w *inventory) error { return f(w.compute) })
}

package gcp

import (
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
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
	// Speed is the factor by which machines come and go faster than in the cloud; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed is where IDs and chances come from.
	Seed uint64
	// Limits are the quotas of requests; nil means DocumentedLimits, an empty one no quotas.
	Limits Limits
	// Switches are those of docs/evidence.md that are on.
	Switches sim.Switches
}

// Cloud is a simulated Google Cloud. It is an http.Handler for Compute Engine and the token endpoint at once.
type Cloud struct {
	*core.Cloud[*inventory]
	*core.Limits[int]
	projects []string
	// guarded is true if tokens are checked.
	guarded bool

	console
	// GKE is what a user or GKE itself does to clusters by hand.
	GKE container.Console

	asked   Asked
	windows map[string]window
}

// New makes a simulated Google Cloud and powers on again what ran when the directory was last used.
func New(o Options) (*Cloud, error) {
	base, err := core.Open(core.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit,
		Known: known(), Switches: o.Switches, Beliefs: slices.Concat(core.Beliefs(), compute.Beliefs(), container.Beliefs())})
	if err != nil {
		return nil, err
	}
	if len(o.Projects) == 0 {
		o.Projects = []string{project.DefaultID}
	}
	if o.Limits == nil {
		o.Limits = DocumentedLimits()
	}
	c := &Cloud{Limits: core.NewLimits(o.Limits), projects: o.Projects, guarded: len(o.Accounts) > 0}
	c.Cloud = core.NewCloud(base, c.load, func(_ string, w *inventory) { w.seed(o) })
	c.console = console{Console: compute.NewConsole(c.byCompute), cloud: c}
	c.GKE = container.NewConsole(c.byContainer)
	c.Admin = c.adminHandler()
	return c, c.Run("")
}

// load returns what the cloud holds by the rows of its tables.
func (c *Cloud) load(_ string, docs core.Docs, earlier bool) (*inventory, error) {
	w := newInventory(c)
	if err := w.Tables().Load(docs); err != nil || !earlier {
		return w, err
	}
	// Images and networks are no news: reads of them are not behind.
	return w, w.compute.Catalogue.Tables().Load(c.Store.Docs())
}

// seed adds what there is from the start and powers on the machines that ran.
func (w *inventory) seed(o Options) {
	for _, id := range o.Projects {
		w.compute.Catalogue.SeedProject(id)
	}
	for _, a := range o.Accounts {
		if w.accounts.Get(a.Email) == nil {
			w.accounts.Put(a.Email, &a)
		}
	}
	w.compute.Resume()
}

// by does something by hand.
func (c *Cloud) by(f func(*inventory) error) error { return c.ByHand("", f) }

// byCompute does something to what Compute Engine holds by hand.
func (c *Cloud) byCompute(f func(*compute.Service) error) error {
	return c.by(func(w *inventory) error { return f(w.compute) })
}

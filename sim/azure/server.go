package azure

import (
	"slices"
	"sync"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
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
	// Speed is the factor by which machines come and go faster than in the cloud; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed is where IDs and chances come from.
	Seed uint64
	// Limits are the throttling buckets; nil means DocumentedLimits, an empty one no throttling.
	Limits Limits
	// Switches are those of docs/evidence.md that are on.
	Switches sim.Switches
}

// Cloud is a simulated Azure. It is an http.Handler for Resource Manager and the token endpoints at once.
type Cloud struct {
	*core.Cloud[*inventory]
	*core.Limits[core.Rate]
	buckets core.Buckets
	// guarded is true if tokens are checked.
	guarded bool

	// writing are the scale sets of which a write has not been answered yet.
	writing sync.Map

	portal
	// AKS is what a user or AKS itself does to managed clusters by hand.
	AKS containerservice.Portal

	subscriptions []Subscription
}

// New makes a simulated Azure and powers on again what ran when the directory was last used.
func New(o Options) (*Cloud, error) {
	base, err := core.Open(core.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit,
		Known: known(), Switches: o.Switches, Beliefs: slices.Concat(core.Beliefs(), compute.Beliefs(), containerservice.Beliefs())})
	if err != nil {
		return nil, err
	}
	if len(o.Subscriptions) == 0 {
		o.Subscriptions = []Subscription{DefaultSubscription()}
	}
	if o.Limits == nil {
		o.Limits = DocumentedLimits()
	}
	c := &Cloud{Limits: core.NewLimits(o.Limits), subscriptions: o.Subscriptions, guarded: len(o.Applications) > 0}
	if len(o.Applications) == 0 {
		o.Applications = []Application{DefaultApplication()}
	}
	c.Cloud = core.NewCloud(base, c.load, func(_ string, w *inventory) { w.seed(o) })
	c.portal = portal{Portal: compute.NewPortal(c.byCompute), cloud: c}
	c.AKS = containerservice.NewPortal(func(f func(*containerservice.Service) error) error {
		return c.by(func(w *inventory) error { return f(w.containers) })
	})
	c.Admin = c.adminHandler()
	return c, c.Run("")
}

// load returns what the cloud holds by the rows of its tables.
func (c *Cloud) load(_ string, docs core.Docs, _ bool) (*inventory, error) {
	w := newInventory(c)
	return w, w.Tables().Load(docs)
}

// seed adds what there is from the start and powers on the machines that ran.
func (w *inventory) seed(o Options) {
	for _, s := range o.Subscriptions {
		w.environment.seed(s)
	}
	for _, a := range o.Applications {
		if w.secrets.Get(a.key()) == nil {
			w.secrets.Put(a.key(), &a)
		}
	}
	w.compute.Resume()
}

// settings are what the inventory and its earlier states share.
func (c *Cloud) settings() arm.Settings {
	return arm.Settings{TenantOf: func(sub string) string {
		if s := c.subscription(sub); s != nil {
			return s.TenantID
		}
		return ""
	}}
}

// by does something by hand.
func (c *Cloud) by(f func(*inventory) error) error { return c.ByHand("", f) }

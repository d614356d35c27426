package oci

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/sim/oci/containerengine"
	"github.com/muster-project/muster/sim/oci/identity"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/sim/oci/workrequests"
)

// bodyLimit bounds a request.
const bodyLimit = 1 << 20

// Region is the region, RegionKey its name in OCIDs.
const (
	Region    = "us-ashburn-1"
	RegionKey = "iad"
)

// Tenancy and Compartment exist from the start.
const (
	Tenancy     = "ocid1.tenancy.oc1..aaaaaaaamustersimulatedtenancy"
	Compartment = "ocid1.compartment.oc1..aaaaaaaamustersimulatedcompartment"
)

// Domains returns the availability domains of the region.
func Domains() []string {
	return []string{"Uocm:US-ASHBURN-AD-1", "Uocm:US-ASHBURN-AD-2", "Uocm:US-ASHBURN-AD-3"}
}

// Options configure a simulated cloud; the zero value is a cloud in memory.
type Options struct {
	// Dir keeps the state between two runs; empty keeps it in memory.
	Dir string
	// MachineHost runs the machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is the factor by which time passes faster for machines than in life; 0 means sim.DefaultSpeed.
	Speed float64
	Seed  uint64
	// Keys are the API keys that the cloud accepts; none means that every key may do everything and no signature is verified, though each
	// request must be signed.
	Keys []Key
	// Compartments exist beside Tenancy and Compartment.
	Compartments []string
	// Versions of Kubernetes that OKE offers, the newest first; nil means its own list.
	Versions []string
	// Limits bounds the machines of each shape in the tenancy, in pools of both kinds; a shape without one is not bounded.
	Limits map[string]int
	// Switches are those of docs/evidence.md that are on.
	Switches sim.Switches
}

// Cloud is the simulated cloud, an http.Handler.
type Cloud struct {
	*core.Cloud[*region]
	// Console makes changes of node pools by hand; they have the key CLUSTER-OCID/POOL-OCID.
	Console managed.Console
	options Options
	// asked counts the permissions that were needed, by name and by whether the key had them.
	asked map[bool]map[string]int
}

// routes are all operations that are served.
var routes = slices.Concat(
	core.RoutesOf(func(w *region) *containerengine.Service { return w.engine }, containerengine.Routes),
	core.RoutesOf(func(w *region) *compute.Service { return w.compute }, compute.Routes),
	core.RoutesOf(func(w *region) *workrequests.Service { return w.works }, workrequests.Routes),
	core.RoutesOf(func(w *region) *identity.Service { return w.identity }, identity.Routes),
)

// New opens a simulated cloud.
func New(o Options) (*Cloud, error) {
	o.Compartments = append([]string{Tenancy, Compartment}, o.Compartments...)
	base, err := core.Open(core.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit,
		Known: core.Known(routes, Domains()), Switches: o.Switches,
		Beliefs: slices.Concat(core.Beliefs(), rest.Beliefs(), containerengine.Beliefs(), compute.Beliefs())})
	if err != nil {
		return nil, err
	}
	c := &Cloud{options: o, asked: map[bool]map[string]int{true: {}, false: {}}}
	load := func(_ string, docs core.Docs, _ bool) (*region, error) {
		w := newRegion(base.Environment, o)
		return w, w.Tables().Load(docs)
	}
	c.Cloud = core.NewCloud(base, load, func(_ string, w *region) {
		w.engine.Managed.Instances.Resume()
		w.compute.Resume()
	})
	c.Console = managed.Console{Tags: "freeformTags", By: func(change func(*managed.Service) error) error {
		return c.by(func(w *region) error { return change(w.engine.Managed) })
	}}
	c.Admin = admin(c)
	return c, c.Run("")
}

// by runs a change by hand.
func (c *Cloud) by(change func(*region) error) error { return c.ByHand("", change) }

// Asked returns how often each permission was needed and granted, or denied.
func (c *Cloud) Asked() (granted, denied map[string]int) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return maps.Clone(c.asked[true]), maps.Clone(c.asked[false])
}

// region is the state of the cloud.
type region struct {
	*core.State
	core.Schedule
	engine   *containerengine.Service
	compute  *compute.Service
	works    *workrequests.Service
	identity *identity.Service
	// tokens are the retry tokens of requests that were accepted, by operation and token.
	tokens *core.Table[retryToken]
	// limits are those that were set since the start, by shape.
	limits *core.Table[Limit]
}

// Limit bounds the machines of a shape in the tenancy. A number below 0 takes the limit away.
type Limit struct {
	Shape string `json:"shape"`
	Most  int    `json:"most"`
}

// SetLimit bounds the machines of a shape, in pools of both kinds.
func (c *Cloud) SetLimit(l Limit) error {
	return c.by(func(w *region) error {
		w.limits.Put(l.Shape, &l)
		return nil
	})
}

func newRegion(e *core.Environment, o Options) *region {
	w := &region{State: core.NewState(e, "oci/"), tokens: core.NewTable[retryToken]("oci/token/"),
		limits: core.NewTable[Limit]("oci/limit/")}
	limits := &catalogue.Limits{Most: func(shape string) (int, bool) {
		if row := w.limits.Get(shape); row != nil {
			return row.Most, row.Most >= 0
		}
		most, bounded := o.Limits[shape]
		return most, bounded
	}}
	w.engine = containerengine.New(w.State, containerengine.Options{Region: Region, RegionKey: RegionKey, Domains: Domains(),
		Versions: o.Versions, Limits: limits})
	w.works = workrequests.New(w.State, RegionKey)
	w.compute = compute.New(w.State, compute.Options{Region: Region, RegionKey: RegionKey, Domains: Domains(), Limits: limits,
		Works: w.works, Images: w.engine.Image})
	w.identity = &identity.Service{State: w.State, RegionKey: RegionKey, Domains: Domains()}
	return w
}

// Tick applies all transitions that are due and returns the time of the next one; the zero time means never.
func (w *region) Tick(now time.Time) time.Time {
	return w.Pass(now, func(now time.Time) time.Time {
		w.Now = now
		for key, row := range w.tokens.All() {
			if core.Due(row.Until, now) {
				w.tokens.Delete(key)
			}
		}
		next := core.Earliest(w.engine.Tick(), w.compute.Tick())
		return core.Earliest(next, w.works.Tick())
	})
}

// Tables returns everything that is kept.
func (w *region) Tables() core.Tables {
	return slices.Concat(w.engine.Tables(), w.compute.Tables(), w.works.Tables(), core.Tables{w.tokens, w.limits})
}

// Power powers machines on and off.
func (w *region) Power() {
	w.engine.Managed.Instances.Power()
	w.compute.Power()
}

var _ http.Handler = (*Cloud)(nil)

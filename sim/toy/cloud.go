package toy

import (
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// bodyLimit bounds a request.
const bodyLimit = 1 << 20

// Region is the only region.
const Region = "toyland"

// Options configure a simulated cloud; the zero value is a cloud in memory with the documented limits.
type Options struct {
	// Dir keeps the state between two runs; empty keeps it in memory.
	Dir string
	// MachineHost runs the machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is the factor by which time passes faster for machines than in life; 0 means sim.DefaultSpeed.
	Speed float64
	Seed  uint64
	// Limits of requests by bucket; nil means DocumentedLimits.
	Limits map[string]core.Rate
	// Switches are those of core.Beliefs that are on.
	Switches sim.Switches
}

// The buckets of requests.
const (
	BucketReads  = "reads"
	BucketWrites = "writes"
)

// DocumentedLimits returns the limits that the cloud documents for an account.
func DocumentedLimits() map[string]core.Rate {
	return map[string]core.Rate{BucketReads: {Size: 100, Refill: 10}, BucketWrites: {Size: 50, Refill: 5}}
}

// Cloud is the simulated cloud, an http.Handler.
type Cloud struct {
	*core.Cloud[*region]
	*core.Limits[core.Rate]
	// Console makes changes by hand; pools have the key CLUSTER/NAME.
	Console managed.Console
	buckets core.Buckets
}

// New opens a simulated cloud.
func New(o Options) (*Cloud, error) {
	base, err := core.Open(core.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit,
		Known: core.Known(operations, Zones()), Switches: o.Switches, Beliefs: core.Beliefs()})
	if err != nil {
		return nil, err
	}
	if o.Limits == nil {
		o.Limits = DocumentedLimits()
	}
	c := &Cloud{Limits: core.NewLimits(o.Limits)}
	load := func(_ string, docs core.Docs, _ bool) (*region, error) {
		w := newRegion(base.Environment)
		return w, w.Tables().Load(docs)
	}
	c.Cloud = core.NewCloud(base, load, func(_ string, w *region) {
		w.service.Instances.Resume()
		w.groups.machines.Resume()
	})
	c.Console = managed.Console{Tags: "tags", By: func(change func(*managed.Service) error) error {
		return c.ByHand("", func(w *region) error { return change(w.service) })
	}}
	c.Admin = core.OwnersMux(base, func() any { return c.Console.Snapshot() }, c.Capabilities().OutOfBand)
	return c, c.Run("")
}

// region is the state of the cloud.
type region struct {
	*core.State
	core.Schedule
	service *managed.Service
	groups  *groups
}

// Durations in life. Operations are kept long enough for a pool to be looked at the next day.
const (
	lifeCreate, lifeUpgrade, lifeChange, lifeJoin = 5 * time.Minute, 5 * time.Minute, 10 * time.Second, 15 * time.Minute
	kept                                          = 24 * time.Hour
)

func newRegion(e *core.Environment) *region {
	state := core.NewState(e, "toy/")
	return &region{State: state, groups: newGroups(state), service: managed.New(state, managed.Settings{
		Prefix: "toy/", Cloud: "toy", Region: Region, Operator: "toy-node-operator", Guest: guest,
		Create: lifeCreate, Upgrade: lifeUpgrade, Change: lifeChange, Join: lifeJoin, Kept: kept,
	})}
}

// guest adds to a machine what the cloud tells it about itself.
func guest(m *sim.Machine, c *managed.Cluster, _ *managed.Pool, i *managed.Instance) {
	t := types[i.Type]
	m.ProviderID, m.CPUs, m.MemoryMiB = providerID(c.Name, i.ID), t.CPUs, t.MemoryMiB
}

func providerID(cluster, node string) string { return "toy:///" + cluster + "/" + node }

// Tick applies all transitions that are due and returns the time of the next one; the zero time means never.
func (w *region) Tick(now time.Time) time.Time {
	return w.Pass(now, func(now time.Time) time.Time {
		w.Now = now
		return core.Earliest(w.service.Tick(), w.groups.tick())
	})
}

// Tables returns everything that is kept.
func (w *region) Tables() core.Tables { return append(w.service.Tables(), w.groups.tables()...) }

// Power powers machines on and off.
func (w *region) Power() {
	w.service.Instances.Power()
	w.groups.machines.Power()
}

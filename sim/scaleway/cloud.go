package scaleway

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// bodyLimit bounds a request.
const bodyLimit = 1 << 20

// Region is the default region, ProjectID the default project, which is also the organization.
const (
	Region    = "fr-par"
	ProjectID = "6d757374-6572-4000-8000-000000000001"
)

// AccessKey and SecretKey are an API key that may do everything where Options name no keys.
const (
	AccessKey = "SCWMUSTER00000000000"
	SecretKey = "6d757374-6572-4000-8000-000000000002"
)

// Options configure a simulated cloud; the zero value is a cloud in memory.
type Options struct {
	// Dir keeps the state between two runs; empty keeps it in memory.
	Dir string
	// MachineHost runs the machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is the factor by which machines start and stop faster than in the real cloud; 0 means sim.DefaultSpeed.
	Speed float64
	Seed  uint64
	// Keys are the API keys that the cloud accepts; none means that it accepts every secret key.
	Keys []Key
	// Quota limits the Instances of each type in the project; a type without one is limited by the cluster type alone.
	Quota map[string]int
	// Versions of Kubernetes that are offered, the newest first; nil means some of each minor version from 1.31 to 1.36.
	Versions []string
	// Switches are those of docs/evidence.md that are on.
	Switches sim.Switches
}

// Cloud is the simulated cloud, an http.Handler.
type Cloud struct {
	*core.Cloud[*region]
	// Console makes changes by hand; pools have the key CLUSTER-ID/NAME.
	Console managed.Console
	options Options
	// asked counts the permissions that were needed, by name and by whether the key had them.
	asked map[bool]map[string]int
}

// New opens a simulated cloud.
func New(o Options) (*Cloud, error) {
	base, err := core.Open(core.Options{Dir: o.Dir, MachineHost: o.MachineHost, Speed: o.Speed, Seed: o.Seed, BodyLimit: bodyLimit,
		Known: core.Known(routes, Zones()), Switches: o.Switches, Beliefs: slices.Concat(core.Beliefs(), Beliefs())})
	if err != nil {
		return nil, err
	}
	if o.Versions == nil {
		o.Versions = versions
	}
	c := &Cloud{options: o, asked: map[bool]map[string]int{true: {}, false: {}}}
	load := func(_ string, docs core.Docs, _ bool) (*region, error) {
		w := newRegion(base.Environment, o)
		return w, w.Tables().Load(docs)
	}
	c.Cloud = core.NewCloud(base, load, func(_ string, w *region) { w.service.Instances.Resume() })
	c.Console = managed.Console{Tags: "tags", TagList: true, By: func(change func(*managed.Service) error) error {
		return c.by(func(w *region) error { return change(w.service) })
	}}
	c.Admin = c.admin()
	return c, c.Run("")
}

// by runs a change by hand.
func (c *Cloud) by(change func(*region) error) error { return c.ByHand("", change) }

// Asked returns how often each permission set was needed and granted, or denied.
func (c *Cloud) Asked() (granted, denied map[string]int) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return maps.Clone(c.asked[true]), maps.Clone(c.asked[false])
}

// region is the state of all regions.
type region struct {
	*core.State
	core.Schedule
	service *managed.Service
	nodes   *core.Table[nodeRow]
	options Options
	// reads counts the answers, whose lists of taints have no fixed order.
	reads int
}

// Durations in the real cloud: recorded ones of control planes and deletions, and the documented ones of the autohealer.
const (
	lifeEmpty, lifeControlPlane       = 500 * time.Millisecond, 80 * time.Second
	lifeChange, lifeUpgrade           = 57 * time.Second, 65 * time.Second
	lifeStop, lifeDrain               = 75 * time.Second, 10 * time.Minute
	lifeJoin, lifeStart               = 15 * time.Minute, 10 * time.Second
	healLook, healReboot, healReplace = 5 * time.Minute, 15 * time.Minute, 30 * time.Minute
	endless                           = 10 * 365 * 24 * time.Hour
)

// boots are recorded times in seconds from the creation of a node until it runs, firsts from a Ready control plane until the first node of
// its cluster is created.
var (
	boots  = []int{14, 15, 15, 20, 26, 29, 36, 38, 41, 50}
	firsts = []int{0, 1, 5, 8, 10, 11, 101, 105, 225, 476}
)

func newRegion(e *core.Environment, o Options) *region {
	w := &region{State: core.NewState(e, "scaleway/"), nodes: core.NewTable[nodeRow]("scaleway/node/"), options: o}
	w.service = managed.New(w.State, managed.Settings{
		Prefix: "scaleway/", Cloud: "scaleway", Operator: "kapsule-node-operator", Guest: w.guest, Named: named, Reconciles: true,
		Create: lifeEmpty, Upgrade: lifeUpgrade, Change: lifeChange, Join: lifeJoin, Stop: lifeStop, Lag: time.Second, Kept: time.Hour,
		Boot: func(i *managed.Instance) time.Duration { return w.drawn(boots, "boot", i.ID) },
	})
	return w
}

// drawn returns one of recorded times in seconds.
func (w *region) drawn(seconds []int, of ...any) time.Duration {
	return time.Duration(seconds[int(w.Seed.Chance(of...)*float64(len(seconds)))]) * time.Second
}

// guest adds to a machine what the cloud tells it about itself.
func (w *region) guest(m *sim.Machine, c *managed.Cluster, p *managed.Pool, i *managed.Instance) {
	t := nodeTypes[i.Type]
	m.Region, m.ProviderID, m.CPUs, m.MemoryMiB = regionOf(i.Zone), w.providerID(i), cmp.Or(t.cpus, 2), cmp.Or(t.memoryMiB, 4096)
	m.Type = commercial(i.Type)
	m.Managed.Taints = append(append([]sim.Taint{}, p.Taints...), taintsOf(p.Doc["startup_taints"])...)
	m.Managed.Labels["k8s.scaleway.com/pool-name"] = p.Name
	m.Managed.Labels["k8s.scaleway.com/pool"] = idOf(p)
	m.Managed.Labels["k8s.scaleway.com/node"] = i.ID
}

// providerID returns the provider ID of a node: that of its server, which has another ID than the node.
func (w *region) providerID(i *managed.Instance) string {
	if i.Type == external {
		return "scaleway://external/" + i.ID
	}
	return "scaleway://instance/" + i.Zone + "/" + w.Seed.UUID("server", i.ID)
}

// nameRoom is the room for the names of cluster and pool in the name of a node, maxName the length of that name.
const nameRoom, maxName = 34, 46

// named returns the name of a node: the names of cluster and pool, shortened in proportion, and as much of its ID as fits.
func named(c *managed.Cluster, p *managed.Pool, i *managed.Instance) string {
	cluster, pool := c.Name, p.Name
	if all := len(cluster) + len(pool); all > nameRoom {
		n := (nameRoom*len(cluster) + all/2) / all
		cluster, pool = cluster[:n], pool[:nameRoom-n]
	}
	name := "scw-" + cluster + "-" + pool + "-" + withoutDashes(i.ID)
	return name[:min(len(name), maxName)]
}

// Tick applies all transitions that are due and returns the time of the next one; the zero time means never.
func (w *region) Tick(now time.Time) time.Time {
	return w.Pass(now, func(now time.Time) time.Time {
		w.Now = now
		return core.Earliest(w.service.Tick(), w.tend())
	})
}

// Tables returns everything that is kept.
func (w *region) Tables() core.Tables { return append(w.service.Tables(), w.nodes) }

// Power powers machines on and off.
func (w *region) Power() { w.service.Instances.Power() }

var _ http.Handler = (*Cloud)(nil)

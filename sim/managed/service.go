package managed

import (
	"maps"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// State is the state of a cluster or a pool, and what an operation does. A cloud has its own names for them.
type State string

// The states of clusters and pools.
const (
	Creating  State = "creating"
	Updating  State = "updating"
	Scaling   State = "scaling"
	Upgrading State = "upgrading"
	Deleting  State = "deleting"
	Running   State = "running"
	Failed    State = "failed"
)

// Cluster is a managed cluster.
type Cluster struct {
	// Key names it among all clusters, with neither "/" nor "|"; Name is the user's.
	Key, Name string
	// Doc is what the cloud keeps of it besides.
	Doc     document.Object
	State   State
	Failure *Failure
	// Version is that of its control plane, Goal the one that an upgrade leads to.
	Version, Goal string
	// Server is the URL of its API server, CA the certificates by which it is trusted, in PEM, Token the bootstrap token of its nodes.
	Server, Token string
	CA            []byte
	Created       time.Time
	// Op is the operation that runs, "" for none, Until when its own part is done.
	Op    string
	Until time.Time
	// Revision counts its changes, Updated is when the last of them was.
	Revision int64
	Updated  time.Time
}

// Pool is a pool of nodes.
type Pool struct {
	// Cluster is the key of its cluster, Name has no "|".
	Cluster, Name string
	Spec
	State   State
	Failure *Failure
	// Current is the version that all its nodes had last.
	Current string
	Created time.Time
	// Revision counts its changes, Updated is when the last of them was.
	Revision int64
	Updated  time.Time
	Work
	// Lacking is why no more machines could be launched, Retry when that is tried again.
	Lacking *Failure
	Retry   time.Time
}

// Spec is what a pool is to be.
type Spec struct {
	Count int
	// Autoscaled lets an autoscaler move the count between Min and Max.
	Autoscaled bool
	Min, Max   int
	// Version of Kubernetes, Type of machines and Image: with each of them machines are replaced.
	Version, Type, Image string
	Zones                []string
	Labels               map[string]string
	Taints               []sim.Taint
	// Surge is how many machines there may be beyond the count during an upgrade, Missing how many may be missing from it: numbers or
	// percentages.
	Surge, Missing string
	Drain          Drain
	// Heals replaces machines that stopped or were deleted behind the cloud's back.
	Heals bool
	// Doc is what the cloud keeps of it besides.
	Doc document.Object
}

// Operation is a change of a cluster or a pool that takes time.
type Operation struct {
	ID string
	// Cluster is the key of the cluster, Pool the name of the pool or "".
	Cluster, Pool string
	Doing         State
	Start, End    time.Time
	Failure       *Failure
	Aborted       bool
}

// Settings are how a cloud differs from others.
type Settings struct {
	// Prefix begins the names of its rows in a store.
	Prefix string
	// Cloud, Region and Operator are what machines learn of it; Guest adds what else they do: their provider ID, their size, labels.
	Cloud, Region, Operator string
	Guest                   func(*sim.Machine, *Cluster, *Pool, *Instance)
	// PerCluster is true if a cluster and its pools have one operation at a time; otherwise each pool has one, and a cluster one beside which
	// there is no other.
	PerCluster bool
	// Create, Upgrade and Change are how long a control plane takes, Join is how long nodes have to become Ready, all in life.
	Create, Upgrade, Change, Join time.Duration
	// Boot returns how long a machine takes to begin to run, Stop is how long it takes to go, in life; nil and zero are what most clouds take.
	Boot func(*Instance) time.Duration
	Stop time.Duration
	// Named returns the name of the node of a machine whose ID is set; nil is the names of cluster and pool with the ID.
	Named func(*Cluster, *Pool, *Instance) string
	// Reconciles is true if the cloud brings pools to their size without end. An operation then ends before the nodes that leave are gone,
	// which drain beside the next one; it goes on while nodes do not come, and Failure is why. Machines that are missing are launched again,
	// and only a change of the count or of what machines are made of is an operation.
	Reconciles bool
	// Lag is how long after its beginning an operation on a pool shows first effects, in life.
	Lag time.Duration
	// Kept is for how long operations that have ended can be read.
	Kept time.Duration
}

// Service keeps clusters, pools and their machines for a cloud that has no service of groups of machines beneath.
type Service struct {
	Settings
	Nodes      *Nodes
	Instances  *Instances
	Clusters   *core.Table[Cluster]
	Pools      *core.Table[Pool]
	Operations *core.Table[Operation]
	state      *core.State
}

// New returns a service without clusters.
func New(state *core.State, settings Settings) *Service {
	s := &Service{
		Settings: settings, Nodes: NewNodes(state), state: state,
		Clusters: core.NewTable[Cluster](settings.Prefix + "cluster/"), Pools: core.NewTable[Pool](settings.Prefix + "pool/"),
		Operations: core.NewTable[Operation](settings.Prefix + "operation/"),
	}
	s.Instances = NewInstances(state, settings.Prefix, s.guest)
	if settings.Boot != nil {
		s.Instances.boot = settings.Boot
	}
	if settings.Stop > 0 {
		s.Instances.stop = settings.Stop
	}
	if settings.Named != nil {
		s.Instances.named = func(i *Instance) string {
			p := s.Pools.Get(i.Pool)
			return settings.Named(s.Clusters.Get(p.Cluster), p, i)
		}
	}
	return s
}

// Tables returns the tables of the service.
func (s *Service) Tables() core.Tables {
	return core.Tables{s.Clusters, s.Pools, s.Operations, s.Instances.Rows, s.state.Sequences}
}

// Key returns the key of a pool.
func (p *Pool) Key() string { return p.Cluster + "/" + p.Name }

// Model is what machines of the pool are made of now.
func (s Spec) Model() string { return strings.Join([]string{s.Version, s.Type, s.Image}, "|") }

// PoolsOf returns the pools of a cluster by name.
func (s *Service) PoolsOf(c *Cluster) []*Pool {
	var out []*Pool
	for _, p := range s.Pools.Under(c.Key + "/") {
		out = append(out, p)
	}
	return out
}

// MachineOf describes a machine of a pool.
func (p *Pool) MachineOf(i *Instance) Machine {
	m := Machine{Key: i.Key, UID: i.ID, Up: !i.Booted.IsZero(), Deleting: i.Deleting, Stale: i.Model != p.Model()}
	if !i.NeverBoots {
		m.Booted = i.Booted
	}
	return m
}

// guest is what a machine learns from its cloud.
func (s *Service) guest(i *Instance) sim.Machine {
	m := sim.Machine{Cloud: s.Cloud, Region: s.Region, Zone: i.Zone, ID: i.ID, Hostname: i.Name, Address: i.Address, Type: i.Type,
		KubeletVersion: "v" + i.Version, Launched: i.Booted}
	p := s.Pools.Get(i.Pool)
	if p == nil {
		return m
	}
	c := s.Clusters.Get(p.Cluster)
	m.Managed = &sim.Managed{Cluster: c.Name, Group: p.Name, Server: c.Server, CA: c.CA, Token: c.Token, Operator: s.Operator,
		Labels: maps.Clone(p.Labels), Taints: p.Taints}
	if s.Guest != nil {
		s.Guest(&m, c, p, i)
	}
	return m
}

// touch notes that a pool has changed.
func (s *Service) touch(p *Pool) {
	p.Revision++
	p.Updated = s.state.Now
	s.Pools.Touch(p.Key())
}

// touchCluster notes that a cluster has changed.
func touchCluster(s *Service, c *Cluster) {
	c.Revision++
	c.Updated = s.state.Now
	s.Clusters.Touch(c.Key)
}

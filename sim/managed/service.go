package managed

import (
	"maps"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
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
	// Doc holds the cloud's other data about it.
	Doc     document.Object
	State   State
	Failure *Failure
	// Version is that of its control plane, Goal the target of an upgrade.
	Version, Goal string
	// Server is the URL of its API server, CA the certificates by which it is trusted, in PEM, Token the bootstrap token of its nodes.
	Server, Token string
	CA            []byte
	Created       time.Time
	// Op is the running operation, "" for none; Until is the time at which the cluster's own part of it ends.
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
	// Lacking is the reason why no more machines could be launched, Retry the time of the next attempt.
	Lacking *Failure
	Retry   time.Time
}

// Spec is the specification of a pool.
type Spec struct {
	Count int
	// Autoscaled lets an autoscaler move the count between Min and Max.
	Autoscaled bool
	Min, Max   int
	// Version of Kubernetes, Type of machines and Image. A change of one of them replaces machines.
	Version, Type, Image string
	Zones                []string
	Labels               map[string]string
	Taints               []sim.Taint
	// Surge is the number of machines allowed beyond the count during an upgrade, Missing the number that may be missing from it: numbers or
	// percentages.
	Surge, Missing string
	Drain          Drain
	// InPlace rebuilds stale machines with their IDs instead of replacing them.
	InPlace bool
	// Heals is true if machines that stopped or were deleted out of band are replaced.
	Heals bool
	// Doc holds the cloud's other data about it.
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

// Settings configures the service for one cloud.
type Settings struct {
	// Prefix is the prefix of the names of its rows in a store.
	Prefix string
	// Cloud, Region and Operator describe the cloud to machines; Guest adds the provider ID, the size and the labels.
	Cloud, Region, Operator string
	Guest                   func(*sim.Machine, *Cluster, *Pool, *Instance)
	// PerCluster is true if a cluster and its pools have one operation at a time. Otherwise each pool has one, and an operation of the cluster
	// excludes all others.
	PerCluster bool
	// Create, Upgrade and Change are the durations of operations on a control plane, Join is the time until nodes are Ready, all as in the
	// real cloud.
	Create, Upgrade, Change, Join time.Duration
	// Boot returns the time until a machine runs, Stop is the time until it has stopped, as in the real cloud; nil and zero are the defaults.
	Boot func(*Instance) time.Duration
	Stop time.Duration
	// Named returns the name of the node of a machine whose ID is set; nil joins the names of cluster and pool with the ID.
	Named func(*Cluster, *Pool, *Instance) string
	// Reconciles is true if the cloud continuously brings pools to their size. An operation then ends before the leaving nodes are gone, which
	// drain in parallel to the next one. It continues while nodes do not join, and Failure is the reason. Missing machines are launched again,
	// and only a change of the count or of the machines' model is an operation.
	Reconciles bool
	// Overlaps is true if an operation on a pool can start while another one runs. It continues with the leaving machines, also with those
	// that could not be drained in time.
	Overlaps bool
	// OldestFirst is true if a smaller count removes the oldest machines, otherwise it removes the newest.
	OldestFirst bool
	// Refuses returns the reason why a machine can't be launched, nil if it can; a nil function refuses none.
	Refuses func(*Pool, *Instance) *Failure
	// ID returns the ID of a machine whose key is set; nil is a UUID.
	ID func(*Instance) string
	// Lag is the time from the start of an operation on a pool to its first effects, as in the real cloud.
	Lag time.Duration
	// Kept is the time for which ended operations can be read.
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
	s.Instances.identified = settings.ID
	if settings.Refuses != nil {
		s.Instances.refuses = func(i *Instance) *Failure { return settings.Refuses(s.Pools.Get(i.Pool), i) }
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

// Model identifies the properties whose change replaces machines.
func (s Spec) Model() string { return strings.Join([]string{s.Version, s.Type, s.Image}, "|") }

// PoolsOf returns the pools of a cluster by name.
func (s *Service) PoolsOf(c *Cluster) []*Pool { return s.Pools.List(c.Key + "/") }

// NewInstance returns a machine of what machines of the pool are made of now, to be launched.
func (p *Pool) NewInstance() Instance {
	return Instance{Machine: fleet.Machine{Type: p.Type}, Pool: p.Key(), Version: p.Version, Model: p.Model()}
}

// MachineOf describes a machine of a pool.
func (p *Pool) MachineOf(i *Instance) Machine {
	m := Machine{Key: i.Key, UID: i.ID, Up: !i.Booted.IsZero(), Deleting: i.Deleting, Stale: i.Model != p.Model()}
	if !i.NeverBoots {
		m.Booted = i.Booted
	}
	return m
}

// guest describes a machine to its MachineHost.
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

package kapsule

import (
	"context"
	"fmt"
	"time"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/scaleway/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// visibleWithin bounds the time by which a read is behind a write.
const visibleWithin = 10 * time.Second

// memory holds the last reads of one pool. Losing it costs a few reads.
type memory struct {
	read poolRead
	// created is when Kapsule accepted the creation of the pool.
	created time.Time
	// size is the one that was requested last, and removals are the nodes whose deletion was accepted: lists may be behind both.
	size     cache.RequestedSize
	removals driverkit.Removals
	// tolerance decides whether the pool is observed without a look-up that failed.
	tolerance driverkit.Tolerance
}

// poolRead is a cluster with one of its pools.
type poolRead struct {
	session.Cluster
	at time.Time
	// pool is nil if it does not exist; nodes are its own, as they count: what was accepted a moment ago and is not shown yet included.
	pool  *k8s.Pool
	nodes []node
	// named is the pool that the object names, if that is another one.
	named driverkit.NamedGroup
}

// node is a node of the pool.
type node struct {
	*k8s.Node
	state pool.InstanceState
	// assumed is true if its deletion was accepted and is not shown yet.
	assumed bool
}

// staying reports whether the node counts for the size.
func (n node) staying() bool { return n.state != pool.Terminating }

// reader reads one pool for one pass.
type reader struct {
	c       *session.Session
	t       target
	now     time.Time
	memory  *memory
	lookups *cache.Lookups
}

// forget drops the last read.
func (r *reader) forget() {
	r.c.Touch(r.t.cluster.Name)
	r.memory.read = poolRead{}
}

// read reads the pool unless the last read is new enough for the pass.
func (r *reader) read(ctx context.Context) error {
	switch {
	case !driverkit.Reusable(r.memory.read.at, r.now, r.t.Cache.MaxAge):
		return r.readAgain(ctx, r.t.Cache.MaxAge)
	case r.memory.read.depends(r.t.KubernetesVersion):
		return r.readDocument(ctx, r.t.Cache.MaxAge, &r.memory.read)
	}
	return nil
}

func (r *reader) readAgain(ctx context.Context, maxAge time.Duration) error {
	read, err := r.readCluster(ctx, maxAge)
	if err == nil && read.depends(r.t.KubernetesVersion) {
		err = r.readDocument(ctx, maxAge, &read)
	}
	if err != nil {
		return err
	}
	if read.pool != nil {
		r.memory.read, r.memory.created = read, time.Time{}
		return nil
	}
	read.named = r.namedIn(read.Pools)
	if err := driverkit.NotYetShown("pool "+r.t.name, r.memory.created, r.now, visibleWithin); err != nil && read.Doc != nil {
		r.memory.read = poolRead{}
		return err
	}
	r.memory.read = read
	return nil
}

// readCluster reads the pool and its nodes with those of the cluster.
func (r *reader) readCluster(ctx context.Context, maxAge time.Duration) (poolRead, error) {
	all, at, err := r.c.Cluster(ctx, r.t.cluster.Name, maxAge)
	read := poolRead{Cluster: all, at: at}
	for _, p := range all.Pools {
		if p.Name == r.t.name {
			read.pool = p
			read.nodes = r.nodesOf(all.Nodes, p.ID, at)
		}
	}
	return read, err
}

// depends reports whether the version of the control plane decides what is wanted: for a pool to create, or to upgrade to a version.
func (r poolRead) depends(version string) bool {
	requested, _ := upgrade.Parse(version)
	return r.Doc != nil && (r.pool == nil || requested.Known() && requested.Compare(r.version()) > 0)
}

// readDocument sets the cluster itself, no older than maxAge. It returns a conflict if another cluster has the name by now.
func (r *reader) readDocument(ctx context.Context, maxAge time.Duration, read *poolRead) error {
	if !read.DocAt.Before(r.now) || driverkit.Reusable(read.DocAt, r.now, maxAge) {
		return nil
	}
	is, at, err := r.c.Document(ctx, r.t.cluster.Name, maxAge)
	switch {
	case err != nil:
		return err
	case is == nil || is.ID != read.Doc.ID:
		r.forget()
		return &cloud.Error{Kind: cloud.Conflict, Code: "ClusterReplaced",
			Message: fmt.Sprintf("cluster %s was deleted or replaced while it was read: it is read again", r.t.cluster.Name)}
	}
	read.Doc, read.DocAt = is, at
	return nil
}

// nodesOf returns the nodes of a pool in a list that began at a moment.
func (r *reader) nodesOf(all []*k8s.Node, poolID string, at time.Time) (out []node) {
	has := map[string]bool{}
	for _, n := range all {
		if n.PoolID != poolID {
			continue
		}
		has[n.ID] = true
		is := node{Node: n, state: stateOf(n)}
		if is.assumed = r.memory.removals.Assumed(n.ID, !is.staying(), at); is.assumed {
			is.state = pool.Terminating
		}
		out = append(out, is)
	}
	r.memory.removals.Listed(has, at)
	return out
}

// namedIn looks for the pool that the object names, if that is another than its own. One of another cluster is not read: it can't be the
// pool's, whose place its cluster tells.
func (r *reader) namedIn(pools []*k8s.Pool) driverkit.NamedGroup {
	out := driverkit.NamedGroup{ID: r.t.GroupID}
	name := r.t.namedPool()
	for _, p := range pools {
		if name == "" || p.Name != name {
			continue
		}
		if claim := r.t.Claim(Spelling, tagOf(p.Tags)); !claim.Owned {
			out.Conflict = driverkit.NamedConflict(r.t.labelOf(name), name, claim)
		}
	}
	return out
}

// stateOf returns the state of a node.
func stateOf(n *k8s.Node) pool.InstanceState {
	switch n.Status {
	case k8s.NodeStatusCreating, k8s.NodeStatusStarting, k8s.NodeStatusRegistering:
		return pool.Pending
	case k8s.NodeStatusDeleting, k8s.NodeStatusDeleted:
		return pool.Terminating
	case k8s.NodeStatusCreationError:
		return pool.Failed
	}
	return pool.Running
}

// ours returns a moment of the cloud's clock by Muster's.
func (r poolRead) ours(t *time.Time) time.Time {
	if t == nil || t.IsZero() {
		return time.Time{}
	}
	return t.Add(-r.Skew)
}

// version returns the version of the pool; unknown without one.
func (r poolRead) version() upgrade.Version {
	if r.pool == nil {
		return upgrade.Version{}
	}
	return versionOf(r.pool.Version)
}

// controlPlane returns the version of the control plane; unknown without a cluster.
func (r poolRead) controlPlane() upgrade.Version {
	if r.Doc == nil {
		return upgrade.Version{}
	}
	return versionOf(r.Doc.Version)
}

// versionOf returns a version that Kapsule shows; unknown where it is none.
func versionOf(text string) upgrade.Version {
	v, _ := upgrade.Parse(text)
	return v
}

// staying counts the nodes that are not being deleted.
func (r poolRead) staying() (n int) {
	for _, one := range r.nodes {
		if one.staying() {
			n++
		}
	}
	return n
}

// upgrading reports whether Kapsule replaces the nodes for another version.
func (r poolRead) upgrading() bool { return r.pool.Status == k8s.PoolStatusUpgrading }

// old reports whether a node is from before the upgrade that runs. Kapsule notes when a pool has changed last, which the upgrade does: what
// was created later has the new version. A change during the upgrade has more nodes count as old until it ends.
func (r poolRead) old(n node) bool {
	return r.upgrading() && (n.CreatedAt == nil || r.pool.UpdatedAt == nil || n.CreatedAt.Before(*r.pool.UpdatedAt))
}

// tooMany returns the error of a pool that would exceed what may be.
func tooMany(format string, args ...any) error {
	return cloud.Invalidf(rows.SpecOf("size"), format, args...)
}

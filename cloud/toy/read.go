package toy

import (
	"context"
	"time"

	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/toy/session"
)

// visibleWithin bounds the time by which a read is behind a write.
const visibleWithin = 10 * time.Second

// memory holds the last reads of one pool. Losing it costs a few reads.
type memory struct {
	read poolRead
	// created is when the cloud accepted the creation of the pool.
	created time.Time
	// tolerance decides whether the pool is observed without the look-up of its machine type.
	tolerance driverkit.Tolerance
}

// poolRead is a cluster with one of its pools.
type poolRead struct {
	clusterRead
	at time.Time
	// pool is nil if it does not exist; nodes are its own.
	pool  *poolDoc
	nodes []*nodeDoc
	// named is the pool that the object names, if that is another one.
	named driverkit.NamedGroup
}

// reader reads one pool for one pass.
type reader struct {
	c       *clusters
	t       target
	now     time.Time
	memory  *memory
	lookups *cache.Lookups
}

// forget drops the last read.
func (r *reader) forget() {
	r.c.sweep.Touch(r.t.Spec.Cluster)
	r.memory.read = poolRead{}
}

// read reads the pool unless the last read is new enough for the pass.
func (r *reader) read(ctx context.Context) error {
	if driverkit.Reusable(r.memory.read.at, r.now, r.t.Cache.MaxAge) {
		return nil
	}
	return r.readAgain(ctx)
}

func (r *reader) readAgain(ctx context.Context) error {
	all, at, err := r.c.cluster(ctx, r.t.Spec.Cluster, r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	read := poolRead{clusterRead: all, at: at, pool: all.pool(r.t.name), nodes: all.nodesOf(r.t.name)}
	if read.pool != nil {
		r.memory.read, r.memory.created = read, time.Time{}
		return nil
	}
	if read.named, err = r.readNamed(ctx); err != nil {
		return err
	}
	if err := driverkit.NotYetShown("pool "+r.t.name, r.memory.created, r.now, visibleWithin); err != nil {
		r.memory.read = poolRead{}
		return err
	}
	r.memory.read = read
	return nil
}

// readNamed reads the pool that the object names, if that is another than its own.
func (r *reader) readNamed(ctx context.Context) (driverkit.NamedGroup, error) {
	out := driverkit.NamedGroup{ID: r.t.GroupID}
	cluster, name := splitPoolID(r.t.GroupID)
	if name == "" || r.t.GroupID == poolID(r.t.Spec.Cluster, r.t.name) {
		return out, nil
	}
	all, _, err := r.c.cluster(ctx, cluster, r.t.Cache.MaxAge)
	if err != nil {
		return out, err
	}
	if is := all.pool(name); is != nil {
		if claim := r.t.Claim(session.Spelling, is.tag); !claim.Owned {
			out.Conflict = driverkit.NamedConflict(labelOf(cluster, name), name, claim)
		}
	}
	return out, nil
}

package nodepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// The states of node pools and clusters that code depends on.
const (
	statusProvisioning = "PROVISIONING"
	statusRunning      = "RUNNING"
	statusReconciling  = "RECONCILING"
	statusStopping     = "STOPPING"
	statusError        = "ERROR"
	statusDegraded     = "RUNNING_WITH_ERROR"
)

// poolRead is a cluster with one node pool and its instance groups, as they were read.
type poolRead struct {
	at time.Time
	// cluster is nil if the cluster does not exist, pool if the node pool does not. Both are shared with other pools and never changed.
	cluster *container.Cluster
	pool    *container.NodePool
	// named is the node pool that the object names, where that is another one.
	named driverkit.NamedGroup
	// groups are the instance groups of the node pool.
	groups []groups.Group
	// facts are those of the templates of machines.
	facts map[string]groups.TemplateFields
	// unread are why reads failed that an observation can do without.
	unread []error
}

// labels returns the resource labels of the node pool.
func (r poolRead) labels() map[string]string {
	if r.pool == nil || r.pool.Config == nil {
		return nil
	}
	return r.pool.Config.ResourceLabels
}

// machines returns the members of all groups.
func (r poolRead) machines() []groups.Instance { return groups.Machines(r.groups) }

// templates returns the templates of machines, by their paths within the project.
func (r poolRead) templates() []string {
	var names []string
	for _, m := range r.machines() {
		names = append(names, m.Template)
	}
	return names
}

// size returns the number of machines that the node pool keeps; while it is created and has no groups yet, the requested number. In a
// blue-green upgrade there are two groups in each zone: the green ones grow to the size of the blue ones, which go at its end; while it is
// paused the size is that of the blue ones.
func (r poolRead) size() int {
	switch info := blueGreen(r.pool); {
	case info == nil && r.pool.Status == statusProvisioning:
		return max(groups.Size(r.groups), int(r.pool.InitialNodeCount)*zones(r.pool, r.cluster))
	case info == nil:
		return groups.Size(r.groups)
	case r.paused() && info.Phase != phaseDeleting:
		return groups.Size(r.blue())
	}
	return max(groups.Size(r.blue()), groups.Size(r.green()))
}

// busy returns what GKE does to the node pool or its cluster while it takes no other write. A cluster that reconciles is none: GKE works on
// several node pools at once where it can, and refuses a request where it cannot.
func (r poolRead) busy() *pool.Cause {
	switch status := r.pool.Status; status {
	case statusProvisioning, statusReconciling, statusStopping:
		return &pool.Cause{Reason: status, Message: fmt.Sprintf("GKE is at work on the node pool: %s", status)}
	}
	if r.cluster == nil {
		return nil
	}
	switch status := r.cluster.Status; status {
	case statusProvisioning, statusStopping:
		return &pool.Cause{Reason: "ClusterBusy", Message: fmt.Sprintf("GKE is at work on cluster %s: %s", r.cluster.Name, status)}
	}
	return nil
}

// complete reports whether all machines run that the node pool keeps, and GKE is at rest: what kept them from coming before is over.
func (r poolRead) complete() bool {
	machines := r.machines()
	return r.busy() == nil && len(r.groups) > 0 && len(machines) == groups.Size(r.groups) &&
		!slices.ContainsFunc(machines, func(m groups.Instance) bool { return m.State() != pool.Running })
}

// pass is one call for one pool.
type pass struct {
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
}

// reader reads one pool for one call of Observe or Start, as far as what is known of it is out of date.
type reader struct {
	*pass
	templates *groups.TemplateReader
	lookups   *cache.Lookups
}

// tolerate keeps the failure of a read that an observation can do without, and returns the error unless the observation goes on.
func (r *reader) tolerate(read *poolRead, err error) error {
	if failed := r.memory.tolerance.Tolerate(r.now, err); failed != nil || err == nil {
		return failed
	}
	read.unread = append(read.unread, err)
	return nil
}

// clusterPath and path return the names of the cluster and of the node pool in requests.
func (r *reader) clusterPath() string { return r.c.ClusterPath(r.t.cluster.Location, r.t.cluster.Name) }
func (r *reader) path() string        { return r.clusterPath() + "/nodePools/" + r.t.name }

// touch marks shared reads of the node pool as out of date.
func (r *reader) touch() {
	r.c.TouchCluster(r.t.cluster.Location, r.t.cluster.Name)
	for _, g := range r.memory.groups {
		r.c.TouchManager(g.Zone, g.Name)
	}
}

// forget discards the last reads. It is called before a write, whatever its result.
func (r *reader) forget() {
	r.touch()
	r.memory.read = poolRead{}
}

// read reads the cluster, the node pool and its machines, unless the last read is new enough for the pass.
func (r *reader) read(ctx context.Context) error {
	if driverkit.Reusable(r.memory.read.at, r.now, r.t.Cache.MaxAge) {
		return nil
	}
	return r.readAgain(ctx)
}

func (r *reader) readAgain(ctx context.Context) error {
	cluster, at, err := r.c.Cluster(ctx, r.t.cluster.Location, r.t.cluster.Name, r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	read := poolRead{at: at, cluster: cluster, pool: poolOf(cluster, r.t.name)}
	if read.pool == nil {
		if read.named, err = r.readNamed(ctx); err != nil {
			return err
		}
		r.memory.read = read
		if err = driverkit.NotYetShown("node pool "+r.t.name, r.memory.made, r.now, visibleWithin); err != nil {
			r.memory.read = poolRead{}
		}
		return err
	}
	if r.t.ownership(read).Claim.Owned {
		tolerate := func(err error) error { return r.tolerate(&read, err) }
		reader := groups.Reader{Session: r.c, MaxAge: r.t.Cache.MaxAge, Created: &r.memory.created, Tolerate: tolerate}
		if read.groups, err = reader.Read(ctx, read.pool.InstanceGroupUrls); err != nil {
			return err
		}
		if read.facts, err = r.templates.Read(ctx, read.templates()); tolerate(err) != nil {
			return err
		}
	}
	r.memory.took(read)
	if !r.t.ownership(read).Claim.Owned {
		return nil
	}
	return r.readOperation(ctx)
}

// readNamed reads the node pool that the object names, where that is another than the pool's own, which does not exist: another tool may
// have managed the pool before.
func (r *reader) readNamed(ctx context.Context) (driverkit.NamedGroup, error) {
	out := driverkit.NamedGroup{ID: r.t.GroupID}
	at := splitGroupID(r.t.GroupID)
	if at.pool == "" || r.t.GroupID == r.path() {
		return out, nil
	}
	label := fmt.Sprintf("node pool %s of GKE cluster %s", at.pool, at.cluster)
	if at.project != r.c.Project {
		out.Conflict = cloud.NamedElsewhere(label, "it is in project "+at.project)
		return out, nil
	}
	cluster, _, err := r.c.Cluster(ctx, at.location, at.cluster, r.t.Cache.MaxAge)
	if err != nil {
		return out, err
	}
	if is := poolOf(cluster, at.pool); is != nil {
		if claim := r.t.Claim(template.Spelling, template.In(poolRead{pool: is}.labels())); !claim.Owned {
			out.Conflict = driverkit.NamedConflict(label, at.pool, claim)
		}
	}
	return out, nil
}

// poolOf returns a node pool of a cluster by name; nil if there is none.
func poolOf(cluster *container.Cluster, name string) *container.NodePool {
	if cluster == nil {
		return nil
	}
	for _, n := range cluster.NodePools {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// there returns the node pool, or a conflict if it does not exist.
func (w *writer) there() (*container.NodePool, error) {
	return driverkit.Existing(w.memory.read.pool, "node pool "+w.t.name)
}

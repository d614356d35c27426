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
	// denied are refusals of reads that an observation can do without.
	denied []error
}

// tolerate keeps a refusal for lack of permission of a read that an observation can do without. Any other error is returned.
func (r *poolRead) tolerate(err error) error {
	if err == nil || cloud.KindOf(err) != cloud.Denied {
		return err
	}
	r.denied = append(r.denied, err)
	return nil
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

// templates returns the names of the templates of machines.
func (r poolRead) templates() []string {
	var names []string
	for _, m := range r.machines() {
		names = append(names, m.Template)
	}
	return names
}

// size returns the number of machines that the node pool keeps; while it is created and has no groups yet, that which was asked for. In a
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

// pass is one call of Observe or Start for one pool.
type pass struct {
	c         *session.Session
	t         target
	now       time.Time
	memory    *memory
	templates *groups.TemplateReader
	lookups   *cache.Lookups
}

// clusterPath and path return the names of the cluster and of the node pool in requests.
func (p *pass) clusterPath() string { return p.c.ClusterPath(p.t.cluster.Location, p.t.cluster.Name) }
func (p *pass) path() string        { return p.clusterPath() + "/nodePools/" + p.t.name }

// touch marks shared reads of the node pool as out of date.
func (p *pass) touch() {
	p.c.TouchCluster(p.t.cluster.Location, p.t.cluster.Name)
	for _, g := range p.memory.groups {
		p.c.TouchManager(g.Zone, g.Name)
	}
}

// forget discards the last reads. It is called before a write, whatever its result.
func (p *pass) forget() {
	p.touch()
	p.memory.read = poolRead{}
}

// read reads the cluster, the node pool and its machines, unless the last read is new enough for the pass.
func (p *pass) read(ctx context.Context) error {
	if driverkit.Reusable(p.memory.read.at, p.now, p.t.MaxAge) {
		return nil
	}
	return p.readAgain(ctx)
}

func (p *pass) readAgain(ctx context.Context) error {
	cluster, at, err := p.c.Cluster(ctx, p.t.cluster.Location, p.t.cluster.Name, p.t.MaxAge)
	if err != nil {
		return err
	}
	read := poolRead{at: at, cluster: cluster, pool: poolOf(cluster, p.t.name)}
	if read.pool == nil {
		if read.named, err = p.readNamed(ctx); err != nil {
			return err
		}
		p.memory.read = read
		if err = driverkit.NotYetShown("node pool "+p.t.name, p.memory.made, p.now, visibleWithin); err != nil {
			p.memory.read = poolRead{}
		}
		return err
	}
	if p.t.ownership(read).Owned {
		reader := groups.Reader{Session: p.c, MaxAge: p.t.MaxAge, Created: &p.memory.created, Tolerate: read.tolerate}
		if read.groups, err = reader.Read(ctx, read.pool.InstanceGroupUrls); err != nil {
			return err
		}
		if read.facts, err = p.templates.Read(ctx, read.templates()); err != nil && read.tolerate(err) != nil {
			return err
		}
	}
	p.memory.took(read)
	if !p.t.ownership(read).Owned {
		return nil
	}
	return p.readOperation(ctx)
}

// readNamed reads the node pool that the object names, where that is another than the pool's own, which does not exist: another tool may
// have managed the pool before.
func (p *pass) readNamed(ctx context.Context) (driverkit.NamedGroup, error) {
	out := driverkit.NamedGroup{ID: p.t.GroupID}
	at := splitGroupID(p.t.GroupID)
	if at.pool == "" || p.t.GroupID == p.path() {
		return out, nil
	}
	label := fmt.Sprintf("node pool %s of GKE cluster %s", at.pool, at.cluster)
	if at.project != p.c.Project {
		out.Conflict = cloud.NamedElsewhere(label, "it is in project "+at.project)
		return out, nil
	}
	cluster, _, err := p.c.Cluster(ctx, at.location, at.cluster, p.t.MaxAge)
	if err != nil {
		return out, err
	}
	if is := poolOf(cluster, at.pool); is != nil {
		owner := poolRead{pool: is}.labels()[template.LabelOwner]
		if owner != template.LabelValue(p.t.Owner.ID) {
			out.Conflict = driverkit.NamedConflict(label, at.pool, template.LabelOwner, owner)
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
func (p *pass) there() (*container.NodePool, error) {
	return driverkit.Existing(p.memory.read.pool, "node pool "+p.t.name)
}

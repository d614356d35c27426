package nodepool

import (
	"context"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*pass]{
	pool.Adopt:                 func(p *pass, ctx context.Context, _ pool.Step) error { return p.adopt(ctx) },
	pool.CreateGroup:           (*pass).createGroup,
	pool.UpdateGroup:           func(p *pass, ctx context.Context, _ pool.Step) error { return p.updateGroup(ctx) },
	pool.Resize:                (*pass).resize,
	pool.Remove:                (*pass).remove,
	pool.StartProviderRollout:  func(p *pass, ctx context.Context, _ pool.Step) error { return p.startRollout(ctx) },
	pool.CancelProviderRollout: (*pass).cancelRollout,
	pool.DeleteGroup:           func(p *pass, ctx context.Context, _ pool.Step) error { return p.deleteGroup(ctx) },
}

// start begins the step.
func (p *pass) start(ctx context.Context, s pool.Step) error {
	run, err := steps.Step(s.Kind, "a node pool")
	if err != nil {
		return err
	}
	if p.memory.read.at.IsZero() {
		if err := p.readAgain(ctx); err != nil {
			return err
		}
	}
	if err := p.t.ownership(p.memory.read).Permits(s.Kind, pool.Adopt); err != nil {
		return err
	}
	return withField(run(p, ctx, s))
}

// nodePools are the calls for node pools.
func (p *pass) nodePools() *container.ProjectsLocationsClustersNodePoolsService {
	return p.c.Container.Projects.Locations.Clusters.NodePools
}

// createGroup creates the node pool, unless its name is taken. GKE takes one size for all zones: what does not divide by them is added once
// the node pool exists.
func (p *pass) createGroup(ctx context.Context, s pool.Step) error {
	w, err := p.want()
	if err != nil {
		return err
	}
	cluster := p.memory.read.cluster
	if cluster == nil {
		return p.t.noCluster()
	}
	if p.memory.read.pool != nil {
		return nil // it is the pool's own: an earlier request has created it
	}
	if controlPlane := reported(cluster.CurrentMasterVersion); controlPlane.minor != 0 && w.asked.compare(controlPlane) > 0 {
		return &cloud.Error{Kind: cloud.Conflict, Code: pool.ControlPlaneUpgradePending, Message: "Kubernetes " + w.asked.String() +
			" is above the control plane, which runs " + controlPlane.String()}
	}
	body := w.created(p.t.name, s.Size/zones(w.pool, cluster))
	p.forget()
	o, err := p.nodePools().Create(p.clusterPath(), &container.CreateNodePoolRequest{NodePool: body}).Context(ctx).Do()
	err = p.began(o, err, wanted{})
	if session.Exists(err) {
		return driverkit.Confirm(err, p.readAgain(ctx), func() bool {
			is := p.memory.read.pool
			return is != nil && p.t.ownership(p.memory.read).Owned && is.Status != statusStopping
		})
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.made = p.now
	}
	return err
}

// created returns the node pool as it is created, with a number of machines in each zone.
func (w wanted) created(name string, inZone int) *container.NodePool {
	out := *w.pool
	out.Name, out.Version, out.InitialNodeCount = name, w.next.version.String(), int64(inZone)
	out.ForceSendFields = []string{"InitialNodeCount"}
	if !out.Autoscaling.Enabled {
		out.Autoscaling = nil
	}
	return &out
}

// zones returns the number of zones that a node pool has: its own, else those of the cluster.
func zones(n *container.NodePool, cluster *container.Cluster) int {
	if len(n.Locations) > 0 {
		return len(n.Locations)
	}
	return max(1, len(cluster.Locations))
}

// updateGroup brings the first of the parts that GKE changes in place, and that differ, to what is wanted: GKE works on one after another.
func (p *pass) updateGroup(ctx context.Context) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	w, err := p.want()
	if err != nil || len(w.drift) == 0 {
		return err
	}
	p.memory.rememberMachines(w, p.memory.read.machines())
	p.forget()
	var o *container.Operation
	switch changed := request.Together(w.drift); changed[0].Method {
	case request.SetAutoscaling:
		r := &container.SetNodePoolAutoscalingRequest{Autoscaling: request.Autoscaling(w.pool, is)}
		o, err = p.nodePools().SetAutoscaling(p.path(), r).Context(ctx).Do()
	case request.SetManagement:
		r := &container.SetNodePoolManagementRequest{Management: w.pool.Management}
		o, err = p.nodePools().SetManagement(p.path(), r).Context(ctx).Do()
	default:
		o, err = p.nodePools().Update(p.path(), request.Request(changed, w.pool, is)).Context(ctx).Do()
	}
	return p.began(o, err, wanted{})
}

// adopt writes the owner labels to the node pool and changes nothing else.
func (p *pass) adopt(ctx context.Context) error {
	is := p.memory.read.pool
	if is != nil && p.t.ownership(p.memory.read).Owned {
		return nil
	}
	if err := p.t.ownership(p.memory.read).Adoptable(p.unowned()); err != nil {
		return err
	}
	labels := request.Labels(p.memory.read.labels(), template.OwnerLabels(p.t.Owner))
	p.forget()
	o, err := p.nodePools().Update(p.path(), &container.UpdateNodePoolRequest{
		Etag: is.Etag, ResourceLabels: &container.ResourceLabels{Labels: labels},
	}).Context(ctx).Do()
	return p.began(o, err, wanted{})
}

// deleteGroup deletes the node pool with its machines.
func (p *pass) deleteGroup(ctx context.Context) error {
	if is := p.memory.read.pool; is == nil || is.Status == statusStopping {
		return nil
	}
	p.memory.made = p.now.Add(-visibleWithin)
	p.forget()
	o, err := p.nodePools().Delete(p.path()).Context(ctx).Do()
	if err = p.began(o, err, wanted{}); session.Absent(err) {
		return nil
	}
	return err
}

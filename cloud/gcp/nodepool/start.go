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

// writer begins the steps of one pool. What it needs to know it has read first.
type writer struct {
	*pass
	reader *reader
}

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*writer]{
	pool.Adopt:                 (*writer).adopt,
	pool.CreateGroup:           (*writer).createGroup,
	pool.UpdateGroup:           (*writer).updateGroup,
	pool.Resize:                (*writer).resize,
	pool.Remove:                (*writer).remove,
	pool.StartProviderRollout:  (*writer).startRollout,
	pool.CancelProviderRollout: (*writer).cancelRollout,
	pool.DeleteGroup:           (*writer).deleteGroup,
}

// look reads the pool, unless it was read.
func (w *writer) look(ctx context.Context, _ pool.Step) error {
	if !w.memory.read.at.IsZero() {
		return nil
	}
	return w.reader.readAgain(ctx)
}

// nodePools are the calls for node pools.
func (w *writer) nodePools() *container.ProjectsLocationsClustersNodePoolsService {
	return w.c.Container.Projects.Locations.Clusters.NodePools
}

// createGroup creates the node pool, unless its name is taken. GKE takes one size for all zones: what does not divide by them is added once
// the node pool exists.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.reader.desired()
	if err != nil {
		return err
	}
	cluster := w.memory.read.cluster
	if cluster == nil {
		return w.t.noCluster()
	}
	if w.memory.read.pool != nil {
		return nil // it is the pool's own: an earlier request has created it
	}
	if controlPlane := reported(cluster.CurrentMasterVersion); controlPlane.Known() && want.kubernetes.Compare(controlPlane) > 0 {
		return &cloud.Error{Kind: cloud.Conflict, Code: pool.ControlPlaneUpgradePending, Message: "Kubernetes " + want.kubernetes.String() +
			" is above the control plane, which runs " + controlPlane.String()}
	}
	body := want.created(w.t.name, s.Size/zones(want.pool, cluster))
	w.reader.forget()
	o, err := w.nodePools().Create(w.reader.clusterPath(), &container.CreateNodePoolRequest{NodePool: body}).Context(ctx).Do()
	err = w.began(o, err, desired{})
	if session.Exists(err) {
		return driverkit.Confirm(err, w.reader.readAgain(ctx), func() bool {
			is := w.memory.read.pool
			return is != nil && w.t.ownership(w.memory.read).Claim.Owned && is.Status != statusStopping
		})
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.made = w.now
	}
	return err
}

// created returns the node pool as it is created, with a number of machines in each zone.
func (w desired) created(name string, inZone int) *container.NodePool {
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
func (w *writer) updateGroup(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.reader.desired()
	if err != nil || len(want.drift) == 0 {
		return err
	}
	w.memory.rememberMachines(want, w.memory.read.machines())
	w.reader.forget()
	var o *container.Operation
	switch changed := want.drift.Together(); changed[0].Method {
	case request.SetAutoscaling:
		r := &container.SetNodePoolAutoscalingRequest{Autoscaling: request.Autoscaling(want.pool, is)}
		o, err = w.nodePools().SetAutoscaling(w.reader.path(), r).Context(ctx).Do()
	case request.SetManagement:
		r := &container.SetNodePoolManagementRequest{Management: want.pool.Management}
		o, err = w.nodePools().SetManagement(w.reader.path(), r).Context(ctx).Do()
	default:
		o, err = w.nodePools().Update(w.reader.path(), request.Request(changed, want.pool, is)).Context(ctx).Do()
	}
	return w.began(o, err, desired{})
}

// adopt writes the owner labels to the node pool and changes nothing else.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	is := w.memory.read.pool
	if is != nil && w.t.ownership(w.memory.read).Claim.Owned {
		return nil
	}
	if err := w.t.ownership(w.memory.read).Adoptable(w.reader.unowned()); err != nil {
		return err
	}
	labels := request.Labels(w.memory.read.labels(), template.OwnerLabels(w.t.Owner))
	w.reader.forget()
	o, err := w.nodePools().Update(w.reader.path(), &container.UpdateNodePoolRequest{
		Etag: is.Etag, ResourceLabels: &container.ResourceLabels{Labels: labels},
	}).Context(ctx).Do()
	return w.began(o, err, desired{})
}

// deleteGroup deletes the node pool with its machines.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if is := w.memory.read.pool; is == nil || is.Status == statusStopping {
		return nil
	}
	w.memory.made = w.now.Add(-visibleWithin)
	w.reader.forget()
	o, err := w.nodePools().Delete(w.reader.path()).Context(ctx).Do()
	if err = w.began(o, err, desired{}); session.Absent(err) {
		return nil
	}
	return err
}

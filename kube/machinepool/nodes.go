package machinepool

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

// nodeWatch is the name of this controller's watch on the Nodes of each workload cluster.
const nodeWatch = "machinepool-nodes"

// followNodes joins the pool's instances with the Nodes of the workload cluster and with its Machines, looks after those
// Nodes, and removes those of instances that are gone. A workload cluster that can't be asked is no error: connecting to it
// wakes the pool.
func (r *Reconciler) followNodes(ctx context.Context, p *pass) result {
	if p.facts.Instances == 0 {
		p.facts.Nodes = &status.Nodes{}
	}
	workload, found, outcome := r.findNodes(ctx, p)
	outcome = outcome.join(r.followMachines(ctx, p, found))
	p.judgeAll(found)
	if found == nil {
		return outcome
	}
	p.noteJoinedBefore(found)
	outcome = outcome.join(p.count(found)).join(r.syncNodes(ctx, p, workload, found))
	return outcome.join(r.deleteOrphanedNodes(ctx, p, workload, found))
}

// noteJoinedBefore keeps the names of the Nodes that are older than the MachinePool.
func (p *pass) noteJoinedBefore(found map[string]*corev1.Node) {
	p.joinedBefore = map[string]bool{}
	for _, node := range found {
		if !node.CreationTimestamp.IsZero() && node.CreationTimestamp.Before(&p.pool.CreationTimestamp) {
			p.joinedBefore[node.Name] = true
		}
	}
}

// findNodes finds the Nodes of the pool's instances; nil when the workload cluster can't be asked.
func (r *Reconciler) findNodes(ctx context.Context, p *pass) (client.Client, map[string]*corev1.Node, result) {
	workload, why, err := r.workload(ctx, p)
	if workload == nil {
		p.facts.NodesUnknown, p.facts.Passing = why, err == nil && r.passing(ctx, p)
		if p.facts.Passing {
			return nil, nil, again(connectionPause)
		}
		return nil, nil, failed(err)
	}
	found, err := nodes.ByProviderKeys(ctx, workload, nodes.Keys(p.pool.Spec.ProviderIDList))
	if err != nil {
		p.facts.NodesUnknown = "The nodes of Cluster " + p.pool.Spec.ClusterName + " can't be read"
		return nil, nil, failed(err)
	}
	return workload, found, goOn()
}

// workload is a client of the pool's workload cluster, and a watch on its Nodes; or why there is none.
func (r *Reconciler) workload(ctx context.Context, p *pass) (client.Client, string, error) {
	switch {
	case p.cluster == nil:
		return nil, "Cluster " + p.pool.Spec.ClusterName + " does not exist", nil
	case !conditions.IsTrue(p.cluster, clusterv1.ClusterControlPlaneInitializedCondition):
		return nil, "Waiting for the control plane of Cluster " + p.pool.Spec.ClusterName + " to be initialized", nil
	}
	down := "The connection to Cluster " + p.pool.Spec.ClusterName + " is down"
	c, err := r.ClusterCache.GetClient(ctx, p.clusterKey())
	if errors.Is(err, clustercache.ErrClusterNotConnected) {
		return nil, down, nil
	}
	if err != nil {
		return nil, down, fmt.Errorf("connect to Cluster %s: %w", p.clusterKey(), err)
	}
	err = nodes.Watch(ctx, r.ClusterCache, p.clusterKey(), nodes.WatchOptions{Name: nodeWatch, Controller: r.nodeEvents, Reader: r.Client})
	return c, "", err
}

const (
	// connectionGrace is how long a workload cluster may be out of reach before what was known of its nodes counts as
	// unknown. The ClusterCache itself takes a minute to give a connection up.
	connectionGrace = 2 * time.Minute
	// connectionTries is how often the ClusterCache must have failed to connect where it never has.
	connectionTries = 5
	// connectionPause is when to look again while neither has passed.
	connectionPause = 10 * time.Second
)

// passing says that the connection to a workload cluster that was there is missing for a moment only.
func (r *Reconciler) passing(ctx context.Context, p *pass) bool {
	if p.cluster == nil || !conditions.IsTrue(p.cluster, clusterv1.ClusterControlPlaneInitializedCondition) {
		return false
	}
	state := r.ClusterCache.GetHealthCheckingState(ctx, p.clusterKey())
	return untried(state) || p.now.Sub(state.LastProbeSuccessTime) < connectionGrace
}

// untried says that the controllers have not tried often enough to connect since they started.
func untried(state clustercache.HealthCheckingState) bool {
	return state.LastProbeSuccessTime.IsZero() && state.ConsecutiveFailures < connectionTries
}

package machinepool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// followNodes joins the pool's instances with the Nodes of the workload cluster, looks after those Nodes, and removes
// those of instances that are gone. A workload cluster that can't be asked is no error: connecting to it wakes the pool.
func (r *Reconciler) followNodes(ctx context.Context, p *pass) result {
	if p.facts.Instances == 0 {
		p.facts.Nodes = &status.Nodes{}
	}
	workload, why, err := r.workload(ctx, p)
	if workload == nil {
		p.facts.NodesUnknown, p.facts.Passing = why, err == nil && r.passing(ctx, p)
		if p.facts.Passing {
			return again(connectionPause)
		}
		return failed(err)
	}
	found, err := nodes.ByProviderKeys(ctx, workload, nodes.Keys(p.pool.Spec.ProviderIDList))
	if err != nil {
		p.facts.NodesUnknown = "The nodes of Cluster " + p.pool.Spec.ClusterName + " can't be read"
		return failed(err)
	}
	outcome := p.count(found)
	if p.machines {
		return outcome
	}
	return outcome.join(r.tend(ctx, p, workload, found)).join(r.retire(ctx, p, workload, found))
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

// count says what the Nodes found mean, and when the next of them becomes available by time alone.
func (p *pass) count(found map[string]*corev1.Node) result {
	settle := time.Duration(0)
	if s := p.pool.Spec.Template.Spec.MinReadySeconds; s != nil {
		settle = time.Duration(*s) * time.Second
	}
	counted, next := &status.Nodes{}, time.Duration(0)
	versions := map[string]int32{}
	for _, id := range distinct(p.pool.Spec.ProviderIDList) {
		node := found[meaning(id)]
		if node == nil {
			counted.Missing = append(counted.Missing, id)
			continue
		}
		counted.Refs = append(counted.Refs, corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID})
		if v := node.Status.NodeInfo.KubeletVersion; v != "" {
			versions[v]++
		}
		ready, since := nodes.Ready(node)
		left := since.Add(settle).Sub(p.now)
		switch {
		case !ready:
			counted.NotReady = append(counted.NotReady, node.Name+unready(node))
		case left > 0:
			counted.Ready++
			counted.Settling = append(counted.Settling, node.Name)
			next = earliest(next, left)
		default:
			counted.Ready++
			counted.Available++
		}
	}
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		counted.Versions = append(counted.Versions, clusterv1.StatusVersion{Version: v, Replicas: versions[v]})
	}
	p.facts.Nodes = counted
	return again(next)
}

// unready is the reason that a Node gives for not being ready.
func unready(node *corev1.Node) string {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Reason != "" {
			return " (" + c.Reason + ")"
		}
	}
	return ""
}

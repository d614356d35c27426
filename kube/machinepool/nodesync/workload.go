package nodesync

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/kubeconfig"
	"github.com/muster-project/muster/kube/nodes"
)

// WatchName is the name of the controller's watch on the Nodes of each workload cluster.
const WatchName = "machinepool-nodes"

const (
	// connectionGrace is the time after which the last known state of an unreachable workload cluster's Nodes counts as unknown. The
	// ClusterCache itself gives up a connection after a minute.
	connectionGrace = 2 * time.Minute
	// ConnectionTries is the number of failed attempts after which a cluster that was never connected counts as unreachable.
	ConnectionTries = 5
	// ConnectionPause is the time until the connection is checked again while neither limit has been reached.
	ConnectionPause = 10 * time.Second
)

// Connector connects to workload clusters.
type Connector struct {
	Clusters clustercache.ClusterCache
	// NodeEvents is the controller whose pools are woken by changes of Nodes; nil watches no Nodes.
	NodeEvents clustercache.SourceWatcher[ctrl.Request]
	// Pools reads MachinePools from the cache of the management cluster.
	Pools client.Reader
}

// FoundNodes are the Nodes of a pool's instances, as they were read.
type FoundNodes struct {
	// Client of the workload cluster, nil if the Nodes could not be read.
	Client client.Client
	// Found are the Nodes by instance key; nil if they could not be read.
	Found map[string]*corev1.Node
	// Unknown is the reason why the Nodes could not be read.
	Unknown string
	// Interrupted is true if the connection has been missing for so short a time that the last known state still counts.
	Interrupted bool
}

// Find finds the Nodes of a pool's instances. An unreachable workload cluster is no error: the pool is woken when it is connected. A
// cluster of nil is one that does not exist.
func (c Connector) Find(ctx context.Context, pool *clusterv1.MachinePool, cluster *clusterv1.Cluster,
	now time.Time) (FoundNodes, control.Result) {
	workload, unknown, err := c.Connect(ctx, pool, cluster)
	if workload == nil {
		found := FoundNodes{Unknown: unknown, Interrupted: err == nil && c.interrupted(ctx, cluster, now)}
		if found.Interrupted {
			return found, control.RequeueAfter(ConnectionPause)
		}
		return found, control.Failed(err)
	}
	found, err := nodes.ByProviderKeys(ctx, workload, nodes.Keys(pool.Spec.ProviderIDList))
	if err != nil {
		return FoundNodes{Unknown: "The nodes of Cluster " + pool.Spec.ClusterName + " can't be read"}, control.Failed(err)
	}
	return FoundNodes{Client: workload, Found: found}, control.Continue()
}

// Connect returns a client of the pool's workload cluster, whose Nodes are watched from then on, or the reason why there is none.
func (c Connector) Connect(ctx context.Context, pool *clusterv1.MachinePool, cluster *clusterv1.Cluster) (client.Client, string, error) {
	name := pool.Spec.ClusterName
	switch {
	case cluster == nil:
		return nil, "Cluster " + name + " does not exist", nil
	case !initialized(cluster):
		return nil, "Waiting for the control plane of Cluster " + name + " to be initialized", nil
	}
	key, down := client.ObjectKeyFromObject(cluster), "The connection to Cluster "+name+" is down"
	workload, err := c.Clusters.GetClient(ctx, key)
	if refused := new(kubeconfig.RefusedError); errors.As(err, &refused) {
		down += ": " + refused.Error()
	}
	if errors.Is(err, clustercache.ErrClusterNotConnected) {
		return nil, down, nil
	}
	if err != nil {
		return nil, down, fmt.Errorf("connect to Cluster %s: %w", key, err)
	}
	err = nodes.Watch(ctx, c.Clusters, key, nodes.WatchOptions{Name: WatchName, Controller: c.NodeEvents, Reader: c.Pools})
	return workload, "", err
}

// interrupted reports whether an existing connection to a workload cluster has been missing for a short time only.
func (c Connector) interrupted(ctx context.Context, cluster *clusterv1.Cluster, now time.Time) bool {
	if cluster == nil || !initialized(cluster) {
		return false
	}
	state := c.Clusters.GetHealthCheckingState(ctx, client.ObjectKeyFromObject(cluster))
	return Untried(state) || now.Sub(state.LastProbeSuccessTime) < connectionGrace
}

// Untried reports whether the controllers have not tried often enough to connect since they started.
func Untried(state clustercache.HealthCheckingState) bool {
	return state.LastProbeSuccessTime.IsZero() && state.ConsecutiveFailures < ConnectionTries
}

func initialized(cluster *clusterv1.Cluster) bool {
	return conditions.IsTrue(cluster, clusterv1.ClusterControlPlaneInitializedCondition)
}

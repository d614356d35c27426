package workload

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Connection is a manager's ClusterCache for the one workload cluster that there is.
type Connection struct {
	clustercache.ClusterCache
	Cluster *Cluster
	// Key is that of the Cluster object.
	Key client.ObjectKey
	// Cached reads what the manager knows, Live asks the API server itself.
	Cached, Live client.Client
}

// down reports whether the connection was given up.
func (c *Connection) down() bool {
	return c.Cluster.Outage.Away() && time.Since(c.Cluster.Outage.Since()) > Noticed
}

// GetClient gives the client while there is a connection.
func (c *Connection) GetClient(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
	if cluster != c.Key || c.down() {
		return nil, clustercache.ErrClusterNotConnected
	}
	return c.Cached, nil
}

// GetReader is GetClient.
func (c *Connection) GetReader(ctx context.Context, cluster client.ObjectKey) (client.Reader, error) {
	return c.GetClient(ctx, cluster)
}

// GetUncachedClient gives one that asks the server itself.
func (c *Connection) GetUncachedClient(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
	if cluster != c.Key || c.down() {
		return nil, clustercache.ErrClusterNotConnected
	}
	return c.Live, nil
}

// Watch does nothing: the process delivers every watched event to its controllers.
func (c *Connection) Watch(context.Context, client.ObjectKey, clustercache.Watcher) error { return nil }

// GetHealthCheckingState returns the state that periodic probes would have recorded.
func (c *Connection) GetHealthCheckingState(context.Context, client.ObjectKey) clustercache.HealthCheckingState {
	now := time.Now()
	if c.Cluster.Outage.Away() {
		return clustercache.HealthCheckingState{LastProbeTime: now, LastProbeSuccessTime: c.Cluster.Outage.Since(),
			ConsecutiveFailures: 1 + int(now.Sub(c.Cluster.Outage.Since())/(10*time.Second))}
	}
	return clustercache.HealthCheckingState{LastProbeTime: now, LastProbeSuccessTime: now}
}

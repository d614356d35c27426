package preview

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/muster-project/muster/kube/kubeconfig"
	"github.com/muster-project/muster/kube/nodes"
)

// Connect makes a client of one workload cluster.
type Connect func(ctx context.Context, cluster client.ObjectKey) (client.Client, error)

// connectTimeout bounds each request to a workload cluster, which may well be out of reach from where a plan is made.
const connectTimeout = 10 * time.Second

// ConnectBySecret connects by the kubeconfig that the management cluster keeps of every workload cluster.
func ConnectBySecret(management client.Client) Connect {
	return func(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
		config, err := kubeconfig.Config(ctx, management, cluster)
		if err != nil {
			return nil, err
		}
		config.Timeout = connectTimeout
		return client.New(config, client.Options{Scheme: management.Scheme()})
	}
}

// NewClusters is a cache of workload clusters for one plan: each is connected to once, read once, and never written to.
func NewClusters(connect Connect) clustercache.ClusterCache {
	return &clusters{connect: connect, known: map[client.ObjectKey]answer[client.Client]{}}
}

type clusters struct {
	connect Connect
	mu      sync.Mutex
	known   map[client.ObjectKey]answer[client.Client]
}

var errNoWatch = errors.New("a plan watches nothing")

// GetClient connects, the first time.
func (c *clusters) GetClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.known[cluster]
	if !ok {
		found.is, found.err = c.reach(ctx, cluster)
		c.known[cluster] = found
	}
	return found.is, found.err
}

// reach connects, and finds out whether the cluster answers by reading its nodes, which are needed anyway.
func (c *clusters) reach(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	made, err := c.connect(ctx, cluster)
	if err != nil {
		return nil, err
	}
	once := NewClient(ReadOnce(made), nil, nodes.Indexes())
	if err := once.List(ctx, &corev1.NodeList{}); err != nil {
		return nil, fmt.Errorf("read the nodes of Cluster %s: %w", cluster, err)
	}
	return once, nil
}

// GetReader is GetClient.
func (c *clusters) GetReader(ctx context.Context, cluster client.ObjectKey) (client.Reader, error) {
	return c.GetClient(ctx, cluster)
}

// GetUncachedClient is GetClient.
func (c *clusters) GetUncachedClient(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	return c.GetClient(ctx, cluster)
}

// GetRESTConfig is not to be had.
func (c *clusters) GetRESTConfig(context.Context, client.ObjectKey) (*rest.Config, error) {
	return nil, errNoWatch
}

// Watch is not to be had.
func (c *clusters) Watch(context.Context, client.ObjectKey, clustercache.Watcher) error {
	return errNoWatch
}

// GetHealthCheckingState returns the state of a cluster that was never probed.
func (c *clusters) GetHealthCheckingState(context.Context, client.ObjectKey) clustercache.HealthCheckingState {
	return clustercache.HealthCheckingState{}
}

// GetClusterSource has nothing to tell.
func (c *clusters) GetClusterSource(string,
	func(context.Context, client.Object) []ctrl.Request, ...clustercache.GetClusterSourceOption) source.Source {
	return nil
}

// Package workload is the workload cluster of a pool: whether it can be reached, the nodes in it, and whether they are drained.
package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/kube/kubeconfig"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

const (
	// unreachableGrace is the time after which a pool that is being deleted is no longer drained while its workload cluster is unreachable.
	unreachableGrace = 5 * time.Minute
	// connectGrace bounds the wait for the first connection to a workload cluster after a start of the process, and connectRetry is the time
	// between two attempts; the cache of clusters enqueues the pools as soon as it has connected.
	connectGrace, connectRetry = 30 * time.Second, 2 * time.Second
)

// The reasons for which nodes are not drained.
const (
	// ReasonClusterDeleted: the cluster is deleted as a whole.
	ReasonClusterDeleted = "ClusterDeleted"
	// ReasonNoCluster: the cluster is gone, or never was. Cluster API's own controllers have the same reason for it.
	ReasonNoCluster      = "ClusterDoesNotExist"
	reasonUnreachable    = "ConnectionDown"
	reasonNoControlPlane = "ControlPlaneNotInitialized"
)

// errNoCluster is the error of a pool without a workload cluster.
var errNoCluster = errors.New("the pool's Cluster does not exist")

// Clusters are the workload clusters of the pools of one controller. It is safe for concurrent use.
type Clusters struct {
	// ForeignHolds are the marks of other tools that keep the machines of Nodes from being replaced.
	ForeignHolds []nodes.Mark

	cache      clustercache.ClusterCache
	management client.Client
	now        func() time.Time
	drains     *drain.Memory
	begin      sync.Once
	began      time.Time
}

// NewClusters returns the workload clusters in a cache. Drains follow the rules in the management cluster.
func NewClusters(cache clustercache.ClusterCache, management client.Client, now func() time.Time) *Clusters {
	return &Clusters{cache: cache, management: management, now: now, drains: drain.NewMemory()}
}

// Pool is a pool whose workload cluster is used.
type Pool struct {
	// Object is the infrastructure object.
	Object client.Object
	// MachinePool and Cluster are nil if they do not exist; ClusterKey is known all the same.
	MachinePool *clusterv1.MachinePool
	Cluster     *clusterv1.Cluster
	ClusterKey  client.ObjectKey
	// ForceAfter is the time after which the drain of a machine that a rollout replaces ends, whatever is left; zero is none.
	ForceAfter time.Duration
}

func (p Pool) deleting() bool { return !p.Object.GetDeletionTimestamp().IsZero() }

// Client returns the cached client of the pool's workload cluster.
func (c *Clusters) Client(ctx context.Context, p Pool) (client.Client, error) {
	if p.Cluster == nil {
		return nil, errNoCluster
	}
	remote, err := c.cache.GetClient(ctx, p.ClusterKey)
	if refused := new(kubeconfig.RefusedError); errors.As(err, &refused) {
		return nil, &engine.NodesRefusedError{Message: refused.Error()}
	}
	if err != nil {
		return nil, fmt.Errorf("workload cluster %s: %w", p.ClusterKey, err)
	}
	return remote, nil
}

// Live returns the client of the pool's workload cluster without a cache. The cluster must be in reach (Client).
func (c *Clusters) Live(ctx context.Context, p Pool) (client.Client, error) {
	live, err := c.cache.GetUncachedClient(ctx, p.ClusterKey)
	if err != nil {
		return nil, fmt.Errorf("workload cluster %s: %w", p.ClusterKey, err)
	}
	return live, nil
}

// Nodes returns the nodes of the pool's workload cluster for one pass of the engine.
func (c *Clusters) Nodes(ctx context.Context, p Pool) engine.Nodes {
	remote, err := c.Client(ctx, p)
	if err != nil {
		return unreachable{err}
	}
	live, err := c.cache.GetUncachedClient(ctx, p.ClusterKey)
	if err != nil {
		return unreachable{err}
	}
	return &drain.Workload{Remote: remote, Live: live, Management: c.management, Cluster: p.Cluster, Machine: p.machine(),
		ForceAfter: p.ForceAfter, ForeignHolds: c.ForeignHolds, Now: c.now(), Memory: c.drains}
}

// Marked returns the provider keys of the instances of a list of provider IDs whose Node is marked to go before others, by a user or by the
// cluster-autoscaler. While the workload cluster cannot be reached there are none: nothing is removed then anyway.
func (c *Clusters) Marked(ctx context.Context, p Pool, providerIDs []string) (map[string]bool, error) {
	remote, err := c.Client(ctx, p)
	if err != nil {
		return nil, nil
	}
	found, err := nodes.ByProviderKeys(ctx, remote, nodes.Keys(providerIDs))
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	marked := map[string]bool{}
	for key, node := range found {
		if nodes.Marked(node) {
			marked[key] = true
		}
	}
	return marked, nil
}

// machine returns a Machine that represents every machine of the pool where drain rules select by labels, and where annotations exclude
// machines from drains: it has the labels that a Machine of the pool would have.
func (p Pool) machine() *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: p.Object.GetNamespace(), Name: p.Object.GetName()}}
	if p.MachinePool != nil {
		m.Labels = maps.Clone(p.MachinePool.Spec.Template.Labels)
		m.Annotations = p.MachinePool.Spec.Template.Annotations
		m.Spec = p.MachinePool.Spec.Template.Spec
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[clusterv1.ClusterNameLabel] = p.ClusterKey.Name
		m.Labels[clusterv1.MachinePoolNameLabel] = format.MustFormatValue(p.MachinePool.Name)
	}
	return m
}

// unreachable is a workload cluster that cannot be reached.
type unreachable struct{ err error }

// Find returns why the nodes are unknown.
func (u unreachable) Find(context.Context, []string) (map[string]pool.Node, error) { return nil, u.err }

// FindUncached returns why the nodes are unknown.
func (u unreachable) FindUncached(context.Context, []string) (map[string]pool.Node, error) {
	return nil, u.err
}

// Evictable returns why the pods are unknown.
func (u unreachable) Evictable(context.Context, []string) (map[string]pool.Evictable, error) {
	return nil, u.err
}

// PodHolds returns why the pods are unknown.
func (u unreachable) PodHolds(context.Context, []string) (map[string]pool.PodHold, error) {
	return nil, u.err
}

// Start returns why no step can start.
func (u unreachable) Start(_ context.Context, s pool.Step) error {
	return fmt.Errorf("%s: %w", s.Kind, u.err)
}

// NoDrain returns why nodes are not drained: the cluster is deleted as a whole, or a pool that is being deleted has no cluster in reach. It
// waits for a cluster that is out of reach for a moment.
func (c *Clusters) NoDrain(ctx context.Context, p Pool) *pool.Cause {
	switch {
	case p.Cluster == nil && p.deleting():
		return &pool.Cause{Reason: ReasonNoCluster, Message: fmt.Sprintf("Cluster %s does not exist, so there are no nodes to drain",
			p.ClusterKey)}
	case p.Cluster == nil:
		return nil
	case !p.Cluster.DeletionTimestamp.IsZero():
		return &pool.Cause{Reason: ReasonClusterDeleted, Message: fmt.Sprintf("Cluster %s is being deleted as a whole", p.ClusterKey)}
	case !p.deleting():
		return nil
	case !initialized(p.Cluster):
		return &pool.Cause{Reason: reasonNoControlPlane, Message: fmt.Sprintf(
			"the control plane of Cluster %s was never initialized, so there are no nodes to drain", p.ClusterKey)}
	}
	if _, err := c.Client(ctx, p); err == nil || c.now().Sub(c.lastReached(ctx, p)) < unreachableGrace {
		return nil
	}
	return &pool.Cause{Reason: reasonUnreachable, Message: fmt.Sprintf(
		"the API server of Cluster %s has been out of reach for more than %s, so no node can be drained", p.ClusterKey, unreachableGrace)}
}

// Connecting returns how long to wait for the first connection of this process to the workload cluster; zero if there is nothing to wait
// for. Without it, every start of the process would report the nodes of all pools as unknown for a second.
func (c *Clusters) Connecting(ctx context.Context, p Pool) time.Duration {
	if p.Cluster == nil || !initialized(p.Cluster) {
		return 0
	}
	if _, err := c.Client(ctx, p); err == nil {
		return 0
	}
	tried := !c.cache.GetHealthCheckingState(ctx, p.ClusterKey).LastProbeTime.IsZero()
	if tried || c.now().Sub(c.firstPass()) >= connectGrace {
		return 0
	}
	return connectRetry
}

func initialized(cluster *clusterv1.Cluster) bool {
	return ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false)
}

// firstPass returns when the first pass of this process ran: a process that waits to become the leader has none.
func (c *Clusters) firstPass() time.Time {
	c.begin.Do(func() { c.began = c.now() })
	return c.began
}

// lastReached returns the latest time at which the workload cluster may have been in reach: not before the deletion began and the process
// started, because neither has waited for it earlier.
func (c *Clusters) lastReached(ctx context.Context, p Pool) time.Time {
	last := c.cache.GetHealthCheckingState(ctx, p.ClusterKey).LastProbeSuccessTime
	for _, t := range []time.Time{c.firstPass(), p.Object.GetDeletionTimestamp().Time} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

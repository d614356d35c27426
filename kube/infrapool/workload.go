package infrapool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/pool"
)

// errNoCluster says that there is no workload cluster to ask.
var errNoCluster = errors.New("the pool's Cluster does not exist")

// remote is the client of the pool's workload cluster.
func (r *Reconciler[O, S]) remote(ctx context.Context, s *scope[O]) (client.Client, error) {
	if s.cluster == nil {
		return nil, errNoCluster
	}
	c, err := r.ClusterCache.GetClient(ctx, client.ObjectKeyFromObject(s.cluster))
	if err != nil {
		return nil, fmt.Errorf("workload cluster %s: %w", s.clusterKey(), err)
	}
	return c, nil
}

// workload is the pool's workload cluster for one pass of the engine.
func (r *Reconciler[O, S]) workload(ctx context.Context, s *scope[O]) engine.Nodes {
	remote, err := r.remote(ctx, s)
	if err != nil {
		return away{err}
	}
	live, err := r.ClusterCache.GetUncachedClient(ctx, client.ObjectKeyFromObject(s.cluster))
	if err != nil {
		return away{err}
	}
	return &drain.Workload{Remote: remote, Live: live, Management: r.Client, Cluster: s.cluster, Machine: standIn(s), Now: r.Now(), Memory: r.drains}
}

// standIn is a Machine that stands for every machine of the pool where drain rules select by labels, and where annotations take
// machines out of drains: it has the labels that a Machine of the pool would have.
func standIn[O Object](s *scope[O]) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: s.object.GetNamespace(), Name: s.object.GetName()}}
	if s.pool != nil {
		m.Labels = maps.Clone(s.pool.Spec.Template.Labels)
		m.Annotations = s.pool.Spec.Template.Annotations
		m.Spec = s.pool.Spec.Template.Spec
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[clusterv1.ClusterNameLabel] = s.clusterName()
		m.Labels[clusterv1.MachinePoolNameLabel] = format.MustFormatValue(s.pool.Name)
	}
	return m
}

// away is a workload cluster that can't be asked.
type away struct{ err error }

// Find says why nothing is known.
func (a away) Find(context.Context, []string) (map[string]pool.Node, error) { return nil, a.err }

// FindUncached says why nothing is known.
func (a away) FindUncached(context.Context, []string) (map[string]pool.Node, error) {
	return nil, a.err
}

// Empty reports why nothing is known.
func (a away) Empty(context.Context, []string) (map[string]bool, error) { return nil, a.err }

// Start says why nothing can be begun.
func (a away) Start(_ context.Context, s pool.Step) error { return fmt.Errorf("%s: %w", s.Kind, a.err) }

// noDrain says why nodes go undrained: their cluster goes as a whole, or a pool that is being deleted has no cluster that
// could be asked. A cluster that is merely away for a moment is waited for.
func (r *Reconciler[O, S]) noDrain(ctx context.Context, s *scope[O]) *pool.Cause {
	switch {
	case s.cluster == nil && s.deleting():
		return &pool.Cause{Reason: reasonClusterGoing, Message: fmt.Sprintf("Cluster %s does not exist, so there are no nodes to drain", s.clusterKey())}
	case s.cluster == nil:
		return nil
	case !s.cluster.DeletionTimestamp.IsZero():
		return &pool.Cause{Reason: reasonClusterGoing, Message: fmt.Sprintf("Cluster %s is being deleted as a whole", s.clusterKey())}
	case !s.deleting():
		return nil
	case !ptr.Deref(s.cluster.Status.Initialization.ControlPlaneInitialized, false):
		return &pool.Cause{Reason: reasonNoControlPlane, Message: fmt.Sprintf(
			"the control plane of Cluster %s was never initialized, so there are no nodes to drain", s.clusterKey())}
	}
	if _, err := r.remote(ctx, s); err == nil || r.Now().Sub(r.lastReached(ctx, s)) < unreachableGrace {
		return nil
	}
	return &pool.Cause{Reason: reasonClusterAway, Message: fmt.Sprintf(
		"the API server of Cluster %s has been out of reach for more than %s, so no node can be drained", s.clusterKey(), unreachableGrace)}
}

// connecting says how long to wait for the first connection to the workload cluster that this process makes, zero when
// there is nothing to wait for. Without that, every start of the process would say of all pools, for a second, that
// nothing is known about their nodes.
func (r *Reconciler[O, S]) connecting(ctx context.Context, s *scope[O]) time.Duration {
	if s.cluster == nil || !ptr.Deref(s.cluster.Status.Initialization.ControlPlaneInitialized, false) {
		return 0
	}
	if _, err := r.remote(ctx, s); err == nil {
		return 0
	}
	tried := !r.ClusterCache.GetHealthCheckingState(ctx, client.ObjectKeyFromObject(s.cluster)).LastProbeTime.IsZero()
	if tried || r.Now().Sub(r.firstPass()) >= connectGrace {
		return 0
	}
	return connectRetry
}

// firstPass is when the first pass of this process ran. A process that waits to become the leader has not begun.
func (r *Reconciler[O, S]) firstPass() time.Time {
	r.begin.Do(func() { r.began = r.Now() })
	return r.began
}

// lastReached is the latest moment at which the workload cluster may have been in reach: no deletion and no process has
// waited for it before it began.
func (r *Reconciler[O, S]) lastReached(ctx context.Context, s *scope[O]) time.Time {
	last := r.ClusterCache.GetHealthCheckingState(ctx, client.ObjectKeyFromObject(s.cluster)).LastProbeSuccessTime
	for _, t := range []time.Time{r.firstPass(), s.object.GetDeletionTimestamp().Time} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

package nodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/muster-project/muster/cloud"
)

// WatchOptions configures a watch of the Nodes of a workload cluster.
type WatchOptions struct {
	// Name of the watch, unique among all watches on one cluster.
	Name string
	// Controller that is woken.
	Controller clustercache.SourceWatcher[ctrl.Request]
	// Reader of the management cluster, with the index of AddIndexes.
	Reader client.Reader
	// Requests returns the requests to enqueue when a Node of the pool changes; nil enqueues the MachinePool itself.
	Requests func(pool *clusterv1.MachinePool) []ctrl.Request
}

// Watch wakes a controller for the pools of every Node of a cluster that changes in a way that matters. It may be called
// in every pass: a watch of one name is added once per connection. Without a connection it does nothing, for the
// ClusterCache wakes its sources when it connects.
func Watch(ctx context.Context, cc clustercache.ClusterCache, cluster client.ObjectKey, o WatchOptions) error {
	err := cc.Watch(ctx, cluster, clustercache.NewWatcher(clustercache.WatcherOptions{
		Name:         o.Name,
		Watcher:      o.Controller,
		Kind:         &corev1.Node{},
		EventHandler: handler.EnqueueRequestsFromMapFunc(Mapper(o.Reader, cluster, o.Requests)),
		Predicates:   []predicate.TypedPredicate[client.Object]{Changed()},
	}))
	if err != nil && !errors.Is(err, clustercache.ErrClusterNotConnected) {
		return fmt.Errorf("watch the nodes of cluster %s: %w", cluster, err)
	}
	return nil
}

// Mapper maps a Node of one cluster to the requests of its pools, and of no other's: those that list its provider ID,
// and the one that it is annotated to belong to, whose list it may have left.
func Mapper(r client.Reader, cluster client.ObjectKey, requests func(*clusterv1.MachinePool) []ctrl.Request) handler.MapFunc {
	if requests == nil {
		requests = func(pool *clusterv1.MachinePool) []ctrl.Request {
			return []ctrl.Request{{NamespacedName: client.ObjectKeyFromObject(pool)}}
		}
	}
	return func(ctx context.Context, o client.Object) []ctrl.Request {
		node, ok := o.(*corev1.Node)
		if !ok {
			return nil
		}
		var all []ctrl.Request
		for _, pool := range PoolsOf(ctx, r, cluster, node) {
			for _, request := range requests(pool) {
				if !slices.Contains(all, request) {
					all = append(all, request)
				}
			}
		}
		return all
	}
}

// PoolsOf are the MachinePools of a cluster that a Node concerns. A look-up that fails finds none: the periodic resync
// makes up for a lost event. The pools are shared with the cache and must not be changed.
func PoolsOf(ctx context.Context, r client.Reader, cluster client.ObjectKey, node *corev1.Node) []*clusterv1.MachinePool {
	var pools []*clusterv1.MachinePool
	if key := cloud.ProviderKey(node.Spec.ProviderID); key != "" {
		if found, err := Listing(ctx, r, cluster, key); err == nil {
			pools = found
		}
	}
	owner, ok := OwnerOf(node)
	if !ok || owner.Namespace != cluster.Namespace {
		return pools
	}
	for _, pool := range pools {
		if pool.Name == owner.Name {
			return pools
		}
	}
	pool := &clusterv1.MachinePool{}
	if err := r.Get(ctx, owner, pool); err == nil && pool.Spec.ClusterName == cluster.Name {
		pools = append(pools, pool)
	}
	return pools
}

// Listing are the MachinePools of a cluster that list an instance, which is given by its provider key. They are shared with the
// cache and must not be changed.
func Listing(ctx context.Context, r client.Reader, cluster client.ObjectKey, key string) ([]*clusterv1.MachinePool, error) {
	list := &clusterv1.MachinePoolList{}
	if err := r.List(ctx, list, client.InNamespace(cluster.Namespace), client.MatchingFields{PoolField: poolKey(cluster, key)},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("look up MachinePools that list %s: %w", key, err)
	}
	pools := make([]*clusterv1.MachinePool, 0, len(list.Items))
	for i := range list.Items {
		pools = append(pools, &list.Items[i])
	}
	return pools, nil
}

// Changed passes the events of a Node that a pool cares for: kubelets write heartbeats and image lists far more often.
func Changed() predicate.TypedPredicate[client.Object] {
	return predicate.TypedFuncs[client.Object]{
		UpdateFunc: func(e event.TypedUpdateEvent[client.Object]) bool {
			before, ok := e.ObjectOld.(*corev1.Node)
			if !ok {
				return false
			}
			after, ok := e.ObjectNew.(*corev1.Node)
			if !ok {
				return false
			}
			return !same(before, after)
		},
	}
}

func same(a, b *corev1.Node) bool {
	aReady, aSince := Ready(a)
	bReady, bSince := Ready(b)
	return a.UID == b.UID && a.Spec.ProviderID == b.Spec.ProviderID && a.Spec.Unschedulable == b.Spec.Unschedulable &&
		aReady == bReady && aSince.Equal(bSince) &&
		a.Status.NodeInfo.KubeletVersion == b.Status.NodeInfo.KubeletVersion &&
		a.DeletionTimestamp.Equal(b.DeletionTimestamp) &&
		maps.Equal(a.Annotations, b.Annotations) && maps.Equal(a.Labels, b.Labels) &&
		slices.EqualFunc(a.Spec.Taints, b.Spec.Taints, func(x, y corev1.Taint) bool { return x.MatchTaint(&y) && x.Value == y.Value })
}

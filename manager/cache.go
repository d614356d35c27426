package manager

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	coresetup "sigs.k8s.io/cluster-api/core/setup"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
)

// clusterCacheOptions are cluster-api's own, with the indexes that find a pool's nodes, with nodes cached without what
// nobody reads, and with everything about pods read live: that is needed only while a node is drained.
func clusterCacheOptions(secrets client.Reader, o Options) clustercache.Options {
	caching := coresetup.ClusterCacheCacheOptions()
	caching.Indexes = append(caching.Indexes, nodes.Indexes()...)
	caching.ByObject = map[client.Object]cache.ByObject{&corev1.Node{}: {Transform: slimNode}}
	clients := coresetup.ClusterCacheClientOptions(name, o.ClusterCacheQPS, o.ClusterCacheBurst)
	clients.Cache.DisableFor = append(clients.Cache.DisableFor, &policyv1.PodDisruptionBudget{})
	return clustercache.Options{SecretClient: secrets, Cache: caching, Client: clients, WatchFilterValue: o.WatchFilter}
}

// slimNode drops from a node that is cached what is large and not read: managed fields and the list of images.
func slimNode(o any) (any, error) {
	node, ok := o.(*corev1.Node)
	if !ok {
		return nil, fmt.Errorf("want a Node to cache, got %T", o)
	}
	node.ManagedFields = nil
	node.Status.Images = nil
	return node, nil
}

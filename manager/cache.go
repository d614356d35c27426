package manager

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	coresetup "sigs.k8s.io/cluster-api/core/setup"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
)

// clusterCacheOptions are cluster-api's own, with the indexes that find a pool's nodes, with nodes cached without what
// is not read, and with everything about pods read live: that is needed only while a node is drained.
func clusterCacheOptions(secrets client.Reader, o Options) clustercache.Options {
	caching := coresetup.ClusterCacheCacheOptions()
	caching.Indexes = append(caching.Indexes, nodes.Indexes()...)
	caching.ByObject = map[client.Object]cache.ByObject{&corev1.Node{}: {Transform: slimNode}}
	clients := coresetup.ClusterCacheClientOptions(name, o.ClusterCacheQPS, o.ClusterCacheBurst)
	clients.Cache.DisableFor = append(clients.Cache.DisableFor, &policyv1.PodDisruptionBudget{})
	return clustercache.Options{SecretClient: secrets, Cache: caching, Client: clients, WatchFilterValue: o.WatchFilter}
}

// machinesOfPools are the Machines that a cache keeps when no controller looks at others: there may be many thousands of
// those. One that has lost its label is read live by the controller of pools, which labels it again.
func machinesOfPools() cache.ByObject {
	exists := metav1.LabelSelectorRequirement{Key: clusterv1.MachinePoolNameLabel, Operator: metav1.LabelSelectorOpExists}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{exists}})
	if err != nil {
		selector = labels.Everything()
	}
	return cache.ByObject{Label: selector}
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

// watchIdentitySecrets has all secrets of the namespace cached, and watched, in which those of identities lie; elsewhere it stays
// at those of clusters. What is dropped of them stays dropped: their data is read live.
func watchIdentitySecrets(caching cache.Options, o Options) {
	for object, by := range caching.ByObject {
		if _, ok := object.(*corev1.Secret); !ok {
			continue
		}
		elsewhere := o.Namespace
		if elsewhere == "" {
			elsewhere = cache.AllNamespaces
		}
		by.Namespaces = map[string]cache.Config{
			elsewhere:           {LabelSelector: by.Label},
			o.IdentityNamespace: {LabelSelector: labels.Everything()},
		}
		by.Label = nil
		caching.ByObject[object] = by
	}
}

package controllers

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const (
	// collectorResync is the interval after which the garbage collector discovers new kinds. Upstream's 30 s would leave the children of a
	// newly installed kind without garbage collection for that long.
	collectorResync = 5 * time.Second
	// collectorSyncLimit bounds the wait of the collector for the caches of all kinds. After that it starts with those that are synced.
	collectorSyncLimit = 30 * time.Second
	// namespaceResync is the interval of a full resync of namespaces, in case an event was lost.
	namespaceResync = 5 * time.Minute
)

func management() []named {
	return []named{
		{"garbage-collector-controller", garbageCollector},
		{"namespace-controller", namespaces},
		{"serviceaccount-controller", serviceAccounts},
		{"clusterrole-aggregation-controller", clusterRoles},
	}
}

func garbageCollector(ctx context.Context, e *environment) (task, error) {
	both := informerfactory.NewInformerFactory(e.informers, metadatainformer.NewSharedInformerFactory(e.metadata, informerResync))
	gc, err := garbagecollector.NewGarbageCollector(ctx, e.client, e.metadata, e.mapper, garbagecollector.DefaultIgnoredResources(), both,
		e.started)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			gc.Sync(ctx, e.client.Discovery(), collectorResync)
		}()
		gc.Run(ctx, workers, collectorSyncLimit)
		<-done
	}, nil
}

func namespaces(ctx context.Context, e *environment) (task, error) {
	c := namespace.NewNamespaceController(ctx, e.client, e.metadata, e.client.Discovery().ServerPreferredNamespacedResources,
		e.informers.Core().V1().Namespaces(), namespaceResync, v1.FinalizerKubernetes)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func serviceAccounts(ctx context.Context, e *environment) (task, error) {
	core := e.informers.Core().V1()
	c, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(),
		e.client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func clusterRoles(_ context.Context, e *environment) (task, error) {
	c := clusterroleaggregation.NewClusterRoleAggregation(e.informers.Rbac().V1().ClusterRoles(), e.client.RbacV1())
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

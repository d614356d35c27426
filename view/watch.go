package view

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Scheme knows the kinds that the view reads by type.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, clusterv1.AddToScheme(s)
}

// Read reads all pools through any client, once.
func Read(ctx context.Context, r client.Reader, mapper meta.RESTMapper) ([]Pool, error) {
	return read(ctx, r, mapper, func(schema.GroupVersionKind) error { return nil })
}

// read lists the pools and gets each one's infrastructure object; seen is told each infrastructure kind before it is read.
func read(ctx context.Context, r client.Reader, mapper meta.RESTMapper, seen func(schema.GroupVersionKind) error) ([]Pool, error) {
	var list clusterv1.MachinePoolList
	if err := r.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list machine pools: %w", err)
	}
	pools := make([]Pool, 0, len(list.Items))
	for i := range list.Items {
		mp := &list.Items[i]
		infra, err := infrastructure(ctx, r, mapper, mp, seen)
		if err != nil {
			return nil, fmt.Errorf("machine pool %s/%s: %w", mp.Namespace, mp.Name, err)
		}
		pools = append(pools, PoolOf(mp, infra))
	}
	Sort(pools)
	return pools, nil
}

// Infrastructure gets the object that a pool's infrastructureRef names. It is nil when there is none, or none of such a kind.
func Infrastructure(ctx context.Context, r client.Reader, mapper meta.RESTMapper,
	mp *clusterv1.MachinePool) (*unstructured.Unstructured, error) {
	return infrastructure(ctx, r, mapper, mp, func(schema.GroupVersionKind) error { return nil })
}

// infrastructure is Infrastructure; seen is called with the kind before it is read.
func infrastructure(ctx context.Context, r client.Reader, mapper meta.RESTMapper, mp *clusterv1.MachinePool,
	seen func(schema.GroupVersionKind) error) (*unstructured.Unstructured, error) {
	ref := mp.Spec.Template.Spec.InfrastructureRef
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up kind %s: %w", ref.Kind, err)
	}
	if err := seen(mapping.GroupVersionKind); err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(mapping.GroupVersionKind)
	err = r.Get(ctx, client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return u, err
}

// Watch keeps pools in memory, and tells when one has changed.
type Watch struct {
	cache   cache.Cache
	mapper  meta.RESTMapper
	changed chan struct{}

	mu       sync.Mutex
	followed map[schema.GroupVersionKind]bool
}

// NewWatch prepares a watch of the pools of a management cluster; it does nothing until Start.
func NewWatch(cfg *rest.Config) (*Watch, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("client of the API server: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("kinds of the API server: %w", err)
	}
	c, err := cache.New(cfg, cache.Options{Scheme: scheme, Mapper: mapper, HTTPClient: httpClient})
	if err != nil {
		return nil, fmt.Errorf("watch of the API server: %w", err)
	}
	return &Watch{cache: c, mapper: mapper, changed: make(chan struct{}, 1), followed: map[schema.GroupVersionKind]bool{}}, nil
}

// Start watches until ctx ends; it holds its caller for as long.
func (w *Watch) Start(ctx context.Context) error { return w.cache.Start(ctx) }

// Changed gives a value when something has changed since the last one was taken.
func (w *Watch) Changed() <-chan struct{} { return w.changed }

// Pools are the pools as they were last heard of. The first call waits until they are known.
func (w *Watch) Pools(ctx context.Context) ([]Pool, error) {
	if !w.cache.WaitForCacheSync(ctx) { // for the cache to have started, and for what it follows already
		return nil, fmt.Errorf("read machine pools: %w", context.Cause(ctx))
	}
	if err := w.follow(ctx, clusterv1.GroupVersion.WithKind("MachinePool"), &clusterv1.MachinePool{}); err != nil {
		return nil, err
	}
	return read(ctx, w.cache, w.mapper, func(gvk schema.GroupVersionKind) error {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return w.follow(ctx, gvk, u)
	})
}

// follow has changes of a kind told, once.
func (w *Watch) follow(ctx context.Context, gvk schema.GroupVersionKind, kind client.Object) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followed[gvk] {
		return nil
	}
	informer, err := w.cache.GetInformer(ctx, kind)
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	tell := func(any) {
		select {
		case w.changed <- struct{}{}:
		default: // a notification is pending; its receiver will read this change with the others
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: tell, UpdateFunc: func(_, o any) { tell(o) }, DeleteFunc: tell,
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	w.followed[gvk] = true
	return nil
}

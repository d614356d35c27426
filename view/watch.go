package view

import (
	"context"
	"fmt"
	"strings"
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

// Infrastructure gets the object that a pool's infrastructureRef names. It is nil when there is none, or none of such a kind.
func Infrastructure(ctx context.Context, r client.Reader, mapper meta.RESTMapper,
	mp *clusterv1.MachinePool) (*unstructured.Unstructured, error) {
	ref := mp.Spec.Template.Spec.InfrastructureRef
	if builtIn(ref.APIGroup) {
		return nil, nil
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up kind %s: %w", ref.Kind, err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(mapping.GroupVersionKind)
	err = r.Get(ctx, client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return u, err
}

// builtIn reports whether an API group is one of Kubernetes itself, which has no kinds of infrastructure. A user who writes a pool would
// else have all Secrets, pods or events of a cluster read into memory for those who look at it.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// Watch reads objects, keeps each kind that was read in memory, and reports changes of these kinds.
type Watch struct {
	cache   cache.Cache
	scheme  *runtime.Scheme
	mapper  meta.RESTMapper
	changed chan struct{}

	mu       sync.Mutex
	followed map[schema.GroupVersionKind]bool
}

// WatchOptions configures a watch. The zero WatchOptions watch all namespaces.
type WatchOptions struct {
	// Namespace that is watched; empty for all.
	Namespace string
	// Failed is called with each error of a watch, which is tried again. nil leaves the errors to the log.
	Failed func(error)
}

// NewWatch prepares a watch of a management cluster; it does nothing until Start.
func NewWatch(cfg *rest.Config, o WatchOptions) (*Watch, error) {
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
	w := &Watch{scheme: scheme, mapper: mapper, changed: make(chan struct{}, 1), followed: map[schema.GroupVersionKind]bool{}}
	options := cache.Options{Scheme: scheme, Mapper: mapper, HTTPClient: httpClient}
	if o.Namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	if o.Failed != nil {
		options.DefaultWatchErrorHandler = func(_ context.Context, _ *toolscache.Reflector, err error) { o.Failed(err) }
	}
	if w.cache, err = cache.New(cfg, options); err != nil {
		return nil, fmt.Errorf("watch of the API server: %w", err)
	}
	return w, nil
}

// Start watches until ctx ends; it holds its caller for as long.
func (w *Watch) Start(ctx context.Context) error { return w.cache.Start(ctx) }

// Changed gives a value when something has changed since the last one was taken.
func (w *Watch) Changed() <-chan struct{} { return w.changed }

// RESTMapper returns the kinds of the API server.
func (w *Watch) RESTMapper() meta.RESTMapper { return w.mapper }

// Get reads an object as it was last heard of. The first read of a kind waits until its objects are known.
func (w *Watch) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, w.scheme)
	if err == nil {
		err = w.follow(ctx, gvk, into)
	}
	if err != nil {
		return err
	}
	return w.cache.Get(ctx, key, into, opts...)
}

// List lists objects as they were last heard of. The first read of a kind waits until its objects are known.
func (w *Watch) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(into, w.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	kind, err := w.scheme.New(gvk)
	if err != nil {
		return fmt.Errorf("list %s: %w", gvk.Kind, err)
	}
	o, ok := kind.(client.Object)
	if !ok {
		return fmt.Errorf("list %s: it has no metadata", gvk.Kind)
	}
	if err := w.follow(ctx, gvk, o); err != nil {
		return err
	}
	return w.cache.List(ctx, into, opts...)
}

// follow subscribes to changes of a kind, once.
func (w *Watch) follow(ctx context.Context, gvk schema.GroupVersionKind, kind client.Object) error {
	if !w.cache.WaitForCacheSync(ctx) { // for the cache to have started, and for the kinds that it has already
		return fmt.Errorf("read %s: %w", gvk.Kind, context.Cause(ctx))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followed[gvk] {
		return nil
	}
	informer, err := w.cache.GetInformer(ctx, kind)
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	notify := func(any) {
		select {
		case w.changed <- struct{}{}:
		default: // a notification is pending; its receiver will read this change with the others
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: notify, UpdateFunc: func(_, o any) { notify(o) }, DeleteFunc: notify,
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", gvk.Kind, err)
	}
	w.followed[gvk] = true
	return nil
}

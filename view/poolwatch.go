package view

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// PoolWatchOptions restrict a PoolWatch. The zero value watches all namespaces and every kind.
type PoolWatchOptions struct {
	// Namespaces that are watched; empty watches all.
	Namespaces []string
	// MayWatch returns an error if the kind may not be listed and watched: an informer of such a kind would never fill. Pools of the kind are
	// shown without their infrastructure object then. Nil allows every kind.
	MayWatch func(ctx context.Context, gvk schema.GroupVersionKind) error
}

// PoolWatch holds the rows of pools in memory, and reports changes. A change costs the row of one pool.
type PoolWatch struct {
	cache    cache.Cache
	mapper   meta.RESTMapper
	mayWatch func(ctx context.Context, gvk schema.GroupVersionKind) error
	rows     *rows
}

// NewPoolWatch prepares a watch of the pools of a management cluster; it does nothing until Start.
func NewPoolWatch(cfg *rest.Config, o PoolWatchOptions) (*PoolWatch, error) {
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
	options := cache.Options{Scheme: scheme, Mapper: mapper, HTTPClient: httpClient, DefaultTransform: cache.TransformStripManagedFields()}
	for _, namespace := range o.Namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	c, err := cache.New(cfg, options)
	if err != nil {
		return nil, fmt.Errorf("watch of the API server: %w", err)
	}
	return &PoolWatch{cache: c, mapper: mapper, mayWatch: o.MayWatch, rows: newRows()}, nil
}

// Start watches until ctx ends; it holds its caller for as long.
func (w *PoolWatch) Start(ctx context.Context) error { return w.cache.Start(ctx) }

// Changed gives a value when something has changed since the last one was taken. It has one reader.
func (w *PoolWatch) Changed() <-chan struct{} { return w.rows.changed }

// Pools returns the pools as they were last heard of, ordered by namespace and name. The first call waits until they are known. A row that
// has not changed is the same pointer as before; neither the list nor its pools are to be changed.
func (w *PoolWatch) Pools(ctx context.Context) ([]*Pool, error) {
	if !w.cache.WaitForCacheSync(ctx) { // for the cache to have started, and for what it follows already
		return nil, fmt.Errorf("read machine pools: %w", context.Cause(ctx))
	}
	return w.rows.read(func() error {
		return w.follow(ctx, clusterv1.GroupVersion.WithKind("MachinePool"), &clusterv1.MachinePool{})
	}, func(key client.ObjectKey) (*Pool, error) { return w.row(ctx, key) })
}

// row reads one pool; nil if it does not exist.
func (w *PoolWatch) row(ctx context.Context, key client.ObjectKey) (*Pool, error) {
	mp := &clusterv1.MachinePool{}
	if err := w.cache.Get(ctx, key, mp); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read machine pool %s: %w", key, err)
	}
	if err := w.followInfrastructure(ctx, key, mp.Spec.Template.Spec.InfrastructureRef); errors.Is(err, errRefused) {
		p := PoolOf(mp, nil)
		p.Problems = []string{err.Error()}
		return &p, nil
	} else if err != nil {
		return nil, fmt.Errorf("machine pool %s: %w", key, err)
	}
	infra, err := Infrastructure(ctx, w.cache, w.mapper, mp)
	if err != nil {
		return nil, fmt.Errorf("machine pool %s: %w", key, err)
	}
	p := PoolOf(mp, infra)
	return &p, nil
}

// errRefused is in the errors of kinds that may not be watched.
var errRefused = errors.New("not shown")

// followInfrastructure has the row of a pool be made again when its infrastructure object changes.
func (w *PoolWatch) followInfrastructure(ctx context.Context, pool client.ObjectKey, ref clusterv1.ContractVersionedObjectReference) error {
	gk := schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}
	if builtIn(gk.Group) {
		return nil
	}
	mapping, err := w.mapper.RESTMapping(gk)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up kind %s: %w", ref.Kind, err)
	}
	w.rows.refer(pool, refOf(pool.Namespace, ref.Name, gk))
	if w.mayWatch != nil {
		if err := w.mayWatch(ctx, mapping.GroupVersionKind); err != nil {
			return fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(mapping.GroupVersionKind)
	return w.follow(ctx, mapping.GroupVersionKind, u)
}

// follow subscribes to changes of a kind, once.
func (w *PoolWatch) follow(ctx context.Context, gvk schema.GroupVersionKind, kind client.Object) error {
	return w.rows.once(gvk, func() error {
		informer, err := w.cache.GetInformer(ctx, kind)
		if err != nil {
			return fmt.Errorf("watch %s: %w", gvk.Kind, err)
		}
		note := func(o any) { w.rows.note(o, gvk.GroupKind()) }
		registered, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: note, UpdateFunc: func(_, o any) { note(o) }, DeleteFunc: note,
		})
		if err != nil {
			return fmt.Errorf("watch %s: %w", gvk.Kind, err)
		}
		if !toolscache.WaitForCacheSync(ctx.Done(), registered.HasSynced) {
			return fmt.Errorf("watch %s: %w", gvk.Kind, context.Cause(ctx))
		}
		return nil
	})
}

package reference

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ObjectReader reads objects of the management cluster.
type ObjectReader struct {
	// Cached reads from the manager's cache, unstructured objects too.
	Cached client.Client
	// Live reads from the API server; nil reads from the cache.
	Live client.Reader
	// Permitted returns an error that wraps access.ErrForbidden for a kind that the manager may not watch; nil permits all kinds. A read
	// of such a kind from the cache would block for ever.
	Permitted func(ctx context.Context, gvk schema.GroupVersionKind) error
}

// LiveReader returns the reader that bypasses the cache, if there is one.
func (r ObjectReader) LiveReader() client.Reader {
	if r.Live != nil {
		return r.Live
	}
	return r.Cached
}

// Permits returns an error that wraps access.ErrForbidden for a kind that the manager may not watch.
func (r ObjectReader) Permits(ctx context.Context, gvk schema.GroupVersionKind) error {
	if r.Permitted == nil {
		return nil
	}
	return r.Permitted(ctx, gvk)
}

// New returns an empty object of a kind. It is typed where the manager's scheme has the kind: other controllers read it typed, and a
// cache keeps typed and unstructured objects separately, so that all objects of the kind would be stored twice.
func (r ObjectReader) New(gvk schema.GroupVersionKind) client.Object {
	if known, err := r.Cached.Scheme().New(gvk); err == nil {
		if o, ok := known.(client.Object); ok {
			o.GetObjectKind().SetGroupVersionKind(gvk)
			return o
		}
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	return o
}

// newList returns an empty list of a kind, typed as New is.
func (r ObjectReader) newList(gvk schema.GroupVersionKind) client.ObjectList {
	gvk.Kind += "List"
	if known, err := r.Cached.Scheme().New(gvk); err == nil {
		if o, ok := known.(client.ObjectList); ok {
			o.GetObjectKind().SetGroupVersionKind(gvk)
			return o
		}
	}
	o := &unstructured.UnstructuredList{}
	o.SetGroupVersionKind(gvk)
	return o
}

// Get returns an object from the cache. It returns the reader's own errors, also that of an object that does not exist.
func (r ObjectReader) Get(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	if err := r.Permits(ctx, gvk); err != nil {
		return nil, err
	}
	o := r.New(gvk)
	if err := r.Cached.Get(ctx, key, o); err != nil {
		return nil, err
	}
	return untyped(gvk, o)
}

// GetLive returns an object from the API server, nil if it does not exist. A stale cache may contain a deleted object, and may lack a new
// one.
func (r ObjectReader) GetLive(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey) (client.Object, error) {
	o := r.New(gvk)
	if err := r.LiveReader().Get(ctx, key, o); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read %s %s: %w", gvk.Kind, key.Name, err)
	}
	return o, nil
}

// List returns the objects of a kind in the cache that match the options.
func (r ObjectReader) List(ctx context.Context, gvk schema.GroupVersionKind,
	options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	list := r.newList(gvk)
	if err := r.Cached.List(ctx, list, options...); err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	err := meta.EachListItem(list, func(o runtime.Object) error {
		u, err := untyped(gvk, o)
		all = append(all, u)
		return err
	})
	return all, err
}

func untyped(gvk schema.GroupVersionKind, o runtime.Object) (*unstructured.Unstructured, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// NestedString returns a string field of an object, empty if it is missing or has another type.
func NestedString(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

// NestedInt32 returns an integer field of an object, nil if it is missing or has another type.
func NestedInt32(o *unstructured.Unstructured, path ...string) *int32 {
	value, found, err := unstructured.NestedInt64(o.Object, path...)
	if !found || err != nil {
		return nil
	}
	n := int32(value)
	return &n
}

// NestedBool returns a Boolean field of an object, false if it is missing or has another type.
func NestedBool(o *unstructured.Unstructured, path ...string) bool {
	value, _, _ := unstructured.NestedBool(o.Object, path...)
	return value
}

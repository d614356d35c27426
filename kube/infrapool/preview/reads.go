package preview

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReadOnce is a client that asks for each object and each list once, and writes nothing: a plan looks at the same things
// many times, and all its looks should be at the same moment.
func ReadOnce(c client.Client) client.Client {
	return &readOnce{base: c, objects: map[string]answer[client.Object]{}, lists: map[string]answer[client.ObjectList]{}}
}

type readOnce struct {
	refusing
	base    client.Client
	mu      sync.Mutex
	objects map[string]answer[client.Object]
	lists   map[string]answer[client.ObjectList]
}

// answer caches the result of one read: the object or list, or the error.
type answer[T any] struct {
	is  T
	err error
}

// Get reads an object, the first time.
func (r *readOnce) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	gvk, err := r.base.GroupVersionKindFor(out)
	if err != nil {
		return fmt.Errorf("find the kind of %T: %w", out, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := fmt.Sprintf("%T %s %s", out, gvk, key)
	found, ok := r.objects[name]
	if !ok {
		found.err = r.base.Get(ctx, key, out, opts...)
		found.is, _ = out.DeepCopyObject().(client.Object)
		r.objects[name] = found
	}
	if found.err == nil {
		set(out, found.is)
	}
	return found.err
}

// List reads a list, the first time.
func (r *readOnce) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	gvk, err := r.base.GroupVersionKindFor(out)
	if err != nil {
		return fmt.Errorf("find the kind of %T: %w", out, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o := (&client.ListOptions{}).ApplyOptions(opts)
	name := fmt.Sprintf("%T %s %s %v %v %d %s", out, gvk, o.Namespace, o.LabelSelector, o.FieldSelector, o.Limit, o.Continue)
	found, ok := r.lists[name]
	if !ok {
		found.err = r.base.List(ctx, out, opts...)
		found.is, _ = out.DeepCopyObject().(client.ObjectList)
		r.lists[name] = found
	}
	if found.err == nil {
		set(out, found.is)
	}
	return found.err
}

// set makes out a copy of what was read.
func set(out, is runtime.Object) {
	reflect.ValueOf(out).Elem().Set(reflect.ValueOf(is.DeepCopyObject()).Elem())
}

// Scheme is the client's.
func (r *readOnce) Scheme() *runtime.Scheme { return r.base.Scheme() }

// RESTMapper is the client's.
func (r *readOnce) RESTMapper() meta.RESTMapper { return r.base.RESTMapper() }

// GroupVersionKindFor is the client's.
func (r *readOnce) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return r.base.GroupVersionKindFor(o)
}

// IsObjectNamespaced is the client's.
func (r *readOnce) IsObjectNamespaced(o runtime.Object) (bool, error) {
	return r.base.IsObjectNamespaced(o)
}

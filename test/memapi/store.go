package memapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// entry is one revision of one object. It never changes, so the server, its log and all caches share it.
type entry struct {
	kind   *kind
	object client.Object
	// values are those of the kind's indexes, in their order.
	values [][]string
	// content is the object in JSON form, created on first use.
	content map[string]any
}

func newEntry(k *kind, o client.Object) *entry {
	e := &entry{kind: k, object: o, values: make([][]string, len(k.indexes))}
	for i, index := range k.indexes {
		e.values[i] = index.Values(o)
	}
	return e
}

// shared returns the object itself, or nothing for no entry.
func (e *entry) shared() client.Object {
	if e == nil {
		return nil
	}
	return e.object
}

// untyped returns the object as JSON has it, with its kind. It must not be changed.
func (e *entry) untyped() (map[string]any, error) {
	if e.content != nil {
		return e.content, nil
	}
	if u, ok := e.object.(*unstructured.Unstructured); ok {
		e.content = u.Object
		return e.content, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(e.object)
	if err != nil {
		return nil, fmt.Errorf("%s %s as JSON: %w", e.kind.gvk.Kind, client.ObjectKeyFromObject(e.object), err)
	}
	content["apiVersion"], content["kind"] = e.kind.gvk.ToAPIVersionAndKind()
	e.content = content
	return content, nil
}

// concerned returns the part of the object that a patch may change. For a status patch of a typed object that is the status and the
// metadata, otherwise all of the object.
func (e *entry) concerned(sub string) (map[string]any, error) {
	if sub != "status" || e.content != nil || e.kind.structure == nil {
		return e.untyped()
	}
	part := reflect.New(e.kind.structure)
	whole := reflect.ValueOf(e.object).Elem()
	for _, name := range []string{"ObjectMeta", "Status"} {
		if f := part.Elem().FieldByName(name); f.IsValid() {
			f.Set(whole.FieldByName(name))
		}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(part.Interface())
	if err != nil {
		return nil, fmt.Errorf("the status of %s %s as JSON: %w", e.kind.gvk.Kind, client.ObjectKeyFromObject(e.object), err)
	}
	delete(content, "spec")
	return content, nil
}

// meta returns a copy of the object's metadata.
func (e *entry) meta() (metav1.ObjectMeta, error) {
	out := metav1.ObjectMeta{}
	if e.kind.structure != nil {
		m, ok := reflect.ValueOf(e.object).Elem().FieldByName("ObjectMeta").Interface().(metav1.ObjectMeta)
		if !ok {
			return out, fmt.Errorf("%T has no metadata of its own", e.object)
		}
		m.DeepCopyInto(&out)
		return out, nil
	}
	m, _ := e.object.(*unstructured.Unstructured).Object["metadata"].(map[string]any)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, &out)
	return out, err
}

// shape returns the object in the form for a caller: a copy, or the shared one if the caller promises not to change it. Only with named
// does a typed one have its kind: responses of a server to typed clients lack it.
func (e *entry) shape(f form, share, named bool) (client.Object, error) {
	switch {
	case f == metadata:
		m, err := e.meta()
		o := &metav1.PartialObjectMetadata{ObjectMeta: m}
		o.SetGroupVersionKind(e.kind.gvk)
		return o, err
	case f == untyped:
		content, err := e.untyped()
		if err == nil && !share {
			content = runtime.DeepCopyJSON(content)
		}
		return &unstructured.Unstructured{Object: content}, err
	case e.kind.structure == nil:
		return nil, fmt.Errorf("the scheme has no type for %s: read it unstructured", e.kind.gvk)
	case share:
		return e.object, nil
	}
	o := e.object.DeepCopyObject().(client.Object)
	if named {
		o.GetObjectKind().SetGroupVersionKind(e.kind.gvk)
	}
	return o, nil
}

// decode makes an object of the kind from JSON, as a server does with what it is sent.
func (k *kind) decode(data []byte) (client.Object, error) {
	if k.structure == nil {
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(data, &u.Object); err != nil {
			return nil, err
		}
		u.SetGroupVersionKind(k.gvk)
		return u, nil
	}
	o := reflect.New(k.structure).Interface().(client.Object)
	if err := utiljson.Unmarshal(data, o); err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(noKind)
	return o, nil
}

// fromContent makes an object of the kind from content, which it may share.
func (k *kind) fromContent(content map[string]any) (client.Object, error) {
	if k.structure == nil {
		u := &unstructured.Unstructured{Object: content}
		return k.fork(u), nil
	}
	o := reflect.New(k.structure).Interface().(client.Object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, o); err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(noKind)
	return o, nil
}

// assign sets what a caller holds to an object of the same type.
func assign(out, o client.Object) error {
	to, from := reflect.ValueOf(out), reflect.ValueOf(o)
	if to.Type() != from.Type() {
		return fmt.Errorf("stored is %T, asked for was %T", o, out)
	}
	to.Elem().Set(from.Elem())
	return nil
}

// store is a set of objects, of the server or of a cache.
type store map[*kind]*shelf

// shelf holds the objects of one kind.
type shelf struct {
	entries map[client.ObjectKey]*entry
	// order is by namespace and name.
	order []client.ObjectKey
	// fields are the keys of the objects with a value, in order, by index.
	fields []map[string][]client.ObjectKey
}

func (s store) clone() store {
	out := make(store, len(s))
	for k, from := range s {
		to := &shelf{entries: maps.Clone(from.entries), order: slices.Clone(from.order),
			fields: make([]map[string][]client.ObjectKey, len(from.fields))}
		for i, values := range from.fields {
			to.fields[i] = make(map[string][]client.ObjectKey, len(values))
			for value, keys := range values {
				to.fields[i][value] = slices.Clone(keys)
			}
		}
		out[k] = to
	}
	return out
}

func (s store) get(k *kind, key client.ObjectKey) *entry {
	if shelf := s[k]; shelf != nil {
		return shelf.entries[key]
	}
	return nil
}

// apply makes a change.
func (s store) apply(c change) {
	at := s[c.kind]
	if at == nil {
		at = &shelf{entries: map[client.ObjectKey]*entry{}, fields: make([]map[string][]client.ObjectKey, len(c.kind.indexes))}
		for i := range at.fields {
			at.fields[i] = map[string][]client.ObjectKey{}
		}
		s[c.kind] = at
	}
	if c.now == nil {
		delete(at.entries, c.key)
		at.order = without(at.order, c.key)
	} else {
		at.entries[c.key] = c.now
		at.order = with(at.order, c.key)
	}
	for i, values := range at.fields {
		before, after := c.old.valuesOf(i), c.now.valuesOf(i)
		if slices.Equal(before, after) {
			continue
		}
		for _, v := range before {
			values[v] = without(values[v], c.key)
		}
		for _, v := range after {
			values[v] = with(values[v], c.key)
		}
	}
}

func (e *entry) valuesOf(index int) []string {
	if e == nil {
		return nil
	}
	return e.values[index]
}

func compareKeys(a, b client.ObjectKey) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func with(keys []client.ObjectKey, key client.ObjectKey) []client.ObjectKey {
	i, found := slices.BinarySearchFunc(keys, key, compareKeys)
	if found {
		return keys
	}
	return slices.Insert(keys, i, key)
}

func without(keys []client.ObjectKey, key client.ObjectKey) []client.ObjectKey {
	i, found := slices.BinarySearchFunc(keys, key, compareKeys)
	if !found {
		return keys
	}
	return slices.Delete(keys, i, i+1)
}

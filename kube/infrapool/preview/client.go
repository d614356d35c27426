package preview

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// edits is a client that reads as if some objects had been edited, and rejects every write.
type edits struct {
	refusing
	base    client.Client
	edited  []client.Object
	indexes []clustercache.CacheOptionsIndex
}

// NewClient returns a client that reads what base has as if some objects had been edited, and rejects every write. It selects by the
// indexes itself, as a cache does: an API server selects by none of them.
func NewClient(base client.Client, edited []client.Object, indexes []clustercache.CacheOptionsIndex) client.Client {
	return &edits{base: base, edited: edited, indexes: indexes}
}

// Get gives the edited object where there is one.
func (p *edits) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	gvk, err := p.base.GroupVersionKindFor(out)
	if err != nil {
		return fmt.Errorf("find the kind of %T: %w", out, err)
	}
	for _, o := range p.edited {
		if client.ObjectKeyFromObject(o) == key && p.kindOf(o) == gvk.GroupKind() {
			return assign(o, out, gvk)
		}
	}
	return p.base.Get(ctx, key, out, opts...)
}

func (p *edits) kindOf(o runtime.Object) schema.GroupKind {
	gvk, err := p.base.GroupVersionKindFor(o)
	if err != nil {
		return schema.GroupKind{}
	}
	return gvk.GroupKind()
}

// assign makes out what the edited object is.
func assign(o, out client.Object, gvk schema.GroupVersionKind) error {
	from, to := reflect.ValueOf(o.DeepCopyObject()), reflect.ValueOf(out)
	if from.Type() == to.Type() {
		if got := o.GetObjectKind().GroupVersionKind(); !got.Empty() && got != gvk {
			return fmt.Errorf("%s %s was given as %s, and is read as %s: write it in that version", gvk.Kind, o.GetName(), got.GroupVersion(),
				gvk.GroupVersion())
		}
		to.Elem().Set(from.Elem())
		return nil
	}
	u, ok := out.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("%s %s is held as %T, and is read as %T", gvk.Kind, o.GetName(), o, out)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return fmt.Errorf("read the edited %s %s: %w", gvk.Kind, o.GetName(), err)
	}
	u.Object = content
	u.SetGroupVersionKind(gvk)
	return nil
}

// List returns the edited objects instead of their stored versions, and adds the new ones.
func (p *edits) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	index, value := p.indexOf(out, o.FieldSelector)
	if index != nil {
		o.FieldSelector = nil
	}
	if err := p.base.List(ctx, out, o); err != nil {
		return err
	}
	items, err := meta.ExtractList(out)
	if err != nil {
		return fmt.Errorf("read the items of %T: %w", out, err)
	}
	items = slices.DeleteFunc(p.laidOver(items, out, o), func(item runtime.Object) bool {
		object, ok := item.(client.Object)
		return !ok || index != nil && !slices.Contains(index.ExtractValue(object), value)
	})
	return meta.SetList(out, items)
}

// laidOver is the list with the edited objects that belong into it.
func (p *edits) laidOver(items []runtime.Object, list client.ObjectList, o *client.ListOptions) []runtime.Object {
	kind := p.kindOf(list)
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	for _, edited := range p.edited {
		if _, isUnstructured := edited.(*unstructured.Unstructured); isUnstructured || p.kindOf(edited) != kind {
			continue
		}
		items = slices.DeleteFunc(items, func(item runtime.Object) bool {
			old, ok := item.(client.Object)
			return ok && client.ObjectKeyFromObject(old) == client.ObjectKeyFromObject(edited)
		})
		if !selects(o, edited) {
			continue
		}
		items = append(items, edited.DeepCopyObject())
	}
	return items
}

// selects reports whether a list of one namespace, or by labels, holds an object.
func selects(o *client.ListOptions, edited client.Object) bool {
	if o.Namespace != "" && edited.GetNamespace() != o.Namespace {
		return false
	}
	return o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(edited.GetLabels()))
}

// indexOf is the index that a field selector asks for, with the value; nil when it asks the API server itself.
func (p *edits) indexOf(list client.ObjectList, selector fields.Selector) (*clustercache.CacheOptionsIndex, string) {
	if selector == nil {
		return nil, ""
	}
	kind := p.kindOf(list)
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	for i := range p.indexes {
		if value, ok := selector.RequiresExactMatch(p.indexes[i].Field); ok && p.kindOf(p.indexes[i].Object) == kind {
			return &p.indexes[i], value
		}
	}
	return nil, ""
}

// Scheme is the client's.
func (p *edits) Scheme() *runtime.Scheme { return p.base.Scheme() }

// RESTMapper is the client's.
func (p *edits) RESTMapper() meta.RESTMapper { return p.base.RESTMapper() }

// GroupVersionKindFor is the client's.
func (p *edits) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return p.base.GroupVersionKindFor(o)
}

// IsObjectNamespaced is the client's.
func (p *edits) IsObjectNamespaced(o runtime.Object) (bool, error) {
	return p.base.IsObjectNamespaced(o)
}

// refusing refuses every write.
type refusing struct{}

func (refusing) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return refused("create", o)
}

func (refusing) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return refused("update", o)
}

func (refusing) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return refused("patch", o)
}

func (refusing) Delete(_ context.Context, o client.Object, _ ...client.DeleteOption) error {
	return refused("delete", o)
}

func (refusing) DeleteAllOf(_ context.Context, o client.Object, _ ...client.DeleteAllOfOption) error {
	return refused("delete all of", o)
}

func (refusing) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return fmt.Errorf("apply: %w", ErrReadOnly)
}

func (refusing) Status() client.SubResourceWriter { return refusingPart{} }

func (refusing) SubResource(string) client.SubResourceClient { return refusingPart{} }

func refused(verb string, o client.Object) error {
	return fmt.Errorf("%s %T %s: %w", verb, o, client.ObjectKeyFromObject(o), ErrReadOnly)
}

// refusingPart refuses everything about subresources.
type refusingPart struct{}

func (refusingPart) Get(_ context.Context, o, _ client.Object, _ ...client.SubResourceGetOption) error {
	return refused("get a part of", o)
}

func (refusingPart) Create(_ context.Context, o, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return refused("create a part of", o)
}

func (refusingPart) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return refused("update a part of", o)
}

func (refusingPart) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	return refused("patch a part of", o)
}

func (refusingPart) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return fmt.Errorf("apply a part: %w", ErrReadOnly)
}

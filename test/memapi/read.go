package memapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fromCache reports whether the client reads a kind from its cache.
func (c *conn) fromCache(k *kind) (bool, error) {
	if c.cache == nil {
		return false, nil
	}
	return !c.cache.live[k], c.cache.broken
}

func (c *conn) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	k, err := c.server.find(out)
	if err != nil {
		return err
	}
	key = k.key(key)
	cached, err := c.fromCache(k)
	if err != nil {
		return err
	}
	if cached {
		share := unsafe((&client.GetOptions{}).ApplyOptions(opts).UnsafeDisableDeepCopy)
		return c.getCached(k, key, out, share)
	}
	var e *entry
	if err := c.send(ctx, Op{Verb: "get", Kind: k.gvk.Kind, Key: key}, func() (err error) {
		e, err = c.server.get(k, key)
		return err
	}); err != nil {
		return err
	}
	return c.answer(e, out, false)
}

func (c *conn) getCached(k *kind, key client.ObjectKey, out client.Object, share bool) error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	e := c.cache.known.get(k, key)
	if e == nil {
		return apierrors.NewNotFound(k.resource, key.Name)
	}
	o, err := e.shape(formOf(out), share, true)
	if err != nil {
		return err
	}
	return assign(out, o)
}

func unsafe(set *bool) bool { return set != nil && *set }

func (s *Server) get(k *kind, key client.ObjectKey) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.existing(k, key)
}

// existing returns the entry of an object, or NotFound. The lock is held.
func (s *Server) existing(k *kind, key client.ObjectKey) (*entry, error) {
	e := s.objects.get(k, key)
	if e == nil {
		return nil, apierrors.NewNotFound(k.resource, key.Name)
	}
	return e, nil
}

// stored returns a copy of an object as the server keeps it.
func (s *Server) stored(k *kind, key client.ObjectKey) (client.Object, error) {
	e, err := s.get(k, key)
	if err != nil {
		return nil, err
	}
	return e.object.DeepCopyObject().(client.Object), nil
}

func (c *conn) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	k, err := c.server.find(list)
	if err != nil {
		return err
	}
	options := (&client.ListOptions{}).ApplyOptions(opts)
	cached, err := c.fromCache(k)
	if err != nil {
		return err
	}
	if cached {
		if options.Continue != "" {
			return errors.New("continue list option is not supported by the cache")
		}
		p, err := c.server.page(c.cache.known, k, options, true)
		if err != nil {
			return err
		}
		// The real cache returns this error to a client that pages over a cached kind.
		p.next = "continue-not-supported"
		return c.fill(list, p, unsafe(options.UnsafeDisableDeepCopy), true)
	}
	var p page
	op := Op{Verb: "list", Kind: k.gvk.Kind, Key: client.ObjectKey{Namespace: options.Namespace}}
	if err := c.send(ctx, op, func() (err error) {
		p, err = c.server.page(c.server.objects, k, options, false)
		return err
	}); err != nil {
		return err
	}
	return c.fill(list, p, false, false)
}

// page is the answer to a list.
type page struct {
	entries  []*entry
	next     string
	revision int64
}

// fill sets a caller's list to a page.
func (c *conn) fill(list client.ObjectList, p page, share, named bool) error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	objects := make([]runtime.Object, len(p.entries))
	f := formOf(list)
	for i, e := range p.entries {
		o, err := e.shape(f, share, named)
		if err != nil {
			return err
		}
		objects[i] = o
	}
	list.SetContinue(p.next)
	list.SetResourceVersion(strconv.FormatInt(p.revision, 10))
	return meta.SetList(list, objects)
}

// page answers a list from a store, in the order of namespace and name.
func (s *Server) page(from store, k *kind, o *client.ListOptions, cached bool) (page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := page{revision: s.revision}
	at := from[k]
	requirements, err := k.selected(o.FieldSelector, cached)
	if err != nil || at == nil {
		return p, err
	}
	for _, key := range at.after(requirements, o, k) {
		e := at.entries[key]
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(e.object.GetLabels())) || !e.matches(requirements) {
			continue
		}
		if o.Limit > 0 && int64(len(p.entries)) == o.Limit {
			last := client.ObjectKeyFromObject(p.entries[len(p.entries)-1].object)
			p.next = last.Namespace + "/" + last.Name
			break
		}
		p.entries = append(p.entries, e)
	}
	return p, nil
}

// requirement is one requirement of a field selector: the value of an index, or of the name or namespace that every kind has.
type requirement struct {
	index int
	field string
	value string
}

// selected reads a field selector. A cache serves only its indexes, a server also names.
func (k *kind) selected(selector fields.Selector, cached bool) ([]requirement, error) {
	if selector == nil || selector.Empty() {
		return nil, nil
	}
	var out []requirement
	for _, r := range selector.Requirements() {
		if r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("field selector %q of %s: only equality is supported", selector, k.gvk.Kind))
		}
		i := slices.IndexFunc(k.indexes, func(i Index) bool { return i.Field == r.Field })
		switch {
		case i >= 0:
		case cached:
			return nil, fmt.Errorf("index with name field:%s does not exist for %s: name it in Options.Indexes", r.Field, k.gvk.Kind)
		case r.Field != "metadata.name" && r.Field != "metadata.namespace":
			return nil, apierrors.NewBadRequest(fmt.Sprintf("field label not supported for %s: %s: name it in Options.Indexes", k.gvk.Kind, r.Field))
		}
		out = append(out, requirement{i, r.Field, r.Value})
	}
	return out, nil
}

func (e *entry) matches(requirements []requirement) bool {
	for _, w := range requirements {
		switch {
		case w.index >= 0:
			if !slices.Contains(e.values[w.index], w.value) {
				return false
			}
		case w.field == "metadata.name":
			if e.object.GetName() != w.value {
				return false
			}
		default:
			if e.object.GetNamespace() != w.value {
				return false
			}
		}
	}
	return true
}

// after returns the keys that a list has to look at: those of the first indexed value or all, in the namespace, after the place
// where the last page ended.
func (s *shelf) after(requirements []requirement, o *client.ListOptions, k *kind) []client.ObjectKey {
	keys := s.order
	if i := slices.IndexFunc(requirements, func(w requirement) bool { return w.index >= 0 }); i >= 0 {
		keys = s.fields[requirements[i].index][requirements[i].value]
	}
	if ns, name, ok := strings.Cut(o.Continue, "/"); ok {
		i, found := slices.BinarySearchFunc(keys, client.ObjectKey{Namespace: ns, Name: name}, compareKeys)
		if found {
			i++
		}
		keys = keys[i:]
	}
	if o.Namespace == "" || !k.namespaced {
		return keys
	}
	from, _ := slices.BinarySearchFunc(keys, client.ObjectKey{Namespace: o.Namespace}, compareKeys)
	keys = keys[from:]
	if end := slices.IndexFunc(keys, func(key client.ObjectKey) bool { return key.Namespace != o.Namespace }); end >= 0 {
		keys = keys[:end]
	}
	return keys
}

package view

import (
	"cmp"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// infraRef identifies an infrastructure object.
type infraRef struct {
	schema.GroupKind
	namespace, name string
}

func refOf(namespace, name string, gk schema.GroupKind) infraRef {
	return infraRef{gk, namespace, name}
}

// rows are the rows of all pools, of which those are made again whose objects have changed.
type rows struct {
	changed chan struct{}

	// reading is held while rows are made again, one reader at a time.
	reading  sync.Mutex
	made     map[client.ObjectKey]*Pool
	sorted   []*Pool
	followed map[schema.GroupVersionKind]bool

	mu sync.Mutex
	// due are the pools whose rows are out of date.
	due map[client.ObjectKey]bool
	// of has the pools that refer to an infrastructure object: usually one. refs is the reverse.
	of   map[infraRef]map[client.ObjectKey]bool
	refs map[client.ObjectKey]infraRef
}

func newRows() *rows {
	return &rows{
		changed: make(chan struct{}, 1), made: map[client.ObjectKey]*Pool{}, followed: map[schema.GroupVersionKind]bool{},
		due: map[client.ObjectKey]bool{}, of: map[infraRef]map[client.ObjectKey]bool{}, refs: map[client.ObjectKey]infraRef{},
	}
}

// note takes note of a change of an object.
func (r *rows) note(o any, gk schema.GroupKind) {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	object, ok := o.(client.Object)
	if !ok {
		return
	}
	key := client.ObjectKeyFromObject(object)
	r.mu.Lock()
	if gk.Group == clusterv1.GroupVersion.Group && gk.Kind == "MachinePool" {
		r.due[key] = true
	} else {
		for pool := range r.of[refOf(key.Namespace, key.Name, gk)] {
			r.due[pool] = true
		}
	}
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default: // a notification is pending; its receiver will read this change with the others
	}
}

// refer notes the infrastructure object of a pool.
func (r *rows) refer(pool client.ObjectKey, ref infraRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refs[pool] == ref {
		return
	}
	r.unrefer(pool)
	r.refs[pool] = ref
	if r.of[ref] == nil {
		r.of[ref] = map[client.ObjectKey]bool{}
	}
	r.of[ref][pool] = true
}

// unrefer drops the reference of a pool. The caller holds the lock.
func (r *rows) unrefer(pool client.ObjectKey) {
	old, ok := r.refs[pool]
	if !ok {
		return
	}
	delete(r.refs, pool)
	if delete(r.of[old], pool); len(r.of[old]) == 0 {
		delete(r.of, old)
	}
}

// once runs subscribe for a kind that is not followed yet. The caller is within read.
func (r *rows) once(gvk schema.GroupVersionKind, subscribe func() error) error {
	if r.followed[gvk] {
		return nil
	}
	if err := subscribe(); err != nil {
		return err
	}
	r.followed[gvk] = true
	return nil
}

// read makes the rows again that are out of date, and returns all. subscribe is called before.
func (r *rows) read(subscribe func() error, row func(client.ObjectKey) (*Pool, error)) ([]*Pool, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if err := subscribe(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	due := r.due
	r.due = map[client.ObjectKey]bool{}
	r.mu.Unlock()
	dirty := false
	for key := range due {
		p, err := row(key)
		if err != nil {
			r.again(due)
			return nil, err
		}
		dirty = r.put(key, p) || dirty
	}
	if dirty || r.sorted == nil {
		r.sorted = make([]*Pool, 0, len(r.made))
		for _, p := range r.made {
			r.sorted = append(r.sorted, p)
		}
		slices.SortFunc(r.sorted, func(a, b *Pool) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
	return r.sorted, nil
}

// put keeps a row that was made again, and reports whether it differs from the one before.
func (r *rows) put(key client.ObjectKey, p *Pool) bool {
	old := r.made[key]
	switch {
	case p == nil:
		r.mu.Lock()
		r.unrefer(key)
		r.mu.Unlock()
		delete(r.made, key)
		return old != nil
	case old != nil && reflect.DeepEqual(old, p):
		return false
	}
	r.made[key] = p
	return true
}

// again has rows be made again that could not be.
func (r *rows) again(due map[client.ObjectKey]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range due {
		r.due[key] = true
	}
}

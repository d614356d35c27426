// Package ownership decides which object owns the cloud objects of a pool, and under which name its group is found.
package ownership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

const (
	// Annotation is the owner ID of the pool's cloud objects. It is written once, before the first call that may change something in the
	// cloud, and survives moves, backup and restore of the object.
	Annotation = "muster.dev/owner-id"
	// GroupNameAnnotation is the name of the cloud's group, where the derived one does not fit.
	GroupNameAnnotation = "muster.dev/group-name"
	// IDField is the index over infrastructure objects by their owner ID.
	IDField = "muster.dev/ownerID"
)

// TagsMaxAge is the age up to which a cached read of a group's tags is used. As a rule only Muster writes them. A deletion reads them
// again.
const TagsMaxAge = time.Minute

// Of returns the owner of the object's cloud objects. While no owner ID is written, it is the one that will be.
func Of(o client.Object, cluster string) cloud.Owner {
	id := o.GetAnnotations()[Annotation]
	if id == "" {
		id = string(o.GetUID())
	}
	return cloud.Owner{ID: id, Cluster: cluster, Namespace: o.GetNamespace(), Name: o.GetName(),
		GroupName: o.GetAnnotations()[GroupNameAnnotation]}
}

// IDs returns the values of an object in the index IDField.
func IDs(o client.Object) []string {
	if id := o.GetAnnotations()[Annotation]; id != "" {
		return []string{id}
	}
	return nil
}

// Objects are the objects of one kind.
type Objects struct {
	// Kind is their name, and NewList makes an empty list of them.
	Kind    string
	NewList func() client.ObjectList
}

// Registry finds the owner among objects that have the same owner ID: a copied manifest carries the annotation along, and two objects must
// never own one group. The objects are of one kind, or of kinds whose groups are the same in the cloud. It is safe for concurrent use.
type Registry struct {
	reader client.Reader
	now    func() time.Time
	of     Objects
	// kin are the other kinds.
	kin []Objects
	// absent holds when a kind was last found not to be served, by its name.
	absent sync.Map
	// taggedFor holds the reading of a group's tags, for each object that has a other.
	taggedFor sync.Map
}

// NewRegistry returns the Registry of the objects of a kind, for which the reader has the index IDField, and of those of its kin, for which
// it may have none.
func NewRegistry(reader client.Reader, now func() time.Time, of Objects, kin ...Objects) *Registry {
	return &Registry{reader: reader, now: now, of: of, kin: kin}
}

// OtherOwner is the object that owns the group instead of another one with the same owner ID.
type OtherOwner struct {
	// Name is empty if there is none. Kind is that of the object.
	Name types.NamespacedName
	Kind string
	// Certain is false if the object that the tags name could not be read.
	Certain bool
}

// reading is the object that a group's tags named, and when they were read.
type reading struct {
	name string
	at   time.Time
}

// Tags reads the tags of a group.
type Tags struct {
	// Read returns the object that the tags of the group, or of its remains, name. It is nil if the cloud cannot be read.
	Read func(context.Context) (string, error)
	// Now is the time of the call. A cached reading that named an object is used up to MaxAge, because reading a group costs more than its
	// tags.
	Now    time.Time
	MaxAge time.Duration
}

// Find returns the other of an object. While the tags can't be read, those stand that were read last.
func (r *Registry) Find(ctx context.Context, o client.Object, tags Tags) (OtherOwner, error) {
	others, err := r.others(ctx, o)
	if err != nil || len(others) == 0 {
		return OtherOwner{Certain: true}, err
	}
	self := object{Object: o, kind: r.of.Kind}
	is := func(taggedFor string, certain bool) OtherOwner {
		other := winner(self, others, taggedFor)
		if other == nil {
			return OtherOwner{Certain: certain}
		}
		return OtherOwner{Name: client.ObjectKeyFromObject(other), Kind: other.kind, Certain: certain}
	}
	first := func(one object) bool { return string(one.GetUID()) == one.GetAnnotations()[Annotation] }
	if first(self) || slices.ContainsFunc(others, first) {
		// The ID was made for this object: the tags cannot change that.
		return is("", true), nil
	}
	key := client.ObjectKeyFromObject(o)
	last, _ := r.taggedFor.Load(key)
	read, _ := last.(reading)
	switch {
	case tags.Read == nil:
		return is("", false), nil
	case read.name != "" && tags.Now.Sub(read.at) < tags.MaxAge:
		return is(read.name, true), nil
	}
	tagged, err := tags.Read(ctx)
	if err != nil {
		// A failed read changes nothing: the object that had the group keeps it.
		return is(read.name, false), nil
	}
	r.taggedFor.Store(key, reading{tagged, tags.Now})
	return is(tagged, true), nil
}

// Forget drops what is known of an object that is gone.
func (r *Registry) Forget(key types.NamespacedName) { r.taggedFor.Delete(key) }

// object is one of several with the same owner ID.
type object struct {
	client.Object
	kind string
}

// others returns the other objects with the owner ID of an object.
func (r *Registry) others(ctx context.Context, o client.Object) ([]object, error) {
	id := o.GetAnnotations()[Annotation]
	if id == "" {
		return nil, nil
	}
	list := r.of.NewList()
	if err := r.reader.List(ctx, list, client.MatchingFields{IDField: id}); err != nil {
		return nil, fmt.Errorf("look up other objects with owner ID %s: %w", id, err)
	}
	out := objects(r.of.Kind, list)
	for _, kin := range r.kin {
		found, err := r.ofKin(ctx, kin)
		if err != nil {
			return nil, fmt.Errorf("look up objects of kind %s with owner ID %s: %w", kin.Kind, id, err)
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(other object) bool {
		return other.GetUID() == o.GetUID() || other.GetAnnotations()[Annotation] != id
	}), nil
}

func objects(kind string, list client.ObjectList) []object {
	var out []object
	for _, o := range stored.Items(list) {
		out = append(out, object{o, kind})
	}
	return out
}

// absentFor is the time for which a kind that was not served is not requested again.
const absentFor = time.Minute

// ofKin returns the objects of another kind, none if that is not served. They are those of the cache and must not be changed.
func (r *Registry) ofKin(ctx context.Context, kin Objects) ([]object, error) {
	if at, ok := r.absent.Load(kin.Kind); ok && r.now().Sub(at.(time.Time)) < absentFor {
		return nil, nil
	}
	list := kin.NewList()
	err := r.reader.List(ctx, list, client.UnsafeDisableDeepCopy)
	if meta.IsNoMatchError(err) || runtime.IsNotRegisteredError(err) {
		r.absent.Store(kin.Kind, r.now())
		return nil, nil
	}
	return objects(kin.Kind, list), err
}

// winner returns which of several objects with one owner ID owns what the cloud has for it, if it is not o, and nil otherwise: the one that
// the tags name, and without such the oldest. Tags may name two, which differ in kind: the older counts.
func winner(o object, others []object, taggedFor string) *object {
	named := func(other object) bool {
		return strings.HasSuffix(taggedFor, "/"+other.GetNamespace()+"/"+other.GetName())
	}
	for _, other := range others {
		if named(other) && (!named(o) || older(other, o)) {
			return &other
		}
	}
	if named(o) {
		return nil
	}
	for _, other := range others {
		if older(other, o) {
			return &other
		}
	}
	return nil
}

// older orders objects by creation, then UID. The object whose own UID the ID is always comes first.
func older(a, b client.Object) bool {
	id := a.GetAnnotations()[Annotation]
	if string(a.GetUID()) == id || string(b.GetUID()) == id {
		return string(a.GetUID()) == id
	}
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !at.Equal(&bt) {
		return at.Before(&bt)
	}
	return a.GetUID() < b.GetUID()
}

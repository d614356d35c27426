// Package ownership decides which object owns the cloud objects of a pool, and under which name its group is found.
package ownership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

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

// TagsMaxAge is how old the tags may be that name the object of a group: as a rule only Muster writes them. A deletion reads them again.
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

// Registry finds the owner among objects of one kind that have the same owner ID: a copied manifest carries the annotation along, and two
// objects must never own one group. It is safe for concurrent use.
type Registry struct {
	reader  client.Reader
	newList func() client.ObjectList
	// taggedFor holds the reading of a group's tags, for each object that has a other.
	taggedFor sync.Map
}

// NewRegistry returns the Registry of the objects in the lists that newList makes. The reader has the index IDField.
func NewRegistry(reader client.Reader, newList func() client.ObjectList) *Registry {
	return &Registry{reader: reader, newList: newList}
}

// OtherOwner is the object that owns the group in the place of another one with the same owner ID.
type OtherOwner struct {
	// Name is empty if there is none.
	Name types.NamespacedName
	// Certain is false if the cloud could not be asked which object the tags name.
	Certain bool
}

// reading is the object that a group's tags named, and when they were read.
type reading struct {
	name string
	at   time.Time
}

// Tags are how a group's tags are read.
type Tags struct {
	// Read asks the cloud which object the tags of the group, or of what is left of it, name. It is nil if the cloud cannot be asked.
	Read func(context.Context) (string, error)
	// Now is the time, and MaxAge how old a reading may be that named an object: a read of the group costs more than its tags.
	Now    time.Time
	MaxAge time.Duration
}

// Find returns the other of an object. While the tags can't be read, those stand that were read last.
func (r *Registry) Find(ctx context.Context, o client.Object, tags Tags) (OtherOwner, error) {
	others, err := r.others(ctx, o)
	if err != nil || len(others) == 0 {
		return OtherOwner{Certain: true}, err
	}
	first := func(one client.Object) bool { return string(one.GetUID()) == one.GetAnnotations()[Annotation] }
	if first(o) || slices.ContainsFunc(others, first) {
		// The ID was made for this object: the tags cannot change that.
		return OtherOwner{Name: winner(o, others, ""), Certain: true}, nil
	}
	key := client.ObjectKeyFromObject(o)
	last, _ := r.taggedFor.Load(key)
	read, _ := last.(reading)
	switch {
	case tags.Read == nil:
		return OtherOwner{Name: winner(o, others, "")}, nil
	case read.name != "" && tags.Now.Sub(read.at) < tags.MaxAge:
		return OtherOwner{Name: winner(o, others, read.name), Certain: true}, nil
	}
	tagged, err := tags.Read(ctx)
	if err != nil {
		// A failed read changes nothing: the object that had the group keeps it.
		return OtherOwner{Name: winner(o, others, read.name)}, nil
	}
	r.taggedFor.Store(key, reading{tagged, tags.Now})
	return OtherOwner{Name: winner(o, others, tagged), Certain: true}, nil
}

// Forget drops what is known of an object that is gone.
func (r *Registry) Forget(key types.NamespacedName) { r.taggedFor.Delete(key) }

// others returns the other objects of the kind with the owner ID of an object.
func (r *Registry) others(ctx context.Context, o client.Object) ([]client.Object, error) {
	id := o.GetAnnotations()[Annotation]
	if id == "" {
		return nil, nil
	}
	list := r.newList()
	if err := r.reader.List(ctx, list, client.MatchingFields{IDField: id}); err != nil {
		return nil, fmt.Errorf("look up other objects with owner ID %s: %w", id, err)
	}
	return slices.DeleteFunc(stored.Items(list), func(other client.Object) bool { return other.GetUID() == o.GetUID() }), nil
}

// winner returns which of several objects with one owner ID owns what the cloud has for it, if it is not o: the one that the tags name, and
// without such the oldest.
func winner(o client.Object, others []client.Object, taggedFor string) types.NamespacedName {
	named := func(other client.Object) bool {
		return strings.HasSuffix(taggedFor, "/"+other.GetNamespace()+"/"+other.GetName())
	}
	if named(o) {
		return types.NamespacedName{}
	}
	for _, other := range others {
		if named(other) {
			return client.ObjectKeyFromObject(other)
		}
	}
	for _, other := range others {
		if older(other, o) {
			return client.ObjectKeyFromObject(other)
		}
	}
	return types.NamespacedName{}
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

package infrapool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// resolvedLimit bounds how many look-ups an object remembers. Beyond it those that the specification no longer rests on
// are dropped; below it they stay, so that going back to an earlier Kubernetes version finds the image that it had.
const resolvedLimit = 64

// keyGroupName is the key under which an object remembers what GroupNameAnnotation said when its group was made.
const keyGroupName = "group-name"

// reasonGroupUnchangeable is the reason of an annotation that the group can't follow.
const reasonGroupUnchangeable = "GroupUnchangeable"

// ownerOf is who the object's cloud objects belong to. As long as no owner ID is written down it is the one that will be.
func ownerOf(o client.Object, cluster string) cloud.Owner {
	id := o.GetAnnotations()[OwnerIDAnnotation]
	if id == "" {
		id = string(o.GetUID())
	}
	return cloud.Owner{ID: id, Cluster: cluster, Namespace: o.GetNamespace(), Name: o.GetName(), GroupName: o.GetAnnotations()[GroupNameAnnotation]}
}

// nameGroup decides the name of the pool's group. It is what the annotation said when the group was made, which the object remembers: a
// group can't be renamed, and under another name a second one would be made. The annotation counts as long as there is no group.
func (r *Reconciler[O, S]) nameGroup(ctx context.Context, s *scope[O], f *facts[S], remembered map[string]string) error {
	owner := &f.Target.Owner
	adopt(s, f, remembered)
	asked := owner.GroupName
	before, known := remembered[keyGroupName]
	if before != asked && r.kind.hasIdentity(s.object) {
		owner.GroupName = before
		if !known || s.object.GetProviderID() == "" && !s.deleting() {
			exists, err := r.groupExists(ctx, s, f)
			if err != nil {
				return err
			}
			if !exists {
				owner.GroupName = asked
			}
		}
	}
	f.groupNameAsked = asked
	switch {
	case owner.GroupName != "" || asked != "":
		f.keep = merged(map[string]string{keyGroupName: owner.GroupName}, f.keep)
	case known:
		f.drop = append(f.drop, keyGroupName)
	}
	f.Target.Remembered = f.remembered(remembered)
	return nil
}

// adopt fills in which group of another tool the object, or its MachinePool, asks to adopt. Once the pool has owned the group, the
// annotation has no effect and can be removed: the object remembers the name.
func adopt[O Object, S any](s *scope[O], f *facts[S], remembered map[string]string) {
	asked, adopted := s.object.GetAnnotations()[AdoptAnnotation], remembered[pool.AdoptedKey]
	if asked == "" && s.pool != nil {
		asked = s.pool.GetAnnotations()[AdoptAnnotation]
	}
	f.Desired.Adopt = pool.Adoption{Name: asked, Done: asked != "" && asked == adopted}
	f.Target.Adopt = asked != "" && asked != adopted && !s.deleting()
	owner := &f.Target.Owner
	owner.GroupName = cmp.Or(asked, owner.GroupName, adopted)
}

// adopted is what is remembered of an adoption that this pass has found made.
func (f *facts[S]) adopted(o pool.Observed) map[string]string {
	asked := f.Desired.Adopt
	if asked.Name == "" || asked.Done || o.Group == nil || f.Target.Owner.GroupName != asked.Name {
		return nil
	}
	return map[string]string{pool.AdoptedKey: asked.Name}
}

// groupExists reports whether the cloud has anything that was made for the pool under the name in f.
func (r *Reconciler[O, S]) groupExists(ctx context.Context, s *scope[O], f *facts[S]) (bool, error) {
	if f.notObservable != nil {
		return false, nil
	}
	seen, err := r.driver.Driver.Observe(ctx, f.Target)
	var unmet *cloud.SpecUnsatisfiableError
	if err != nil && !errors.As(err, &unmet) {
		return false, fmt.Errorf("look for the group of %s %s under its former name: %w", r.kind.Name, client.ObjectKeyFromObject(s.object), err)
	}
	return seen.Group != nil || slices.ContainsFunc(seen.Versions, func(t pool.Template) bool { return !t.UserManaged }), nil
}

// reportGroupName reports that the annotation asks for another name than the group has.
func reportGroupName[S any](f *facts[S], group string, rep *report.Report) {
	name := f.Target.Owner.GroupName
	if name == f.groupNameAsked {
		return
	}
	was := fmt.Sprintf("set it to %q again", name)
	if name == "" {
		was = "remove it"
	}
	text := fmt.Sprintf("the %s keeps the name that it was created with, although metadata.annotations[%s] has changed: %s, or make another pool",
		group, nameAnnotation(f), was)
	for i := range rep.Conditions {
		c := &rep.Conditions[i]
		if (c.Type == report.Ready || c.Type == report.GroupReady) && c.Status == report.True {
			c.Status, c.Reason, c.Message = report.False, reasonGroupUnchangeable, text
		}
	}
}

// nameAnnotation is the annotation that asks for the group's name.
func nameAnnotation[S any](f *facts[S]) string {
	if f.Desired.Adopt.Name != "" {
		return AdoptAnnotation
	}
	return GroupNameAnnotation
}

// hasIdentity reports whether the object may own something in the cloud.
func (k Kind[O, S]) hasIdentity(o O) bool {
	return controllerutil.ContainsFinalizer(o, k.Finalizer) || o.GetAnnotations()[OwnerIDAnnotation] != ""
}

// claim writes down who owns the pool's cloud objects and what finds them again, and keeps the object until they are
// gone. It is one write, made before the cloud is asked for the first time, and none later.
func (r *Reconciler[O, S]) claim(ctx context.Context, o O, keep map[string]string, drop []string) error {
	return r.patchMetadata(ctx, o, func() error {
		controllerutil.AddFinalizer(o, r.kind.Finalizer)
		if o.GetAnnotations()[OwnerIDAnnotation] == "" {
			annotate(o, OwnerIDAnnotation, string(o.GetUID()))
		}
		return resolve(o, keep, drop...)
	})
}

// dropFinalizer lets the object go.
func (r *Reconciler[O, S]) dropFinalizer(ctx context.Context, o O) error {
	return r.patchMetadata(ctx, o, func() error {
		controllerutil.RemoveFinalizer(o, r.kind.Finalizer)
		return nil
	})
}

// remember writes down what was looked up, if that is new.
func (r *Reconciler[O, S]) remember(ctx context.Context, o O, found map[string]string) error {
	if len(found) == 0 {
		return nil
	}
	return r.patchMetadata(ctx, o, func() error { return resolve(o, found) })
}

// patchMetadata writes what change does to the object's finalizers and annotations, if it does anything, against exactly
// the object that was read.
func (r *Reconciler[O, S]) patchMetadata(ctx context.Context, o O, change func() error) error {
	before := o.DeepCopyObject().(O)
	if err := change(); err != nil {
		return err
	}
	if slices.Equal(before.GetFinalizers(), o.GetFinalizers()) && maps.Equal(before.GetAnnotations(), o.GetAnnotations()) {
		return nil
	}
	if err := r.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		o.SetFinalizers(before.GetFinalizers())
		o.SetAnnotations(before.GetAnnotations())
		return fmt.Errorf("write finalizer and annotations of %s %s: %w", r.kind.Name, client.ObjectKeyFromObject(o), err)
	}
	r.stale.wrote(o, before.GetResourceVersion())
	return nil
}

func annotate(o client.Object, key, value string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

// resolved is what the object remembers.
func resolved(o client.Object) (map[string]string, error) {
	text := o.GetAnnotations()[ResolvedAnnotation]
	if text == "" {
		return nil, nil
	}
	var remembered map[string]string
	if err := json.Unmarshal([]byte(text), &remembered); err != nil {
		return nil, fmt.Errorf("metadata.annotations[%s]: want a JSON object of strings; take the annotation away to have everything looked up again: %w",
			ResolvedAnnotation, err)
	}
	return remembered, nil
}

// resolve adds what was found to what the object remembers, and drops what is of no use any more.
func resolve(o client.Object, found map[string]string, drop ...string) error {
	if len(found) == 0 && len(drop) == 0 {
		return nil
	}
	remembered, err := resolved(o)
	if err != nil {
		return err
	}
	next := map[string]string{}
	maps.Copy(next, remembered)
	maps.Copy(next, found)
	if len(next) > resolvedLimit {
		maps.DeleteFunc(next, func(key, _ string) bool {
			_, is := found[key]
			return !is && !lasts(key)
		})
	}
	for _, key := range drop {
		delete(next, key)
	}
	if maps.Equal(next, remembered) {
		return nil
	}
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode look-ups: %w", err)
	}
	annotate(o, ResolvedAnnotation, string(text))
	return nil
}

// lasts reports whether what is remembered under a key is kept however much is remembered.
func lasts(key string) bool {
	if key == keyConfigurations || key == keyGroupName {
		return true
	}
	return slices.ContainsFunc([]string{keyToken, keyContent, pool.AdoptedKey}, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// rivals are the other objects of the kind with the same owner ID: a copy of a manifest carries the annotation along, and two objects
// must never own one group.
func (r *Reconciler[O, S]) rivals(ctx context.Context, o O) ([]client.Object, error) {
	id := o.GetAnnotations()[OwnerIDAnnotation]
	if id == "" {
		return nil, nil
	}
	list := r.kind.NewList()
	if err := r.Client.List(ctx, list, client.MatchingFields{OwnerIDField: id}); err != nil {
		return nil, fmt.Errorf("look up other objects with owner ID %s: %w", id, err)
	}
	return slices.DeleteFunc(objects(list), func(other client.Object) bool { return other.GetUID() == o.GetUID() }), nil
}

// winner returns which of several objects with one owner ID owns what the cloud has for it, if it is not o: the one that the tags of it
// name, and without such the oldest.
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

// ownershipAge is how old the tags may be that say which of several objects a group belongs to: Muster alone writes them.
const ownershipAge = time.Minute

// ownerIDConflict finds another object of the kind with the same owner ID that owns the group, or what is left
// of it. sure is false if the cloud could not be asked whom the tags name.
func (r *Reconciler[O, S]) ownerIDConflict(ctx context.Context, o O, f *facts[S]) (rival types.NamespacedName, sure bool, err error) {
	others, err := r.rivals(ctx, o)
	if err != nil || len(others) == 0 {
		return types.NamespacedName{}, true, err
	}
	first := func(one client.Object) bool { return string(one.GetUID()) == one.GetAnnotations()[OwnerIDAnnotation] }
	if first(o) || slices.ContainsFunc(others, first) {
		// It is the object that the ID was made for: no tag says more.
		return winner(o, others, ""), true, nil
	}
	if f.notObservable != nil {
		// An object that has named no group has nothing to lose.
		return winner(o, others, ""), o.GetProviderID() == "", nil
	}
	target, key := f.Target, client.ObjectKeyFromObject(o)
	target.MaxAge = ownershipAge
	seen, err := r.driver.Driver.Observe(ctx, target)
	var unmet *cloud.SpecUnsatisfiableError
	if err != nil && !errors.As(err, &unmet) {
		// A look that failed says nothing new: the object that had the group keeps it.
		before, _ := r.taggedFor.Load(key)
		name, _ := before.(string)
		return winner(o, others, name), false, nil
	}
	r.taggedFor.Store(key, seen.TaggedFor)
	return winner(o, others, seen.TaggedFor), true, nil
}

// older orders objects by creation, then UID. The object whose own UID the ID is always comes first.
func older(a, b client.Object) bool {
	id := a.GetAnnotations()[OwnerIDAnnotation]
	if string(a.GetUID()) == id || string(b.GetUID()) == id {
		return string(a.GetUID()) == id
	}
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !at.Equal(&bt) {
		return at.Before(&bt)
	}
	return a.GetUID() < b.GetUID()
}

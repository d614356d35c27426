package world

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/muster-project/muster/test/explore/oracle"
)

// backup is what a user exports of the objects, and applies again.
type backup struct {
	world *World
	// before are the names of the groups when the objects were last applied again.
	before []string
}

// applied is how many of the lists hold what users apply: the others are Machines and what they stand on.
const applied = 4

// lists are the kinds of a backup that concern the pool, in the order in which they are restored.
func (b *backup) lists() []client.ObjectList {
	list := []client.ObjectList{&corev1.SecretList{}, &clusterv1.ClusterList{}, &clusterv1.MachinePoolList{}, b.listOf(b.world.pool.New())}
	if of := b.world.Scenario.Machines(); of != nil {
		list = append(list, of.List(), &clusterv1.MachineList{})
	}
	return list
}

// listOf is an empty list of objects of the kind of an object.
func (b *backup) listOf(o client.Object) client.ObjectList {
	w := b.world
	types, err := scheme(w.Scenario.Kind)
	w.Must(err, "make the scheme")
	of, err := apiutil.GVKForObject(o, types)
	w.Must(err, "find the kind of %T", o)
	list, err := types.New(of.GroupVersion().WithKind(of.Kind + "List"))
	w.Must(err, "make a list of %s", of.Kind)
	return list.(client.ObjectList)
}

// restore plays that the management cluster was lost and that a backup is restored into another one: each object has another UID and no
// status, and on every second occasion no owner references. Objects that were being deleted are in no backup, and nothing is left of what
// was asked for. Without machines there is no backup but what users apply.
func (b *backup) restore(owners, machines bool) {
	w := b.world
	if w.any(func() bool { return w.Objects.deleted() }) {
		return
	}
	w.faults++
	for k, list := range b.lists() {
		w.Must(w.Objects.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list what is in the backup")
		w.Must(meta.EachListItem(list, func(o runtime.Object) error { return b.restoreOne(o.(client.Object), owners, k < applied || machines) }),
			"restore the backup")
	}
	for _, m := range w.members {
		clear(m.Instances.condemned)
	}
	w.keeper.Forget()
	w.Workload.Users.UncordonRestored()
	for _, p := range slices.Clone(w.managers.list) {
		w.managers.bury(p)
	}
}

// elsewhere is the namespace of a copy of the pool's infrastructure object.
const elsewhere = "elsewhere"

// applyCopy applies the infrastructure object as it was exported, with the owner ID in its annotations, in another namespace.
func (b *backup) applyCopy() {
	w := b.world
	_, o := w.Objects.Both()
	if o == nil || w.Objects.deleted() {
		return
	}
	c := o.DeepCopyObject().(client.Object)
	c.SetNamespace(elsewhere)
	c.SetUID("")
	c.SetResourceVersion("")
	c.SetFinalizers(nil)
	c.SetOwnerReferences(nil)
	w.Must(w.Objects.User.Create(w.t.Context(), c), "apply a copy")
}

// dropCopy deletes the copy where the pool has no group whose tags tell which of the two objects it belongs to.
func (b *backup) dropCopy() {
	w := b.world
	o := w.pool.New()
	ours := func(g oracle.Group) bool { return g.Owner == w.Objects.Owner().ID && !g.Deleting }
	key := client.ObjectKey{Namespace: elsewhere, Name: w.key.Name}
	if slices.ContainsFunc(w.Snapshot().Groups, ours) || w.Objects.User.Get(w.t.Context(), key, o) != nil {
		return
	}
	w.Must(w.Objects.User.Delete(w.t.Context(), o), "delete the copy")
}

// restoreOne replaces one object by what a restore makes of it, or deletes one that is in no backup. The status of the Cluster is its own
// controller's.
func (b *backup) restoreOne(o client.Object, owners, kept bool) error {
	w := b.world
	ctx, deleting := w.t.Context(), !o.GetDeletionTimestamp().IsZero()
	old := o.DeepCopyObject().(client.Object)
	old.SetFinalizers(nil)
	if err := w.Objects.User.Update(ctx, old); err != nil {
		return fmt.Errorf("free %T %s: %w", o, o.GetName(), err)
	}
	if deleting {
		return nil
	}
	if err := w.Objects.User.Delete(ctx, old); err != nil {
		return fmt.Errorf("delete %T %s: %w", o, o.GetName(), err)
	}
	if !kept {
		return nil
	}
	o.SetUID("")
	o.SetResourceVersion("")
	if !owners {
		o.SetOwnerReferences(nil)
	}
	cluster, up := o.(*clusterv1.Cluster)
	var status clusterv1.ClusterStatus
	if up {
		status = cluster.Status
	}
	if err := w.Objects.User.Create(ctx, o); err != nil || !up {
		return err
	}
	cluster.Status = status
	return w.Objects.User.Status().Update(ctx, cluster)
}

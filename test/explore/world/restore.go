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

// backup holds the objects that a user exports and applies again.
type backup struct {
	world *World
	// before lists the names of the groups at the last restore.
	before []string
}

// applied is the number of lists with objects that users apply. The others hold Machines and their infrastructure.
const applied = 4

// lists returns the object lists of a backup that concern the pool, in the order of a restore.
func (b *backup) lists() []client.ObjectList {
	list := []client.ObjectList{&corev1.SecretList{}, &clusterv1.ClusterList{}, &clusterv1.MachinePoolList{}, b.listOf(b.world.pool.New())}
	if of := b.world.Scenario.Machines(); of != nil {
		list = append(list, of.List(), &clusterv1.MachineList{})
	}
	return list
}

// listOf returns an empty list of objects of the kind of an object.
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

// restore simulates the loss of the management cluster and the restore of a backup into another one: each object has a new UID and no
// status, and unless owners is set no owner references. A backup has no objects that were being deleted, and requests are lost. Without
// machines, it holds only the objects that users apply.
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
		clear(m.Instances.deletionRequested)
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

// dropCopy deletes the copy if no group of the pool has tags that tell which of the two objects owns it.
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

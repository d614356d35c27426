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

// backup are the kinds of a backup that concern the pool, in the order in which they are restored.
func (w *World) backup() []client.ObjectList {
	list := []client.ObjectList{&corev1.SecretList{}, &clusterv1.ClusterList{}, &clusterv1.MachinePoolList{}, w.listOf(w.pool.New())}
	if of := w.Scenario.machines(); of != nil {
		list = append(list, of.List(), &clusterv1.MachineList{})
	}
	return list
}

// listOf is an empty list of objects of the kind of an object.
func (w *World) listOf(o client.Object) client.ObjectList {
	types, err := w.Scenario.Kind.scheme()
	w.Must(err, "make the scheme")
	of, err := apiutil.GVKForObject(o, types)
	w.Must(err, "find the kind of %T", o)
	list, err := types.New(of.GroupVersion().WithKind(of.Kind + "List"))
	w.Must(err, "make a list of %s", of.Kind)
	return list.(client.ObjectList)
}

// restore plays that the management cluster was lost and that a backup is restored into another one: each object has another UID and no
// status, and on every second occasion no owner references. Objects that were being deleted are in no backup, and nothing is left of what
// was asked for.
func (w *World) restore(owners bool) {
	if w.deleted() {
		return
	}
	w.faults++
	for _, list := range w.backup() {
		w.Must(w.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list what is in the backup")
		w.Must(meta.EachListItem(list, func(o runtime.Object) error { return w.restoreOne(o.(client.Object), owners) }), "restore the backup")
	}
	clear(w.condemned)
	w.keeper.Forget()
	w.Workload.Users.UncordonRestored()
	for _, p := range slices.Clone(w.processes) {
		w.bury(p)
	}
}

// elsewhere is the namespace of a copy of the pool's infrastructure object.
const elsewhere = "elsewhere"

// applyCopy applies the infrastructure object as it was exported, with the owner ID in its annotations, in another namespace.
func (w *World) applyCopy() {
	_, o := w.Objects()
	if o == nil || w.deleted() {
		return
	}
	c := o.DeepCopyObject().(client.Object)
	c.SetNamespace(elsewhere)
	c.SetUID("")
	c.SetResourceVersion("")
	c.SetFinalizers(nil)
	c.SetOwnerReferences(nil)
	w.Must(w.User.Create(w.t.Context(), c), "apply a copy")
}

// dropCopy deletes the copy where the pool has no group whose tags tell which of the two objects it belongs to.
func (w *World) dropCopy() {
	o := w.pool.New()
	ours := func(g oracle.Group) bool { return g.Owner == w.Owner().ID && !g.Deleting }
	if slices.ContainsFunc(w.Snapshot().Groups, ours) || w.User.Get(w.t.Context(), client.ObjectKey{Namespace: elsewhere, Name: InfraKey.Name},
		o) != nil {
		return
	}
	w.Must(w.User.Delete(w.t.Context(), o), "delete the copy")
}

// restoreOne replaces one object by what a restore makes of it. The status of the Cluster is its own controller's.
func (w *World) restoreOne(o client.Object, owners bool) error {
	ctx, deleting := w.t.Context(), !o.GetDeletionTimestamp().IsZero()
	old := o.DeepCopyObject().(client.Object)
	old.SetFinalizers(nil)
	if err := w.User.Update(ctx, old); err != nil {
		return fmt.Errorf("free %T %s: %w", o, o.GetName(), err)
	}
	if deleting {
		return nil
	}
	if err := w.User.Delete(ctx, old); err != nil {
		return fmt.Errorf("delete %T %s: %w", o, o.GetName(), err)
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
	if err := w.User.Create(ctx, o); err != nil || !up {
		return err
	}
	cluster.Status = status
	return w.User.Status().Update(ctx, cluster)
}

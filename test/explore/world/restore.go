package world

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/test/explore/oracle"
)

// backup are the kinds of a backup that concern the pool, in the order in which they are restored.
func (w *World) backup() []client.ObjectList {
	list := []client.ObjectList{&corev1.SecretList{}, &clusterv1.ClusterList{}, &clusterv1.MachinePoolList{}}
	switch {
	case w.scenario.manifest():
		return append(list, &aksv1.AzureASOManagedMachinePoolList{})
	case w.scenario.onAKS():
		return append(list, &aksv1.AzureManagedMachinePoolList{})
	case w.scenario.onAzure():
		return append(list, &azurev1.AzureMachinePoolList{}, &azurev1.AzureMachinePoolMachineList{}, &clusterv1.MachineList{})
	case w.scenario.Managed:
		return append(list, &awsv1.AWSManagedMachinePoolList{})
	}
	return append(list, &awsv1.AWSMachinePoolList{})
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
		w.must(w.user.List(w.t.Context(), list, client.InNamespace(namespace)), "list what is in the backup")
		w.must(meta.EachListItem(list, func(o runtime.Object) error { return w.restoreOne(o.(client.Object), owners) }), "restore the backup")
	}
	clear(w.condemned)
	clear(w.keeper.drains)
	w.workload.uncordonRestored()
	for _, p := range slices.Clone(w.processes) {
		w.bury(p)
	}
}

// elsewhere is the namespace of a copy of the pool's infrastructure object.
const elsewhere = "elsewhere"

// applyCopy applies the infrastructure object as it was exported, with the owner ID in its annotations, in another namespace.
func (w *World) applyCopy() {
	_, o := w.objects(w.user)
	if o == nil || w.deleted() {
		return
	}
	c := o.DeepCopyObject().(client.Object)
	c.SetNamespace(elsewhere)
	c.SetUID("")
	c.SetResourceVersion("")
	c.SetFinalizers(nil)
	c.SetOwnerReferences(nil)
	w.must(w.user.Create(w.t.Context(), c), "apply a copy")
}

// dropCopy deletes the copy where the pool has no group whose tags tell which of the two objects it belongs to.
func (w *World) dropCopy() {
	o := w.scenario.newInfra()
	ours := func(g oracle.Group) bool { return g.Owner == w.owner().ID && !g.Deleting }
	if slices.ContainsFunc(w.account.snapshot().Groups, ours) || w.user.Get(w.t.Context(), client.ObjectKey{Namespace: elsewhere, Name: infraKey.Name}, o.Object) != nil {
		return
	}
	w.must(w.user.Delete(w.t.Context(), o.Object), "delete the copy")
}

// uncordonRestored has a user take back the cordons of Machines whose deletion was not in the backup: their controller knows of no drain.
func (l *workload) uncordonRestored() {
	for _, m := range l.running() {
		node := l.node(m)
		if node == nil || !node.Spec.Unschedulable || node.Annotations[drain.StartedAnnotation] != "" || l.cordoned[node.Name] {
			continue
		}
		node.Spec.Unschedulable = false
		l.world.must(l.user.Update(l.world.t.Context(), node), "uncordon node %s", node.Name)
	}
}

// restoreOne replaces one object by what a restore makes of it. The status of the Cluster is its own controller's.
func (w *World) restoreOne(o client.Object, owners bool) error {
	ctx, deleting := w.t.Context(), !o.GetDeletionTimestamp().IsZero()
	old := o.DeepCopyObject().(client.Object)
	old.SetFinalizers(nil)
	if err := w.user.Update(ctx, old); err != nil {
		return fmt.Errorf("free %T %s: %w", o, o.GetName(), err)
	}
	if deleting {
		return nil
	}
	if err := w.user.Delete(ctx, old); err != nil {
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
	if err := w.user.Create(ctx, o); err != nil || !up {
		return err
	}
	cluster.Status = status
	return w.user.Status().Update(ctx, cluster)
}

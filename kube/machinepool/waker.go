package machinepool

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// referenceField is the index over MachinePools by the objects that they refer to.
const referenceField = "muster.dev/references"

// references extracts the values of referenceField from a MachinePool.
func references(o client.Object) []string {
	pool, ok := o.(*clusterv1.MachinePool)
	if !ok {
		return nil
	}
	var all []string
	for _, ref := range []clusterv1.ContractVersionedObjectReference{
		pool.Spec.Template.Spec.Bootstrap.ConfigRef, pool.Spec.Template.Spec.InfrastructureRef,
	} {
		if ref.IsDefined() {
			all = append(all, referenceTo(ref.APIGroup, ref.Kind, ref.Name))
		}
	}
	return all
}

func referenceTo(group, kind, name string) string { return kind + "." + group + " " + name }

// waker maps objects to the pools that have to be reconciled when the objects change. A read that fails wakes no pool: the next resync
// does.
type waker struct {
	client.Reader
}

// poolsThatRefer returns a function that maps an object of one kind to the pools that refer to it, whether or not they own it yet. The kind
// is given, because typed objects of a cache do not contain theirs.
func (w waker) poolsThatRefer(gk schema.GroupKind) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []ctrl.Request {
		return w.requests(ctx, o.GetNamespace(), client.MatchingFields{referenceField: referenceTo(gk.Group, gk.Kind, o.GetName())})
	}
}

// poolsOfCluster maps a Cluster to its pools.
func (w waker) poolsOfCluster(ctx context.Context, o client.Object) []ctrl.Request {
	return w.requests(ctx, o.GetNamespace(), client.MatchingLabels{clusterv1.ClusterNameLabel: o.GetName()})
}

// requests returns requests for the pools of a namespace that match.
func (w waker) requests(ctx context.Context, namespace string, match client.ListOption) []ctrl.Request {
	list := &clusterv1.MachinePoolList{}
	if err := w.List(ctx, list, client.InNamespace(namespace), match, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	all := make([]ctrl.Request, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return all
}

// poolOfMember maps a Machine or an infrastructure machine to its pool: the pool that controls it, otherwise the one that its labels name.
// Machines of other owners wake no pool.
func (w waker) poolOfMember(ctx context.Context, o client.Object) []ctrl.Request {
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		gv, err := schema.ParseGroupVersion(owner.APIVersion)
		if err == nil && gv.Group == clusterv1.GroupVersion.Group && owner.Kind == "MachinePool" {
			return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: owner.Name}}}
		}
	}
	named, cluster := o.GetLabels()[clusterv1.MachinePoolNameLabel], o.GetLabels()[clusterv1.ClusterNameLabel]
	if named == "" || cluster == "" {
		return nil
	}
	pool := &clusterv1.MachinePool{}
	key := client.ObjectKey{Namespace: o.GetNamespace(), Name: named}
	if err := w.Get(ctx, key, pool); err == nil && pool.Spec.ClusterName == cluster {
		return []ctrl.Request{{NamespacedName: key}}
	}
	// A name that is too long for a label is a hash there.
	var all []ctrl.Request
	for _, request := range w.requests(ctx, o.GetNamespace(), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster}) {
		if format.MustEqualValue(request.Name, named) {
			all = append(all, request)
		}
	}
	return all
}

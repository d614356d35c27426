// Package watch maps watched objects to the infrastructure objects that their changes concern, with the indexes for that.
package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/ownership"
)

const (
	// InfrastructureField is the index over MachinePools by the object that spec.template.spec.infrastructureRef names.
	InfrastructureField = "muster.dev/infrastructure"
	// DataSecretField is the index over MachinePools by spec.template.spec.bootstrap.dataSecretName.
	DataSecretField = "muster.dev/dataSecret"
	// ClusterField is the index over MachinePools by spec.clusterName.
	ClusterField = "muster.dev/cluster"
)

// Index is one index that the reconcilers need.
type Index struct {
	Object client.Object
	Field  string
	Values client.IndexerFunc
}

// Indexes returns the indexes over MachinePools and Machines that reconcilers of all kinds share.
func Indexes() []Index {
	return []Index{
		{&clusterv1.MachinePool{}, InfrastructureField, ofPool(func(mp *clusterv1.MachinePool) string {
			ref := mp.Spec.Template.Spec.InfrastructureRef
			return InfrastructureValue(ref.APIGroup, ref.Kind, ref.Name)
		})},
		{&clusterv1.MachinePool{}, DataSecretField, ofPool(func(mp *clusterv1.MachinePool) string {
			return ptr.Deref(mp.Spec.Template.Spec.Bootstrap.DataSecretName, "")
		})},
		{&clusterv1.MachinePool{}, ClusterField, ofPool(func(mp *clusterv1.MachinePool) string { return mp.Spec.ClusterName })},
		machinesIndex(),
	}
}

// OwnerIDIndex returns the index over the objects of one kind by their owner ID.
func OwnerIDIndex(o client.Object) Index {
	return Index{o, ownership.IDField, ownership.IDs}
}

// AddIndexes adds the shared indexes to the cache of a manager before it starts. It is called once for a manager: a cache rejects a second
// index of one name.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range Indexes() {
		if err := indexer.IndexField(ctx, i.Object, i.Field, i.Values); err != nil {
			return fmt.Errorf("index %T by %s: %w", i.Object, i.Field, err)
		}
	}
	return nil
}

func ofPool(value func(*clusterv1.MachinePool) string) client.IndexerFunc {
	return func(o client.Object) []string {
		mp, ok := o.(*clusterv1.MachinePool)
		if !ok || value(mp) == "" {
			return nil
		}
		return []string{value(mp)}
	}
}

// InfrastructureValue returns the value in the index InfrastructureField of the MachinePools that reference an object.
func InfrastructureValue(group, kind, name string) string { return group + "/" + kind + "/" + name }

// Requests maps watched objects to the infrastructure objects of one kind that they concern. A failed look-up finds none: the objects are
// reconciled at the next interval.
type Requests struct {
	// Group and Kind of the infrastructure objects.
	Group, Kind string
	Reader      client.Reader
	// Identities holds which objects use which secrets.
	Identities *identity.Sources
	// InfraCluster returns the reference of a Cluster to the object that describes its place in the cloud.
	InfraCluster func(*clusterv1.Cluster) clusterv1.ContractVersionedObjectReference
	// ControlPlane returns the reference to a second such object; nil if the kind reads none.
	ControlPlane func(*clusterv1.Cluster) clusterv1.ContractVersionedObjectReference
}

// Of returns the request for the infrastructure object of a MachinePool, if that is of the kind.
func (q Requests) Of(mp *clusterv1.MachinePool) []ctrl.Request {
	ref := mp.Spec.Template.Spec.InfrastructureRef
	if ref.APIGroup != q.Group || ref.Kind != q.Kind || ref.Name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}}}
}

// OfPolicy returns the infrastructure objects that a rollout policy may select: those of the MachinePools of its namespace, or of all.
func (q Requests) OfPolicy(ctx context.Context, o client.Object) (list []ctrl.Request) {
	var pools clusterv1.MachinePoolList
	if err := q.Reader.List(ctx, &pools, client.InNamespace(o.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	for k := range pools.Items {
		list = append(list, q.Of(&pools.Items[k])...)
	}
	return list
}

// OfPool is Of, for a watch.
func (q Requests) OfPool(_ context.Context, o client.Object) []ctrl.Request {
	mp, ok := o.(*clusterv1.MachinePool)
	if !ok {
		return nil
	}
	return q.Of(mp)
}

// OfCluster returns the requests for the pools of a Cluster.
func (q Requests) OfCluster(ctx context.Context, cluster client.Object) []ctrl.Request {
	return q.where(ctx, cluster.GetNamespace(), ClusterField, cluster.GetName())
}

// OfSecret returns the requests for the pools that boot with a secret, or call the cloud with it.
func (q Requests) OfSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	return append(q.where(ctx, secret.GetNamespace(), DataSecretField, secret.GetName()), q.Identities.SecretRequests(secret)...)
}

// where returns the requests for the MachinePools with a value in an index.
func (q Requests) where(ctx context.Context, namespace, field, value string) []ctrl.Request {
	list := &clusterv1.MachinePoolList{}
	if err := q.Reader.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{field: value}); err != nil {
		return nil
	}
	var all []ctrl.Request
	for i := range list.Items {
		all = append(all, q.Of(&list.Items[i])...)
	}
	return all
}

// OfInfraCluster returns the requests for the pools of every cluster that references an infrastructure cluster, or a control plane that the
// kind reads.
func (q Requests) OfInfraCluster(ctx context.Context, infraCluster client.Object) []ctrl.Request {
	list := &clusterv1.ClusterList{}
	if err := q.Reader.List(ctx, list, client.InNamespace(infraCluster.GetNamespace())); err != nil {
		return nil
	}
	gk := infraCluster.GetObjectKind().GroupVersionKind().GroupKind()
	var all []ctrl.Request
	for i := range list.Items {
		if slices.ContainsFunc(q.described(&list.Items[i]), func(ref clusterv1.ContractVersionedObjectReference) bool {
			return ref.Name == infraCluster.GetName() && ref.GroupKind() == gk
		}) {
			all = append(all, q.OfCluster(ctx, &list.Items[i])...)
		}
	}
	return all
}

// described returns the references of a Cluster to the objects that describe it in the cloud.
func (q Requests) described(cluster *clusterv1.Cluster) []clusterv1.ContractVersionedObjectReference {
	refs := []clusterv1.ContractVersionedObjectReference{q.InfraCluster(cluster)}
	if q.ControlPlane != nil {
		refs = append(refs, q.ControlPlane(cluster))
	}
	return refs
}

// RequestChanged passes changes of what users and other controllers request of an object. A change of the status alone is none.
func RequestChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, b := e.ObjectOld, e.ObjectNew
		return a.GetGeneration() != b.GetGeneration() || a.GetUID() != b.GetUID() ||
			!maps.Equal(a.GetAnnotations(), b.GetAnnotations()) || !maps.Equal(a.GetLabels(), b.GetLabels()) ||
			!a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) ||
			!equality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
	}}
}

// ClusterChanged passes changes of a Cluster that concern its pools.
func ClusterChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, aok := e.ObjectOld.(*clusterv1.Cluster)
		b, bok := e.ObjectNew.(*clusterv1.Cluster)
		return !aok || !bok || a.Generation != b.Generation || a.UID != b.UID || !a.DeletionTimestamp.Equal(b.DeletionTimestamp) ||
			!equality.Semantic.DeepEqual(a.Status.Initialization, b.Status.Initialization)
	}}
}

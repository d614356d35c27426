package infrapool

import (
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/muster-project/muster/kube/nodes"
)

const (
	// InfrastructureField is the index over MachinePools by the object that spec.template.spec.infrastructureRef names.
	InfrastructureField = "muster.dev/infrastructure"
	// DataSecretField is the index over MachinePools by spec.template.spec.bootstrap.dataSecretName.
	DataSecretField = "muster.dev/dataSecret"
	// ClusterField is the index over MachinePools by spec.clusterName.
	ClusterField = "muster.dev/cluster"
	// OwnerIDField is the index over infrastructure objects by their owner ID.
	OwnerIDField = "muster.dev/ownerID"
)

// Index is one index that the reconcilers need.
type Index struct {
	Object client.Object
	Field  string
	Values client.IndexerFunc
}

// Indexes are the indexes over MachinePools and Machines that reconcilers of all kinds share.
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

// OwnerIDIndex is the index over the objects of one kind.
func OwnerIDIndex(o client.Object) Index {
	return Index{o, OwnerIDField, func(o client.Object) []string {
		if id := o.GetAnnotations()[OwnerIDAnnotation]; id != "" {
			return []string{id}
		}
		return nil
	}}
}

// AddIndexes adds the shared indexes to a manager's cache before it starts. It is called once for a manager: a cache
// refuses a second index of one name.
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

// InfrastructureValue is the value in the index InfrastructureField of the MachinePools that name an object.
func InfrastructureValue(group, kind, name string) string { return group + "/" + kind + "/" + name }

// watches are what a running reconciler adds to its controller as it meets clusters. Without a controller there are none.
type watches struct {
	controller controller.Controller
	tracker    *external.ObjectTracker
}

// SetupWithManager adds the reconciler to a manager that has the indexes of AddIndexes and of package kube/nodes.
func (r *Reconciler[O, S]) SetupWithManager(ctx context.Context, mgr ctrl.Manager, o controller.Options) error {
	ids := OwnerIDIndex(r.kind.New())
	if err := mgr.GetFieldIndexer().IndexField(ctx, ids.Object, ids.Field, ids.Values); err != nil {
		return fmt.Errorf("index %ss by owner ID: %w", r.kind.Name, err)
	}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", r.kind.controllerName())
	b := ctrl.NewControllerManagedBy(mgr).Named(r.kind.controllerName()).WithOptions(o).
		For(r.kind.New(), builder.WithPredicates(askedAnew())).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(r.requests.ofPool), builder.WithPredicates(askedAnew())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.requests.ofCluster), builder.WithPredicates(clusterMoved())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requests.ofSecret),
			builder.WithPredicates(predicates.ResourceIsChanged(mgr.GetScheme(), log))).
		WatchesRawSource(r.ClusterCache.GetClusterSource(r.kind.controllerName(), r.requests.ofCluster))
	if err := r.watchMachines(ctx, mgr, b); err != nil {
		return err
	}
	c, err := b.Build(r)
	if err != nil {
		return fmt.Errorf("controller of %ss: %w", r.kind.Name, err)
	}
	r.watches = watches{controller: c, tracker: &external.ObjectTracker{
		Controller: c, Cache: mgr.GetCache(), Scheme: mgr.GetScheme(), PredicateLogger: &log,
	}}
	r.sources.Watching(mgr, c, r.watches.tracker)
	return nil
}

// watchInfraCluster wakes the pools of a cluster when the object that says where the cluster is changes.
func (r *Reconciler[O, S]) watchInfraCluster(ctx context.Context, place *unstructured.Unstructured) error {
	if r.watches.tracker == nil {
		return nil
	}
	if err := r.watches.tracker.Watch(ctrl.LoggerFrom(ctx), place, handler.EnqueueRequestsFromMapFunc(r.requests.ofInfraCluster),
		predicates.ResourceIsChanged(r.Client.Scheme(), *r.watches.tracker.PredicateLogger)); err != nil {
		return fmt.Errorf("watch %s: %w", place.GetKind(), err)
	}
	return nil
}

// watchNodes wakes the pool when one of its nodes changes in a way that matters.
func (r *Reconciler[O, S]) watchNodes(ctx context.Context, s *scope[O]) error {
	if r.watches.controller == nil || s.cluster == nil {
		return nil
	}
	return nodes.Watch(ctx, r.ClusterCache, client.ObjectKeyFromObject(s.cluster), nodes.WatchOptions{
		Name: r.kind.controllerName() + "-nodes", Controller: r.watches.controller, Reader: r.Client, Requests: r.requests.of,
	})
}

// requests maps objects that are watched to the infrastructure objects of one kind that they concern.
type requests struct {
	// group and kind of the infrastructure objects.
	group, kind string
	reader      client.Reader
	sources     *Sources
	// infraCluster is Adapter.InfraCluster.
	infraCluster func(*clusterv1.Cluster) clusterv1.ContractVersionedObjectReference
}

// of are the requests for a MachinePool's infrastructure object, if that is of our kind.
func (q *requests) of(mp *clusterv1.MachinePool) []ctrl.Request {
	ref := mp.Spec.Template.Spec.InfrastructureRef
	if ref.APIGroup != q.group || ref.Kind != q.kind || ref.Name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}}}
}

// ofPool is of, for a watch.
func (q *requests) ofPool(_ context.Context, o client.Object) []ctrl.Request {
	mp, ok := o.(*clusterv1.MachinePool)
	if !ok {
		return nil
	}
	return q.of(mp)
}

// ofCluster are the requests for the pools of a Cluster.
func (q *requests) ofCluster(ctx context.Context, cluster client.Object) []ctrl.Request {
	return q.where(ctx, cluster.GetNamespace(), ClusterField, cluster.GetName())
}

// ofSecret are the requests for the pools that boot with a secret, or call the cloud with it.
func (q *requests) ofSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	return append(q.where(ctx, secret.GetNamespace(), DataSecretField, secret.GetName()), q.sources.SecretRequests(secret)...)
}

// where are the requests for the MachinePools with a value in an index. A look-up that fails finds none: the next
// look comes by the clock.
func (q *requests) where(ctx context.Context, namespace, field, value string) []ctrl.Request {
	list := &clusterv1.MachinePoolList{}
	if err := q.reader.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{field: value}); err != nil {
		return nil
	}
	var all []ctrl.Request
	for i := range list.Items {
		all = append(all, q.of(&list.Items[i])...)
	}
	return all
}

// ofInfraCluster are the requests for the pools of every cluster that is where the object says.
func (q *requests) ofInfraCluster(ctx context.Context, place client.Object) []ctrl.Request {
	list := &clusterv1.ClusterList{}
	if err := q.reader.List(ctx, list, client.InNamespace(place.GetNamespace())); err != nil {
		return nil
	}
	gk := place.GetObjectKind().GroupVersionKind().GroupKind()
	var all []ctrl.Request
	for i := range list.Items {
		ref := q.infraCluster(&list.Items[i])
		if ref.Name == place.GetName() && ref.GroupKind() == gk {
			all = append(all, q.ofCluster(ctx, &list.Items[i])...)
		}
	}
	return all
}

// controllerName returns the name of the kind's controller.
func (k Kind[O, S]) controllerName() string { return strings.ToLower(k.Name) }

// askedAnew passes what people and other controllers change on an object. Status alone is what controllers tell.
func askedAnew() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, b := e.ObjectOld, e.ObjectNew
		return a.GetGeneration() != b.GetGeneration() || a.GetUID() != b.GetUID() ||
			!maps.Equal(a.GetAnnotations(), b.GetAnnotations()) || !maps.Equal(a.GetLabels(), b.GetLabels()) ||
			!a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) ||
			!equality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
	}}
}

// clusterMoved passes what a pool cares for in its Cluster.
func clusterMoved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, aok := e.ObjectOld.(*clusterv1.Cluster)
		b, bok := e.ObjectNew.(*clusterv1.Cluster)
		return !aok || !bok || a.Generation != b.Generation || a.UID != b.UID || !a.DeletionTimestamp.Equal(b.DeletionTimestamp) ||
			!equality.Semantic.DeepEqual(a.Status.Initialization, b.Status.Initialization)
	}}
}

// objects are the items of a list.
func objects(list client.ObjectList) []client.Object {
	var out []client.Object
	each := func(o runtime.Object) error {
		if item, ok := o.(client.Object); ok {
			out = append(out, item)
		}
		return nil
	}
	if err := meta.EachListItem(list, each); err != nil {
		return nil
	}
	return out
}

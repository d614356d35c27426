package infrapool

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/muster-project/muster/kube/machines"
)

const (
	// PoolField is the index over infrastructure machines by the name of the infrastructure object of their pool.
	PoolField = "muster.dev/pool"
	// OrphanField is the index over infrastructure machines that no pool owns by the value of their label cluster.x-k8s.io/pool-name.
	OrphanField = "muster.dev/orphan"
	// MachinesField is the index over Machines by the value of their label cluster.x-k8s.io/pool-name.
	MachinesField = "muster.dev/machines"
)

// machinesIndex is the index over Machines, which all kinds share.
func machinesIndex() Index {
	return Index{&clusterv1.Machine{}, MachinesField, func(o client.Object) []string {
		if name := o.GetLabels()[clusterv1.MachinePoolNameLabel]; name != "" {
			return []string{name}
		}
		return nil
	}}
}

// MachineIndexes are the indexes over the infrastructure machines of an adapter's pools; none where there are no such.
func MachineIndexes[O Object, S any](a Adapter[O, S]) []Index {
	kind := a.Kind()
	if kind.Machines == nil {
		return nil
	}
	orphans := Index{kind.Machines.New(), OrphanField, func(o client.Object) []string {
		if name := o.GetLabels()[clusterv1.MachinePoolNameLabel]; name != "" && poolOf(o, kind.Group, kind.Name) == "" {
			return []string{name}
		}
		return nil
	}}
	return []Index{orphans, {kind.Machines.New(), PoolField, func(o client.Object) []string {
		if name := poolOf(o, kind.Group, kind.Name); name != "" {
			return []string{name}
		}
		return nil
	}}}
}

// poolOf is the name of the infrastructure object that owns an infrastructure machine.
func poolOf(o client.Object, group, kind string) string {
	for _, ref := range o.GetOwnerReferences() {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err == nil && gv.Group == group && ref.Kind == kind {
			return ref.Name
		}
	}
	return ""
}

// watchMachines wakes a pool when its machines change, if the kind has such.
func (r *Reconciler[O, S]) watchMachines(ctx context.Context, mgr ctrl.Manager, b *builder.Builder) error {
	if r.kind.Machines == nil {
		return nil
	}
	kind := *r.kind.Machines
	for _, i := range MachineIndexes(r.adapter) {
		if err := mgr.GetFieldIndexer().IndexField(ctx, i.Object, i.Field, i.Values); err != nil {
			return fmt.Errorf("index %ss by pool: %w", kind.Name, err)
		}
	}
	b.Watches(kind.New(), handler.EnqueueRequestsFromMapFunc(r.requests.ofInfraMachine), builder.WithPredicates(askedAnew()))
	b.Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(r.requests.ofMachine(kind)), builder.WithPredicates(askedAnew()))
	return nil
}

// ofInfraMachine is the request for the pool that an infrastructure machine belongs to: by its owner, or by its label where it
// has lost that.
func (q *requests) ofInfraMachine(ctx context.Context, o client.Object) []ctrl.Request {
	name := poolOf(o, q.group, q.kind)
	if name == "" {
		return q.named(ctx, o.GetNamespace(), o.GetLabels()[clusterv1.MachinePoolNameLabel])
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// ofMachine are the requests for the pool that a Machine belongs to, if its infrastructure is of our kind. A look-up that
// fails finds none: the next look comes by the clock.
func (q *requests) ofMachine(kind machines.Kind) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []ctrl.Request {
		m, ok := o.(*clusterv1.Machine)
		if !ok || m.Spec.InfrastructureRef.Kind != kind.Name || m.Spec.InfrastructureRef.APIGroup != kind.GroupVersion.Group {
			return nil
		}
		return q.named(ctx, m.Namespace, ownerName(m))
	}
}

// named are the requests for the infrastructure object of the MachinePool that is named, if any is.
func (q *requests) named(ctx context.Context, namespace, name string) []ctrl.Request {
	if name == "" {
		return nil
	}
	mp := &clusterv1.MachinePool{}
	if err := q.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, mp); err != nil {
		return nil
	}
	return q.of(mp)
}

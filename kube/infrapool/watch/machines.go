package watch

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// MachinesField is the index over Machines by the value of their label cluster.x-k8s.io/pool-name.
const MachinesField = "muster.dev/machines"

// PoolField returns the index over infrastructure machines by the name of the infrastructure object of their pool, for pools of a kind.
// Several kinds can share one of machines.
func PoolField(poolKind string) string { return "muster.dev/pool/" + poolKind }

// OrphanField returns the index over infrastructure machines that no pool of a kind owns by the value of their label
// cluster.x-k8s.io/pool-name.
func OrphanField(poolKind string) string { return "muster.dev/orphan/" + poolKind }

// machinesIndex returns the index over Machines, which all kinds share.
func machinesIndex() Index {
	return Index{&clusterv1.Machine{}, MachinesField, func(o client.Object) []string {
		if name := o.GetLabels()[clusterv1.MachinePoolNameLabel]; name != "" {
			return []string{name}
		}
		return nil
	}}
}

// MachineIndexes returns the indexes over the infrastructure machines of the pools of a kind, which newMachine makes; none if it is nil.
func MachineIndexes(pools schema.GroupKind, newMachine func() client.Object) []Index {
	if newMachine == nil {
		return nil
	}
	orphans := Index{newMachine(), OrphanField(pools.Kind), func(o client.Object) []string {
		if name := o.GetLabels()[clusterv1.MachinePoolNameLabel]; name != "" && poolOf(o, pools) == "" {
			return []string{name}
		}
		return nil
	}}
	return []Index{orphans, {newMachine(), PoolField(pools.Kind), func(o client.Object) []string {
		if name := poolOf(o, pools); name != "" {
			return []string{name}
		}
		return nil
	}}}
}

// poolOf returns the name of the infrastructure object that owns an infrastructure machine.
func poolOf(o client.Object, pools schema.GroupKind) string {
	for _, ref := range o.GetOwnerReferences() {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err == nil && gv.Group == pools.Group && ref.Kind == pools.Kind {
			return ref.Name
		}
	}
	return ""
}

// OfInfraMachine returns the request for the pool of an infrastructure machine: by its owner, or by its label if it has lost that.
func (q Requests) OfInfraMachine(ctx context.Context, o client.Object) []ctrl.Request {
	name := poolOf(o, schema.GroupKind{Group: q.Group, Kind: q.Kind})
	if name == "" {
		return q.named(ctx, o.GetNamespace(), o.GetLabels()[clusterv1.MachinePoolNameLabel])
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// OfMachine returns the request for the pool of a Machine, if its infrastructure machine is of a kind.
func (q Requests) OfMachine(infra schema.GroupKind) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []ctrl.Request {
		m, ok := o.(*clusterv1.Machine)
		if !ok || m.Spec.InfrastructureRef.GroupKind() != infra {
			return nil
		}
		return q.named(ctx, m.Namespace, MachinePoolOwner(m))
	}
}

// named returns the request for the infrastructure object of the MachinePool with a name, if there is one.
func (q Requests) named(ctx context.Context, namespace, name string) []ctrl.Request {
	if name == "" {
		return nil
	}
	mp := &clusterv1.MachinePool{}
	if err := q.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, mp); err != nil {
		return nil
	}
	return q.Of(mp)
}

// MachinePoolOwner returns the name of the MachinePool in the owner references of an object; empty if there is none.
func MachinePoolOwner(o client.Object) string {
	for _, ref := range o.GetOwnerReferences() {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err == nil && ref.Kind == "MachinePool" && gv.Group == clusterv1.GroupVersion.Group {
			return ref.Name
		}
	}
	return ""
}

// Package ocimachine describes OCIMachinePoolMachine, the kind of the objects that represent single instances of instance pools and single
// nodes of node pools.
package ocimachine

import (
	"cmp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimachinepoolmachines,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimachinepoolmachines/status;ocimachinepoolmachines/finalizers,verbs=get;update;patch

// Kind returns the kind of the machines of pools whose instances have a type. Every instance has an object, as with the ecosystem's
// provider.
func Kind(of ociv1.MachineType) *machines.Kind {
	return &machines.Kind{
		GroupVersion: ociv1.GroupVersion,
		Name:         ociv1.OCIMachinePoolMachineKind,
		Finalizer:    ociv1.MachinePoolMachineFinalizer,
		New:          func() client.Object { return &ociv1.OCIMachinePoolMachine{} },
		NewList:      func() client.ObjectList { return &ociv1.OCIMachinePoolMachineList{} },
		Always:       true,
		ProviderID: func(o client.Object) string {
			m, ok := o.(*ociv1.OCIMachinePoolMachine)
			if !ok || m.Spec.ProviderID == nil {
				return ""
			}
			return *m.Spec.ProviderID
		},
		FillSpec:   func(o client.Object, seen machines.Seen) { fillSpec(o, seen, of) },
		FillStatus: fillStatus,
	}
}

// fillSpec sets which instance the object represents. Values that the ecosystem's provider has set stay, because they can't be changed.
func fillSpec(o client.Object, seen machines.Seen, of ociv1.MachineType) {
	m, ok := o.(*ociv1.OCIMachinePoolMachine)
	if !ok {
		return
	}
	if m.Spec.ProviderID == nil {
		m.Spec.ProviderID = &seen.Instance.ProviderID
	}
	if m.Spec.OCID == nil {
		m.Spec.OCID = &seen.Instance.ID
	}
	m.Spec.MachineType = cmp.Or(m.Spec.MachineType, of)
}

// fillStatus sets the observed state of the instance. An instance that was once provisioned stays provisioned.
func fillStatus(o client.Object, seen machines.Seen) {
	m, ok := o.(*ociv1.OCIMachinePoolMachine)
	if !ok {
		return
	}
	i, status := seen.Instance, &m.Status
	if i.State == pool.Running {
		status.Initialization.Provisioned = new(true)
	}
	status.Ready = i.State == pool.Running
	status.InstanceState = i.CloudState
	status.FailureDomain = cmp.Or(i.Zone, status.FailureDomain)
	machines.SetConditions(m, &status.Conditions, seen, i.CloudState)
}

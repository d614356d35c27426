package gcpmachinepool

import (
	"cmp"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpmachines,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpmachines/status;gcpmachines/finalizers,verbs=get;update;patch

// machineKind describes GCPMachine. The provider of clusters makes control planes of objects of this kind, and its controller sees those of
// pools, too. It makes no instance without bootstrap data, which no Machine of a pool has, and deletes the one that has the name of the
// object, which no instance has. To pause the objects for it would hide them from the controller of Machines as well.
func machineKind() *machines.Kind {
	return &machines.Kind{
		GroupVersion:    gcpv1.GroupVersion,
		Name:            gcpv1.GCPMachineKind,
		Finalizer:       gcpv1.PoolMachineFinalizer,
		OthersFinalizer: gcpv1.MachineFinalizer,
		New:             func() client.Object { return &gcpv1.GCPMachine{} },
		NewList:         func() client.ObjectList { return &gcpv1.GCPMachineList{} },
		NameOf:          nameOf,
		Places:          true,
		ProviderID: func(o client.Object) string {
			m, ok := o.(*gcpv1.GCPMachine)
			if !ok {
				return ""
			}
			return m.Spec.ProviderID
		},
		FillSpec:   fillSpec,
		FillStatus: fillStatus,
	}
}

// nameOf is the name of the pool and of the instance, whose number is not known before it exists. It is the name of no instance.
func nameOf(poolName string, i pool.Instance) string {
	return machines.Normalize(poolName + "-" + i.ProviderID[strings.LastIndex(i.ProviderID, "/")+1:])
}

// fillSpec sets the instance of a new object. It never changes, because the provider of clusters rejects changes of the type.
func fillSpec(o client.Object, seen machines.Seen) {
	m, ok := o.(*gcpv1.GCPMachine)
	if !ok || m.Spec.ProviderID != "" {
		return
	}
	m.Spec.ProviderID = seen.Instance.ProviderID
	if t := current(seen); t != nil {
		m.Spec.InstanceType = t.InstanceType
	}
}

// current is the pool's specification, if the instance was launched from what it asks for now: of any other nothing is known but that it
// exists.
func current(seen machines.Seen) *gcpv1.GCPMachinePoolSpec {
	o, ok := seen.Pool.(*gcpv1.GCPMachinePool)
	if !ok || !seen.Instance.Template.Same(seen.Wanted) {
		return nil
	}
	return &o.Spec
}

// fillStatus sets the observed state of the instance. An instance that was once provisioned stays provisioned.
func fillStatus(o client.Object, seen machines.Seen) {
	m, ok := o.(*gcpv1.GCPMachine)
	if !ok {
		return
	}
	i, status := seen.Instance, &m.Status
	if i.State == pool.Running {
		status.Initialization.Provisioned = new(true)
		status.Ready = true
	}
	status.InstanceStatus = stateWord(i)
	status.FailureDomain = cmp.Or(i.Zone, status.FailureDomain)
	if t := current(seen); t != nil {
		status.Interruptible = t.Preemptible || t.Spot()
	}
	machines.SetConditions(m, &status.Conditions, seen, i.CloudState)
}

// stateWord is the instance's status in Compute Engine's words, without what the group does with it.
func stateWord(i pool.Instance) string {
	word, _, _ := strings.Cut(i.CloudState, " ")
	return word
}

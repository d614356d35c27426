package azuremachinepool

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// owned is the value of the label that is named as the cluster.
const owned = "owned"

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepoolmachines,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepoolmachines/status;azuremachinepoolmachines/finalizers,verbs=get;update;patch

// machineKind describes AzureMachinePoolMachine, of which there is one for each virtual machine.
func machineKind() *machines.Kind {
	return &machines.Kind{
		GroupVersion: azurev1.GroupVersion,
		Name:         azurev1.AzureMachinePoolMachineKind,
		Finalizer:    azurev1.MachinePoolMachineFinalizer,
		New:          func() client.Object { return &azurev1.AzureMachinePoolMachine{} },
		NewList:      func() client.ObjectList { return &azurev1.AzureMachinePoolMachineList{} },
		Always:       true,
		HoldsPool:    true,
		NameOf:       nameOf,
		Labels:       labels,
		ReusesID:     reusesID,
		ProviderID: func(o client.Object) string {
			m, ok := o.(*azurev1.AzureMachinePoolMachine)
			if !ok {
				return ""
			}
			return m.Spec.ProviderID
		},
		FillSpec:   fillSpec,
		FillStatus: fillStatus,
	}
}

// nameOf is the name that the ecosystem gives: that of the pool and of the virtual machine.
func nameOf(poolName string, i pool.Instance) string {
	return machines.Normalize(poolName + "-" + strings.ToLower(strings.ReplaceAll(vmName(i), "_", "-")))
}

// reusesID reports whether the virtual machine is one that its scale set alone knows: those are numbered from 0 in each new set.
func reusesID(providerID string) bool {
	return azurev1.SegmentOf(providerID, "virtualMachineScaleSets") != ""
}

// vmName is the virtual machine's name in the cloud. One that its scale set alone knows is named after that and its ID.
func vmName(i pool.Instance) string {
	name := i.ProviderID[strings.LastIndex(i.ProviderID, "/")+1:]
	if set := azurev1.SegmentOf(i.ProviderID, "virtualMachineScaleSets"); set != "" {
		return set + "_" + name
	}
	return name
}

// labels are the ones that the ecosystem finds the objects by.
func labels(cluster, poolName string) map[string]string {
	list := map[string]string{azurev1.MachinePoolNameLabel: poolName}
	if len(validation.IsQualifiedName(cluster)) == 0 {
		list[cluster] = owned
	}
	return list
}

// fillSpec sets which virtual machine the object represents. An existing ID keeps its spelling.
func fillSpec(o client.Object, seen machines.Seen) {
	m, ok := o.(*azurev1.AzureMachinePoolMachine)
	if !ok {
		return
	}
	if m.Spec.ProviderID == "" {
		m.Spec.ProviderID = seen.Instance.ProviderID
	}
	if m.Spec.InstanceID == "" {
		m.Spec.InstanceID = seen.Instance.ID
	}
}

// fillStatus sets what was observed of the virtual machine and its Node. What was provisioned once stays provisioned, and the fields of a
// Node stay while the workload cluster is out of reach.
func fillStatus(o client.Object, seen machines.Seen) {
	m, ok := o.(*azurev1.AzureMachinePoolMachine)
	if !ok {
		return
	}
	i, status := seen.Instance, &m.Status
	state := cmp.Or(azurev1.ProvisioningState(i.CloudState), stateWord(i.State))
	status.ProvisioningState = &state
	status.InstanceName = vmName(i)
	status.FailureDomain = cmp.Or(i.Zone, status.FailureDomain)
	if provisioned(i) {
		status.Initialization.Provisioned = new(true)
	}
	if seen.Wanted.Content != "" {
		status.LatestModelApplied = i.Template.Same(seen.Wanted)
	}
	if !seen.NodesUnknown {
		fillNode(status, i.Node)
	}
	healthy := healthyOf(seen)
	status.Ready = i.State == pool.Running && (healthy.Status == metav1.ConditionTrue || seen.NodesUnknown && status.Ready)
	runs := runningOf(m, i)
	for _, c := range []metav1.Condition{
		runs, healthy, readyOf(runs, healthy),
		{Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason},
	} {
		c.LastTransitionTime = metav1.NewTime(seen.Now)
		meta.SetStatusCondition(&status.Conditions, c)
	}
	if c := machines.UpToDate(seen); c != nil {
		meta.SetStatusCondition(&status.Conditions, *c)
	}
}

// provisioned reports whether the virtual machine runs, or serves although Azure reports it as failed.
func provisioned(i pool.Instance) bool {
	return i.State == pool.Running || i.State == pool.Failed && i.Node != nil && i.Node.Ready
}

// fillNode sets the Node of the virtual machine.
func fillNode(status *azurev1.AzureMachinePoolMachineStatus, n *pool.Node) {
	if n == nil {
		status.NodeRef, status.Version = nil, ""
		return
	}
	if status.NodeRef == nil || status.NodeRef.Name != n.Name {
		status.NodeRef = &azurev1.NodeReference{APIVersion: "v1", Kind: "Node", Name: n.Name}
	}
	status.Version = n.KubeletVersion
}

// runningOf returns whether the virtual machine runs.
func runningOf(m *azurev1.AzureMachinePoolMachine, i pool.Instance) metav1.Condition {
	c := metav1.Condition{Type: azurev1.VMRunningCondition, Status: metav1.ConditionFalse}
	switch {
	case !m.DeletionTimestamp.IsZero() || i.State == pool.Terminating:
		c.Reason, c.Message = "Deleting", "waiting for virtual machine "+i.ID+" to be gone"
	case i.State == pool.Pending:
		c.Reason, c.Message = "Creating", "virtual machine "+i.ID+" is being created"
	case i.State == pool.Failed && i.Stopped != "":
		c.Reason, c.Message = "VMStopped", "the power state of virtual machine "+i.ID+" is "+i.Stopped+"; it is replaced"
	case i.State == pool.Failed:
		c.Reason, c.Message = "VMProvisionFailed", "virtual machine "+i.ID+" has failed"
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, azurev1.VMRunningCondition, "virtual machine "+i.ID+" runs"
	}
	return c
}

// healthyOf returns whether the Node is Ready.
func healthyOf(seen machines.Seen) metav1.Condition {
	c := metav1.Condition{Type: azurev1.NodeHealthyCondition, Status: metav1.ConditionFalse}
	switch n := seen.Instance.Node; {
	case seen.NodesUnknown:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, "ConnectionDown", "the workload cluster does not answer"
	case n == nil:
		c.Reason, c.Message = "NodeProvisioning", "virtual machine "+seen.Instance.ID+" has not joined"
	case !n.Ready:
		c.Reason, c.Message = "NodeConditionsFailed", "Node "+n.Name+" is not Ready"
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, azurev1.NodeHealthyCondition, "Node "+n.Name+" is Ready"
	}
	return c
}

// readyOf returns the summary of both.
func readyOf(runs, healthy metav1.Condition) metav1.Condition {
	c := healthy
	if runs.Status != metav1.ConditionTrue {
		c = runs
	}
	c.Type = clusterv1.ReadyCondition
	return c
}

// stateWord returns a state in terms of Azure, if Azure reports none.
func stateWord(s pool.InstanceState) azurev1.ProvisioningState {
	switch s {
	case pool.Pending:
		return azurev1.Creating
	case pool.Running:
		return azurev1.Succeeded
	case pool.Terminating:
		return azurev1.Deleting
	}
	return azurev1.Failed
}

// Package azuremanaged adapts the kinds of AKS agent pools to the reconciler of infrastructure objects: AzureManagedMachinePool, and
// AzureASOManagedMachinePool, whose specification is a manifest of Azure Service Operator.
package azuremanaged

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azureidentity"
	"github.com/muster-project/muster/providers/azure/azurestatus"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes,verbs=get;list;watch

// agentPoolsReady is the name that the ecosystem knows the condition of the group by.
const agentPoolsReady = "AgentPoolsReady"

// autoscalerManaged is the value of the annotation cluster.x-k8s.io/replicas-managed-by that the ecosystem gives pools of this kind.
const autoscalerManaged = "true"

// Managed translates AzureManagedMachinePools.
type Managed struct{}

var _ infrapool.Adapter[*aksv1.AzureManagedMachinePool, *aksv1.AgentPoolSource] = Managed{}

// Kind is AzureManagedMachinePool.
func (Managed) Kind() infrapool.Kind[*aksv1.AzureManagedMachinePool, *aksv1.AgentPoolSource] {
	return infrapool.Kind[*aksv1.AzureManagedMachinePool, *aksv1.AgentPoolSource]{
		Group:        aksv1.GroupVersion.Group,
		Name:         aksv1.AzureManagedMachinePoolKind,
		Finalizer:    aksv1.ManagedMachinePoolFinalizer,
		VersionRises: true,
		TemplateFields: []string{"enableEncryptionAtHost", "enableFIPS", "enableNodePublicIP", "enableUltraSSD", "kubeletConfig",
			"kubeletDiskType", "linuxOSConfig", "maxPods", "nodeImageVersion", "osDiskSizeGB", "osDiskType", "sku"},
		New:            func() *aksv1.AzureManagedMachinePool { return &aksv1.AzureManagedMachinePool{} },
		NewList:        managedObjects.NewList,
		Kin:            []ownership.Objects{asoObjects},
		Aliases:        map[string]string{report.GroupReady: agentPoolsReady},
		NoInfraCluster: noControlPlane(aksv1.ManagedControlPlaneKind),
		BootstrapMode:  func(*aksv1.AzureManagedMachinePool) bootstrap.Mode { return bootstrap.None },
		OwnedElsewhere: func(ctx context.Context, c client.Client, o *aksv1.AzureManagedMachinePool) (*pool.Cause, error) {
			return operated(ctx, c, o.Namespace, o.Name)
		},
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials, spec *aksv1.AgentPoolSource) (map[string]string,
			error) {
			return azureidentity.Identify(ctx, by, from, &spec.Cluster.View)
		},
	}
}

// InfraCluster is the control plane, which says where the managed cluster is.
func (Managed) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return controlPlane(cluster, aksv1.ManagedControlPlaneKind)
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Managed) Translate(o *aksv1.AzureManagedMachinePool, in infrapool.Inputs) (infrapool.Translation[*aksv1.AgentPoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	t := translation(&aksv1.AgentPoolSource{Name: o.AgentPoolName(), Created: o.CreationTimestamp.Time, Managed: spec}, spec.UpgradeSettings)
	t.bound(spec.Mode, "spec.mode")
	if s := spec.Scaling; s != nil {
		t.autoscaled(autoscalerManaged, "spec.scaling", s.MinSize, s.MaxSize)
		t.MinField, t.MaxField = "spec.scaling.minSize", "spec.scaling.maxSize"
	}
	err := t.locate(in)
	t.Operations = azurestatus.Operations(o.Status.LongRunningOperationStates, t.Spec.Cluster.View.SubscriptionID)
	return t.Translation, err
}

// Report writes the fields that the ecosystem knows.
func (Managed) Report(o *aksv1.AzureManagedMachinePool, _ report.Report, out engine.Outcome) {
	o.Status.LongRunningOperationStates = azurestatus.Futures(out.Observed.Operations)
	o.Status.NodeImageVersion = nodeImage(out)
}

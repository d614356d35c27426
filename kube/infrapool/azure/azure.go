// Package azure is what AzureMachinePool adds to the reconciler of infrastructure objects.
package azure

import (
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
)

// The keys under which an object remembers where its scale set is, for when the infrastructure cluster is gone.
const (
	keepSubscription  = "subscription"
	keepResourceGroup = "resource-group"
	keepLocation      = "location"
	keepEnvironment   = "environment"
)

// The names that the ecosystem knows conditions by which all kinds have.
const (
	bootstrapSucceeded  = "BootstrapSucceeded"
	roleAssignmentReady = "RoleAssignmentReady"
)

// The reasons for which a pool gets no new machines.
const (
	reasonVersion = "KubernetesVersionUnsupported"
	reasonNoKey   = "SSHPublicKeyMissing"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools/status;azuremachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters,verbs=get;list;watch

// Adapter translates AzureMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*azurev1.AzureMachinePool, *azurev1.MachinePoolSource] = Adapter{}

// Kind is AzureMachinePool.
func (Adapter) Kind() infrapool.Kind[*azurev1.AzureMachinePool] {
	return infrapool.Kind[*azurev1.AzureMachinePool]{
		Group:     azurev1.GroupVersion.Group,
		Name:      azurev1.AzureMachinePoolKind,
		Finalizer: azurev1.MachinePoolFinalizer,
		New:       func() *azurev1.AzureMachinePool { return &azurev1.AzureMachinePool{} },
		NewList:   func() client.ObjectList { return &azurev1.AzureMachinePoolList{} },
		Aliases:   map[string]string{report.InstancesReady: bootstrapSucceeded, report.NeedsReady: roleAssignmentReady},
	}
}

// Place is the AzureCluster.
func (Adapter) Place(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return cluster.Spec.InfrastructureRef
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Adapter) Translate(o *azurev1.AzureMachinePool, in infrapool.Inputs) (infrapool.Translation[*azurev1.MachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	source := &azurev1.MachinePoolSource{Pool: spec, WindowsServerVersion: o.Annotations[azurev1.WindowsServerVersionAnnotation]}
	t := infrapool.Translation[*azurev1.MachinePoolSource]{Spec: source, Needless: spec.Identity != azurev1.VMIdentitySystemAssigned, Held: held(spec, in.MachinePool)}
	t.Strategy, t.DeletePolicy = infrapool.StrategyOf(&spec.Strategy, "spec.strategy")
	if err := place(&source.Cluster, in); err != nil {
		return t, err
	}
	where := &source.Cluster
	t.Operations = operations(o.Status.LongRunningOperationStates, where.SubscriptionID)
	t.Keep = map[string]string{
		keepSubscription: where.SubscriptionID, keepResourceGroup: where.ResourceGroup, keepLocation: where.Location, keepEnvironment: where.Environment,
	}
	return t, nil
}

// place says where the scale set is: as the infrastructure cluster has it, or else as the object remembers it.
func place(view *azurev1.ClusterView, in infrapool.Inputs) error {
	if in.Place != nil {
		read, err := azurev1.ClusterViewOf(in.Place)
		if err != nil {
			return err
		}
		*view = read
	} else {
		*view = azurev1.ClusterView{
			SubscriptionID: in.Resolved[keepSubscription], ResourceGroup: in.Resolved[keepResourceGroup],
			Location: in.Resolved[keepLocation], Environment: in.Resolved[keepEnvironment],
		}
	}
	if in.Cluster != "" {
		view.ClusterName = in.Cluster
	}
	if view.ResourceGroup == "" {
		return fmt.Errorf("the infrastructure of the cluster is gone, and metadata.annotations[%s] does not say where the scale set is: "+
			`set it to {"%s": "<subscription ID>", "%s": "<resource group>", "%s": "<region>", "%s": "%s"}`,
			infrapool.ResolvedAnnotation, keepSubscription, keepResourceGroup, keepLocation, keepEnvironment, azurev1.PublicCloud)
	}
	return nil
}

// held says what is still missing for new machines.
func held(spec *azurev1.AzureMachinePoolSpec, mp *clusterv1.MachinePool) *pool.Cause {
	if spec.Flexible() && mp != nil {
		if err := FlexibleVersion(mp.Spec.Template.Spec.Version); err != nil {
			return &pool.Cause{Reason: reasonVersion, Message: fmt.Sprintf("spec.orchestrationMode is Flexible: %v", err)}
		}
	}
	if spec.Template.SSHPublicKey == "" && !spec.Windows() {
		return &pool.Cause{Reason: reasonNoKey, Message: "spec.template.sshPublicKey is empty, and the webhook that makes a key is not asked: set it to a public key in base64"}
	}
	return nil
}

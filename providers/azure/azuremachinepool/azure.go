// Package azuremachinepool adapts AzureMachinePool to the reconciler of infrastructure objects.
package azuremachinepool

import (
	"cmp"
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azureidentity"
	"github.com/muster-project/muster/providers/azure/azurestatus"
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
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters;azureclusteridentities,verbs=get;list;watch

// Adapter translates AzureMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*azurev1.AzureMachinePool, *azurev1.MachinePoolSource] = Adapter{}

// Kind is AzureMachinePool.
func (Adapter) Kind() infrapool.Kind[*azurev1.AzureMachinePool, *azurev1.MachinePoolSource] {
	return infrapool.Kind[*azurev1.AzureMachinePool, *azurev1.MachinePoolSource]{
		Group:          azurev1.GroupVersion.Group,
		Name:           azurev1.AzureMachinePoolKind,
		Finalizer:      azurev1.MachinePoolFinalizer,
		TemplateFields: []string{"template", "identity", "userAssignedIdentities"},
		TemplateExcept: []string{"template.vmExtensions"},
		New:            func() *azurev1.AzureMachinePool { return &azurev1.AzureMachinePool{} },
		NewList:        func() client.ObjectList { return &azurev1.AzureMachinePoolList{} },
		Aliases:        map[string]string{report.InstancesReady: bootstrapSucceeded, report.PrerequisitesReady: roleAssignmentReady},
		Identify:       identify,
		Machines:       machineKind(),
		MachineKind:    func(o *azurev1.AzureMachinePool) *string { return &o.Status.InfrastructureMachineKind },
		Conditions:     conditions,
	}
}

// InfraCluster is the AzureCluster.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return cluster.Spec.InfrastructureRef
}

// identify follows the identityRef of the cluster.
func identify(ctx context.Context, by identity.Referrer, from *identity.Credentials,
	spec *azurev1.MachinePoolSource) (map[string]string, error) {
	return azureidentity.Identify(ctx, by, from, &spec.Cluster)
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Adapter) Translate(o *azurev1.AzureMachinePool, in infrapool.Inputs) (infrapool.Translation[*azurev1.MachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	source := &azurev1.MachinePoolSource{Pool: spec, WindowsServerVersion: o.Annotations[azurev1.WindowsServerVersionAnnotation]}
	t := infrapool.Translation[*azurev1.MachinePoolSource]{Spec: source, NoPrerequisites: spec.Identity != azurev1.VMIdentitySystemAssigned,
		CreateBlocked: held(spec, in.MachinePool)}
	t.Strategy, t.DeletePolicy = infrapool.StrategyOf(spec.Strategy, "spec.strategy")
	var err error
	if source.Cluster, err = infraCluster(in); err != nil {
		return t, err
	}
	t.Operations = azurestatus.Operations(o.Status.LongRunningOperationStates, source.Cluster.SubscriptionID)
	t.Keep = source.Cluster.Remember()
	return t, nil
}

// infraCluster says where the scale set is: as the infrastructure cluster has it, or else as the object remembers it.
func infraCluster(in infrapool.Inputs) (azurev1.ClusterView, error) {
	read := func() (azurev1.ClusterView, error) { return azurev1.ClusterViewOf(in.InfraCluster) }
	if in.InfraCluster == nil {
		read = func() (azurev1.ClusterView, error) {
			return azurev1.ClusterViewRemembered(in.Resolved, stored.Annotation)
		}
	}
	view, err := read()
	view.ClusterName = cmp.Or(in.Cluster, view.ClusterName)
	return view, err
}

// held returns the missing input of new machines; nil if there is none.
func held(spec *azurev1.AzureMachinePoolSpec, mp *clusterv1.MachinePool) *pool.Cause {
	if spec.Flexible() && mp != nil {
		if err := azurev1.FlexibleVersion(mp.Spec.Template.Spec.Version); err != nil {
			return &pool.Cause{Reason: reasonVersion, Message: fmt.Sprintf("spec.orchestrationMode is Flexible: %v", err)}
		}
	}
	if spec.Template.SSHPublicKey == "" && !spec.Windows() {
		return &pool.Cause{Reason: reasonNoKey,
			Message: "spec.template.sshPublicKey is empty, and the webhook that generates a key is not asked: set it to a public key in base64"}
	}
	return nil
}

// Package gcpmachinepool adapts GCPMachinePool to the reconciler of infrastructure objects.
package gcpmachinepool

import (
	"cmp"
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/providers/gcp/gcpidentity"
)

// The names that the ecosystem knows conditions by which all kinds have.
const (
	groupReady    = "ManagedInstanceGroupReady"
	templateReady = "InstanceTemplateReady"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpmachinepools/status;gcpmachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpclusters,verbs=get;list;watch

// Adapter translates GCPMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*gcpv1.GCPMachinePool, *gcpv1.MachinePoolSource] = Adapter{}

// Kind is GCPMachinePool.
func (Adapter) Kind() infrapool.Kind[*gcpv1.GCPMachinePool, *gcpv1.MachinePoolSource] {
	return infrapool.Kind[*gcpv1.GCPMachinePool, *gcpv1.MachinePoolSource]{
		Group:     gcpv1.GroupVersion.Group,
		Name:      gcpv1.GCPMachinePoolKind,
		Finalizer: gcpv1.MachinePoolFinalizer,
		TemplateFields: []string{"additionalDisks", "additionalLabels", "additionalMetadata", "additionalNetworkTags",
			"aliasIPRanges", "confidentialCompute", "guestAccelerators", "image", "imageFamily", "instanceType", "ipForwarding",
			"onHostMaintenance", "preemptible", "provisioningModel", "publicIP", "resourceManagerTags", "rootDeviceSize",
			"rootDeviceType", "rootDiskEncryptionKey", "serviceAccounts", "shieldedInstanceConfig", "subnet"},
		New:     func() *gcpv1.GCPMachinePool { return &gcpv1.GCPMachinePool{} },
		NewList: func() client.ObjectList { return &gcpv1.GCPMachinePoolList{} },
		Aliases: map[string]string{report.GroupReady: groupReady, report.TemplateReady: templateReady},
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials, spec *gcpv1.MachinePoolSource) (map[string]string,
			error) {
			return gcpidentity.Identify(ctx, by, from, &spec.Cluster)
		},
		Machines:    machineKind(),
		MachineKind: func(o *gcpv1.GCPMachinePool) *string { return &o.Status.InfrastructureMachineKind },
	}
}

// InfraCluster is the GCPCluster.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return cluster.Spec.InfrastructureRef
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Adapter) Translate(o *gcpv1.GCPMachinePool, in infrapool.Inputs) (infrapool.Translation[*gcpv1.MachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	source := &gcpv1.MachinePoolSource{Pool: spec}
	t := infrapool.Translation[*gcpv1.MachinePoolSource]{Spec: source, NoPrerequisites: true}
	t.Strategy, t.DeletePolicy = infrapool.StrategyOf(spec.Strategy, "spec.strategy")
	var err error
	if source.Cluster, err = infraCluster(in); err != nil {
		return t, err
	}
	t.Keep = source.Cluster.Remember()
	return t, nil
}

// infraCluster says where the group is: as the infrastructure cluster has it, or else as the object remembers it.
func infraCluster(in infrapool.Inputs) (gcpv1.ClusterView, error) {
	read := func() (gcpv1.ClusterView, error) { return gcpv1.ClusterViewOf(in.InfraCluster) }
	if in.InfraCluster == nil {
		read = func() (gcpv1.ClusterView, error) { return gcpv1.ClusterViewRemembered(in.Resolved, stored.Annotation) }
	}
	view, err := read()
	view.ClusterName = cmp.Or(in.Cluster, view.ClusterName)
	return view, err
}

// Report writes nothing: the kind has no fields of its own.
func (Adapter) Report(*gcpv1.GCPMachinePool, report.Report, engine.Outcome) {}

// Package ocimachinepool adapts OCIMachinePool to the reconciler of infrastructure objects.
package ocimachinepool

import (
	"cmp"
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/providers/oci/ociidentity"
	"github.com/muster-project/muster/providers/oci/ocimachine"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimachinepools/status;ocimachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ociclusters;ocimanagedclusters;ociclusteridentities,verbs=get;list;watch

// The names that the ecosystem knows conditions by which all kinds have.
const (
	instancePoolReady   = "InstancePoolReady"
	launchTemplateReady = "LaunchTemplateReady"
)

// Adapter translates OCIMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*ociv1.OCIMachinePool, *ociv1.MachinePoolSource] = Adapter{}

// Kind is OCIMachinePool.
func (Adapter) Kind() infrapool.Kind[*ociv1.OCIMachinePool, *ociv1.MachinePoolSource] {
	return infrapool.Kind[*ociv1.OCIMachinePool, *ociv1.MachinePoolSource]{
		Group:          ociv1.GroupVersion.Group,
		Name:           ociv1.OCIMachinePoolKind,
		Finalizer:      ociv1.MachinePoolFinalizer,
		TemplateFields: []string{"instanceConfiguration"},
		New:            func() *ociv1.OCIMachinePool { return &ociv1.OCIMachinePool{} },
		NewList:        func() client.ObjectList { return &ociv1.OCIMachinePoolList{} },
		Aliases:        map[string]string{report.GroupReady: instancePoolReady, report.TemplateReady: launchTemplateReady},
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials,
			spec *ociv1.MachinePoolSource) (map[string]string, error) {
			return ociidentity.Identify(ctx, by, from, &spec.Cluster)
		},
		ClusterIdentifier: ociidentity.ClusterIdentifier(func(spec *ociv1.MachinePoolSource) string { return spec.Cluster.ResourceIdentifier }),
		Machines:          ocimachine.Kind(ociv1.MachineSelfManaged),
		MachineKind:       func(o *ociv1.OCIMachinePool) *string { return &o.Status.InfrastructureMachineKind },
	}
}

// InfraCluster is the OCICluster, or the OCIManagedCluster of a cluster of OKE whose nodes the user manages.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return cluster.Spec.InfrastructureRef
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Adapter) Translate(o *ociv1.OCIMachinePool, in infrapool.Inputs) (infrapool.Translation[*ociv1.MachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID, spec.OCID, spec.ProviderIDList, spec.InstanceConfiguration.InstanceConfigurationID = nil, nil, nil, nil
	source := &ociv1.MachinePoolSource{Name: o.Name, Pool: spec}
	t := infrapool.Translation[*ociv1.MachinePoolSource]{Spec: source, NoPrerequisites: true}
	t.Strategy, t.DeletePolicy = infrapool.StrategyOf(spec.Strategy, "spec.strategy")
	var err error
	if source.Cluster, err = infraCluster(in); err != nil {
		return t, err
	}
	t.Keep = source.Cluster.Remember()
	return t, nil
}

// infraCluster returns where the instance pool is: as the infrastructure cluster has it, or else as the object remembers it.
func infraCluster(in infrapool.Inputs) (ociv1.ClusterView, error) {
	read := func() (ociv1.ClusterView, error) { return ociv1.ClusterViewOf(in.InfraCluster) }
	if in.InfraCluster == nil {
		read = func() (ociv1.ClusterView, error) { return ociv1.ClusterViewRemembered(in.Resolved, stored.Annotation) }
	}
	view, err := read()
	view.ClusterName = cmp.Or(in.Cluster, view.ClusterName)
	return view, err
}

// Report writes nothing: no field of the status belongs to this kind alone.
func (Adapter) Report(*ociv1.OCIMachinePool, report.Report, engine.Outcome) {}

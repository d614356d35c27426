// Package ocivirtual adapts OCIVirtualMachinePool to the reconciler of infrastructure objects.
package ocivirtual

import (
	"context"
	"fmt"
	"math"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/oci/ociidentity"
	"github.com/muster-project/muster/providers/oci/ocimanaged"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocivirtualmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocivirtualmachinepools/status;ocivirtualmachinepools/finalizers,verbs=get;update;patch

const (
	// virtualNodePoolReady is the name that the ecosystem knows the condition of the group by.
	virtualNodePoolReady = "VirtualNodePoolReady"
	// reasonBasicCluster is the reason why the cluster takes no virtual node pools.
	reasonBasicCluster = "ClusterNotEnhanced"
)

// Adapter translates OCIVirtualMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*ociv1.OCIVirtualMachinePool, *ociv1.VirtualMachinePoolSource] = Adapter{}

// Kind is OCIVirtualMachinePool. Its nodes have no objects of their own, because OKE deletes none by name.
func (Adapter) Kind() infrapool.Kind[*ociv1.OCIVirtualMachinePool, *ociv1.VirtualMachinePoolSource] {
	return infrapool.Kind[*ociv1.OCIVirtualMachinePool, *ociv1.VirtualMachinePoolSource]{
		Group:          ociv1.GroupVersion.Group,
		Name:           ociv1.OCIVirtualMachinePoolKind,
		Finalizer:      ociv1.VirtualMachinePoolFinalizer,
		VersionRises:   true,
		TemplateFields: []string{"initialVirtualNodeLabels", "podConfiguration", "taints"},
		New:            func() *ociv1.OCIVirtualMachinePool { return &ociv1.OCIVirtualMachinePool{} },
		NewList:        func() client.ObjectList { return &ociv1.OCIVirtualMachinePoolList{} },
		Aliases:        map[string]string{report.GroupReady: virtualNodePoolReady},
		NoInfraCluster: ocimanaged.NoInfraCluster,
		ControlPlane:   ocimanaged.ControlPlane,
		NoControlPlane: ocimanaged.NoControlPlane,
		BootstrapMode:  func(*ociv1.OCIVirtualMachinePool) bootstrap.Mode { return bootstrap.None },
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials,
			spec *ociv1.VirtualMachinePoolSource) (map[string]string, error) {
			return ociidentity.Identify(ctx, by, from, &spec.Cluster.View)
		},
		ClusterIdentifier: ociidentity.ClusterIdentifier(func(spec *ociv1.VirtualMachinePoolSource) string {
			return spec.Cluster.View.ResourceIdentifier
		}),
	}
}

// InfraCluster is the OCIManagedCluster. The control plane names the cluster in OKE.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return ocimanaged.InfraCluster(cluster)
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Adapter) Translate(o *ociv1.OCIVirtualMachinePool,
	in infrapool.Inputs) (infrapool.Translation[*ociv1.VirtualMachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID, spec.ID, spec.ProviderIDList = nil, nil, nil
	t := infrapool.Translation[*ociv1.VirtualMachinePoolSource]{
		Spec: &ociv1.VirtualMachinePoolSource{Name: o.Name, Created: o.CreationTimestamp.Time, Pool: spec},
		Max:  math.MaxInt32, DeletePolicy: pool.Oldest, NoPrerequisites: true,
	}
	view, err := ocimanaged.Cluster(in)
	if err != nil {
		return t, err
	}
	t.Spec.Cluster, t.Keep, t.CreateBlocked = view, view.Remember(), ocimanaged.Blocked(in, view)
	if t.CreateBlocked == nil && in.ControlPlane != nil && !view.Enhanced {
		t.CreateBlocked = &pool.Cause{Reason: reasonBasicCluster, Message: fmt.Sprintf("%s %s is no enhanced cluster, and only those have "+
			"virtual nodes: set its spec.clusterType to ENHANCED_CLUSTER", in.ControlPlane.GetKind(), in.ControlPlane.GetName())}
	}
	return t, nil
}

// Report writes the state of the virtual node pool as the ecosystem knows it.
func (Adapter) Report(o *ociv1.OCIVirtualMachinePool, _ report.Report, out engine.Outcome) {
	o.Status.NodepoolLifecycleState = ocimanaged.LifecycleState(out)
}

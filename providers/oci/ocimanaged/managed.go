package ocimanaged

import (
	"context"
	"fmt"
	"math"

	"k8s.io/utils/ptr"
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
	"github.com/muster-project/muster/providers/oci/ocimachine"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimanagedmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimanagedmachinepools/status;ocimanagedmachinepools/finalizers,verbs=get;update;patch

const (
	// nodePoolReady is the name that the ecosystem knows the condition of the group by.
	nodePoolReady = "NodePoolReady"
	// reasonVersions is the reason while the versions of a pool's objects differ.
	reasonVersions = "VersionMismatch"
	// reasonBasicCluster is the reason why OKE replaces no nodes.
	reasonBasicCluster = "ClusterNotEnhanced"
)

// Adapter translates OCIManagedMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*ociv1.OCIManagedMachinePool, *ociv1.ManagedMachinePoolSource] = Adapter{}

// Kind is OCIManagedMachinePool.
func (Adapter) Kind() infrapool.Kind[*ociv1.OCIManagedMachinePool, *ociv1.ManagedMachinePoolSource] {
	return infrapool.Kind[*ociv1.OCIManagedMachinePool, *ociv1.ManagedMachinePoolSource]{
		Group:        ociv1.GroupVersion.Group,
		Name:         ociv1.OCIManagedMachinePoolKind,
		Finalizer:    ociv1.ManagedMachinePoolFinalizer,
		VersionRises: true,
		TemplateFields: []string{"initialNodeLabels", "nodeMetadata", "nodeShape", "nodeShapeConfig", "nodeSourceViaImage",
			"sshPublicKey", "version"},
		New:            func() *ociv1.OCIManagedMachinePool { return &ociv1.OCIManagedMachinePool{} },
		NewList:        func() client.ObjectList { return &ociv1.OCIManagedMachinePoolList{} },
		Aliases:        map[string]string{report.GroupReady: nodePoolReady},
		NoInfraCluster: NoInfraCluster,
		ControlPlane:   ControlPlane,
		NoControlPlane: NoControlPlane,
		BootstrapMode:  func(*ociv1.OCIManagedMachinePool) bootstrap.Mode { return bootstrap.None },
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials,
			spec *ociv1.ManagedMachinePoolSource) (map[string]string, error) {
			return ociidentity.Identify(ctx, by, from, &spec.Cluster.View)
		},
		ClusterIdentifier: ociidentity.ClusterIdentifier(func(spec *ociv1.ManagedMachinePoolSource) string {
			return spec.Cluster.View.ResourceIdentifier
		}),
		Machines:    ocimachine.Kind(ociv1.MachineManaged),
		MachineKind: func(o *ociv1.OCIManagedMachinePool) *string { return &o.Status.InfrastructureMachineKind },
	}
}

// InfraCluster is the OCIManagedCluster. The control plane names the cluster in OKE.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return InfraCluster(cluster)
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Adapter) Translate(o *ociv1.OCIManagedMachinePool,
	in infrapool.Inputs) (infrapool.Translation[*ociv1.ManagedMachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID, spec.ID, spec.ProviderIDList = nil, nil, nil
	t := infrapool.Translation[*ociv1.ManagedMachinePoolSource]{
		Spec: &ociv1.ManagedMachinePoolSource{Name: o.Name, Created: o.CreationTimestamp.Time, Pool: spec},
		Max:  math.MaxInt32, NoPrerequisites: true,
	}
	t.Strategy, t.DeletePolicy = infrapool.StrategyOf(spec.Strategy, "spec.strategy")
	view, err := Cluster(in)
	if err != nil {
		return t, err
	}
	if spec.Cycled() {
		t.Strategy, t.RollDisabled = nil, notEnhanced(in, view)
	}
	t.Spec.Cluster, t.Keep, t.CreateBlocked = view, view.Remember(), Blocked(in, view)
	if !o.DeletionTimestamp.IsZero() {
		return t, nil
	}
	return t, oneVersion(o, in.MachinePool)
}

// notEnhanced returns why OKE does not replace the nodes of a cluster; nil if it does.
func notEnhanced(in infrapool.Inputs, view ociv1.ManagedClusterView) *pool.Cause {
	if in.ControlPlane == nil || view.Enhanced {
		return nil
	}
	return &pool.Cause{Reason: reasonBasicCluster, Message: fmt.Sprintf("%s %s is no enhanced cluster, and OKE replaces nodes "+
		"(spec.nodePoolCyclingDetails.isNodeCyclingEnabled) of enhanced clusters alone: set its spec.clusterType to ENHANCED_CLUSTER, or "+
		"remove isNodeCyclingEnabled to have Muster replace them", in.ControlPlane.GetKind(), in.ControlPlane.GetName())}
}

// oneVersion returns an error while the object and its MachinePool name different versions. An upgrade changes both objects one after the
// other, and no node is replaced for one of them.
func oneVersion(o *ociv1.OCIManagedMachinePool, mp *clusterv1.MachinePool) error {
	own := ptr.Deref(o.Spec.Version, "")
	if mp == nil || ociv1.SameVersion(own, mp.Spec.Template.Spec.Version) {
		return nil
	}
	return &infrapool.NotYet{Cause: pool.Cause{Reason: reasonVersions, Message: fmt.Sprintf("spec.version is %s, and "+
		"spec.template.spec.version of MachinePool %s is %s: set both to the same version, or remove spec.version", own, mp.Name,
		mp.Spec.Template.Spec.Version)}}
}

// Report writes the state of the node pool as the ecosystem knows it.
func (Adapter) Report(o *ociv1.OCIManagedMachinePool, _ report.Report, out engine.Outcome) {
	o.Status.NodepoolLifecycleState = LifecycleState(out)
}

// LifecycleState returns the state of a pool in OKE's words; empty while it does not exist.
func LifecycleState(out engine.Outcome) string {
	if out.Observed.Group == nil {
		return ""
	}
	return out.Observed.Group.State
}

// Package gcpmanaged adapts GCPManagedMachinePool to the reconciler of infrastructure objects.
package gcpmanaged

import (
	"context"
	"math"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/gcpidentity"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpmanagedmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpmanagedmachinepools/status;gcpmanagedmachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=gcpmanagedclusters;gcpmanagedcontrolplanes,verbs=get;list;watch

// autoscalerManaged is the value of the annotation cluster.x-k8s.io/replicas-managed-by for a pool that GKE's own autoscaler sizes.
const autoscalerManaged = "gke"

// Adapter translates GCPManagedMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*gcpv1.GCPManagedMachinePool, *gcpv1.ManagedMachinePoolSource] = Adapter{}

// Kind is GCPManagedMachinePool.
func (Adapter) Kind() infrapool.Kind[*gcpv1.GCPManagedMachinePool, *gcpv1.ManagedMachinePoolSource] {
	return infrapool.Kind[*gcpv1.GCPManagedMachinePool, *gcpv1.ManagedMachinePoolSource]{
		Group:        gcpv1.GroupVersion.Group,
		Name:         gcpv1.GCPManagedMachinePoolKind,
		Finalizer:    gcpv1.ManagedMachinePoolFinalizer,
		VersionRises: true,
		TemplateFields: []string{"confidentialCompute", "diskSizeGB", "diskSizeGb", "diskType", "imageType", "instanceType",
			"linuxNodeConfig", "localSsdCount", "machineType", "maxPodsPerNode", "nodeSecurity", "preemptible", "spot"},
		New:            func() *gcpv1.GCPManagedMachinePool { return &gcpv1.GCPManagedMachinePool{} },
		NewList:        func() client.ObjectList { return &gcpv1.GCPManagedMachinePoolList{} },
		Aliases:        map[string]string{report.GroupReady: machinePoolReady},
		Conditions:     conditions,
		NoInfraCluster: "names no " + gcpv1.ManagedClusterKind + " in spec.infrastructureRef: GKE keeps node pools for its own clusters alone",
		ControlPlane: func(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
			return ofKind(cluster.Spec.ControlPlaneRef, gcpv1.ManagedControlPlaneKind)
		},
		NoControlPlane: "names no " + gcpv1.ManagedControlPlaneKind + " in spec.controlPlaneRef: GKE keeps node pools for its own clusters alone",
		BootstrapMode:  func(*gcpv1.GCPManagedMachinePool) bootstrap.Mode { return bootstrap.None },
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials,
			spec *gcpv1.ManagedMachinePoolSource) (map[string]string, error) {
			return gcpidentity.Identify(ctx, by, from, &spec.Cluster.View)
		},
	}
}

// InfraCluster references the GCPManagedCluster, which names the credentials. The control plane names the location of the GKE cluster.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return ofKind(cluster.Spec.InfrastructureRef, gcpv1.ManagedClusterKind)
}

// ofKind returns a reference; empty if it is to another kind.
func ofKind(ref clusterv1.ContractVersionedObjectReference, kind string) clusterv1.ContractVersionedObjectReference {
	if ref.Kind == kind {
		return ref
	}
	return clusterv1.ContractVersionedObjectReference{}
}

// Translate hands the driver a copy of the specification without what the controller writes there itself. GKE has no template beside the
// node pool, and replaces nodes itself.
func (Adapter) Translate(o *gcpv1.GCPManagedMachinePool,
	in infrapool.Inputs) (infrapool.Translation[*gcpv1.ManagedMachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	t := infrapool.Translation[*gcpv1.ManagedMachinePoolSource]{
		Spec: &gcpv1.ManagedMachinePoolSource{Name: o.NodePoolName(), Created: o.CreationTimestamp.Time, Pool: spec},
		Max:  math.MaxInt32, DeletePolicy: pool.Oldest, Strategy: strategy(spec.UpgradeSettings), NoPrerequisites: true,
	}
	if spec.Scaling.On() {
		t.Autoscaler = autoscalerManaged
		bound(&t, spec)
	}
	view, err := managedCluster(in)
	if err != nil {
		return t, err
	}
	view.Deleting = in.ClusterDeleting
	t.Spec.Cluster, t.Keep, t.CreateBlocked = view, view.Remember(), blocked(in, view)
	return t, nil
}

// Report writes nothing: the fields that only this kind has belong to another controller.
func (Adapter) Report(*gcpv1.GCPManagedMachinePool, report.Report, engine.Outcome) {}

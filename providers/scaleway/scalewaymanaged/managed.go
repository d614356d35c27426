// Package scalewaymanaged adapts ScalewayManagedMachinePool to the reconciler of infrastructure objects, and resolves the identity with
// which Scaleway is called for a cluster: the Secret that its ScalewayManagedCluster names, in the namespace of the cluster. The manager
// has no credentials of its own for Scaleway, and uses none of another namespace.
package scalewaymanaged

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=scalewaymanagedmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=scalewaymanagedmachinepools/status;scalewaymanagedmachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=scalewaymanagedclusters;scalewaymanagedcontrolplanes,verbs=get;list;watch

const (
	// poolReady is the name that the ecosystem knows the condition of the group by.
	poolReady = "PoolReady"
	// autoscalerManaged is the value of the annotation cluster.x-k8s.io/replicas-managed-by for a pool that Scaleway sizes.
	autoscalerManaged = "scaleway"
	// reasonWaitControlPlane is the reason while the cluster takes no pools.
	reasonWaitControlPlane = "WaitingForControlPlane"
	// reasonOutOfBounds is the reason of replicas above the maximum of a pool that is to be created.
	reasonOutOfBounds = "ReplicasOutOfBounds"

	// AutohealingDelay is the time that Muster leaves to Scaleway's autohealing before it replaces an unready machine. Scaleway restarts a
	// node after 15 minutes and replaces it after 30 (Scaleway, "Kubernetes autohealing"). The rest is for the replacement to join, which
	// took at most 11 minutes in recordings.
	AutohealingDelay = 45 * time.Minute

	minField, maxField = "spec.scaling.minSize", "spec.scaling.maxSize"
)

// Adapter translates ScalewayManagedMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*scalewayv1.ScalewayManagedMachinePool, *scalewayv1.ManagedMachinePoolSource] = Adapter{}

// Kind is ScalewayManagedMachinePool.
func (Adapter) Kind() infrapool.Kind[*scalewayv1.ScalewayManagedMachinePool, *scalewayv1.ManagedMachinePoolSource] {
	return infrapool.Kind[*scalewayv1.ScalewayManagedMachinePool, *scalewayv1.ManagedMachinePoolSource]{
		Group:          scalewayv1.GroupVersion.Group,
		Name:           scalewayv1.ScalewayManagedMachinePoolKind,
		Finalizer:      scalewayv1.ManagedMachinePoolFinalizer,
		VersionRises:   true,
		TemplateFields: []string{"kubeletArgs", "nodeType", "rootVolumeSizeGB", "rootVolumeType"},
		New:            func() *scalewayv1.ScalewayManagedMachinePool { return &scalewayv1.ScalewayManagedMachinePool{} },
		NewList:        func() client.ObjectList { return &scalewayv1.ScalewayManagedMachinePoolList{} },
		Aliases:        map[string]string{report.GroupReady: poolReady},
		NoInfraCluster: "names no " + scalewayv1.ManagedClusterKind + noPools("spec.infrastructureRef"),
		ControlPlane: func(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
			return ofKind(cluster.Spec.ControlPlaneRef, scalewayv1.ManagedControlPlaneKind)
		},
		NoControlPlane: "names no " + scalewayv1.ManagedControlPlaneKind + noPools("spec.controlPlaneRef"),
		BootstrapMode:  func(*scalewayv1.ScalewayManagedMachinePool) bootstrap.Mode { return bootstrap.None },
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials,
			spec *scalewayv1.ManagedMachinePoolSource) (map[string]string, error) {
			return Identify(ctx, by, from, &spec.Cluster)
		},
	}
}

// noPools ends what a Cluster lacks whose field references another kind.
func noPools(field string) string {
	return " in " + field + ": Scaleway keeps pools for its own clusters alone"
}

// InfraCluster is the ScalewayManagedCluster, which says where the cluster is and who asks the cloud. The control plane has its name.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return ofKind(cluster.Spec.InfrastructureRef, scalewayv1.ManagedClusterKind)
}

// ofKind returns a reference; empty if it is to another kind.
func ofKind(ref clusterv1.ContractVersionedObjectReference, kind string) clusterv1.ContractVersionedObjectReference {
	if ref.Kind == kind {
		return ref
	}
	return clusterv1.ContractVersionedObjectReference{}
}

// Translate hands the driver a copy of the specification without what the controller writes there itself. Kapsule has no template beside
// the pool, and replaces nodes itself.
func (Adapter) Translate(o *scalewayv1.ScalewayManagedMachinePool,
	in infrapool.Inputs) (infrapool.Translation[*scalewayv1.ManagedMachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	surge, unavailable := spec.Upgrade()
	t := infrapool.Translation[*scalewayv1.ManagedMachinePoolSource]{
		Spec: &scalewayv1.ManagedMachinePoolSource{Name: o.Name, Created: o.CreationTimestamp.Time, Pool: spec},
		Max:  math.MaxInt32, DeletePolicy: pool.Oldest, NoPrerequisites: true,
		Strategy: &pool.Strategy{
			MaxSurge: pool.IntOrPercent{Value: int(surge)}, SurgeField: "spec.upgradePolicy.maxSurge",
			MaxUnavailable: pool.IntOrPercent{Value: int(unavailable)}, UnavailableField: "spec.upgradePolicy.maxUnavailable",
		},
	}
	if spec.Autohealed() {
		t.RemediationDelay = AutohealingDelay
	}
	sized(&t, spec)
	view, err := managedCluster(in)
	if err != nil {
		return t, err
	}
	view.Deleting = in.ClusterDeleting
	t.Spec.Cluster, t.Keep = view, view.Remember()
	if t.CreateBlocked = aboveMaximum(o, in.MachinePool); t.CreateBlocked == nil && in.ControlPlane != nil && !view.Ready {
		t.CreateBlocked = &pool.Cause{Reason: reasonWaitControlPlane, Message: fmt.Sprintf("%s %s is not ready yet", in.ControlPlane.GetKind(),
			in.ControlPlane.GetName())}
	}
	return t, nil
}

// aboveMaximum returns why a pool that was never created is not created: its autoscaler would have to bend the bounds or the replicas. Once
// the pool exists, the replicas follow the autoscaler. It returns nil if nothing is above.
func aboveMaximum(o *scalewayv1.ScalewayManagedMachinePool, mp *clusterv1.MachinePool) *pool.Cause {
	if !o.Spec.Autoscaled() || o.Spec.Scaling.MaxSize == nil || o.Spec.ProviderID != "" || mp == nil {
		return nil
	}
	replicas, limit := ptr.Deref(mp.Spec.Replicas, 1), *o.Spec.Scaling.MaxSize
	if replicas <= limit {
		return nil
	}
	return &pool.Cause{Reason: reasonOutOfBounds, Message: fmt.Sprintf(
		"spec.replicas of MachinePool %s is %d, and %s is %d: lower spec.replicas, or raise %s", mp.Name, replicas, maxField, limit, maxField)}
}

// sized sets who sizes the pool where that is not Muster: Kapsule's autoscaler, within its bounds, or the machines of a Kosmos cluster that
// join by themselves.
func sized(t *infrapool.Translation[*scalewayv1.ManagedMachinePoolSource], spec *scalewayv1.ScalewayManagedMachinePoolSpec) {
	switch {
	case spec.External():
		t.Autoscaler, t.AutoscalerField = autoscalerManaged, "spec.nodeType"
	case spec.Autoscaled():
		t.Autoscaler, t.AutoscalerField = autoscalerManaged, "spec.scaling.autoscaling"
		t.Min, t.MinField = int(ptr.Deref(spec.Scaling.MinSize, 0)), minField
		if spec.Scaling.MaxSize != nil {
			t.Max, t.MaxField = int(*spec.Scaling.MaxSize), maxField
		}
	}
}

// managedCluster says where the pool is: as the cluster's objects have it, or else as the object remembers it.
func managedCluster(in infrapool.Inputs) (scalewayv1.ClusterView, error) {
	view, unknown := scalewayv1.ClusterViewRemembered(in.Resolved, stored.Annotation)
	known := view
	if in.ControlPlane != nil {
		read, err := scalewayv1.ClusterViewOf(in.ControlPlane, in.Cluster)
		if err != nil {
			return known, err
		}
		view = read
		view.Name = cmp.Or(view.Name, known.Name)
		view.Region, view.ProjectID = known.Region, known.ProjectID
	}
	if in.InfraCluster != nil {
		if err := view.Complete(in.InfraCluster); err != nil {
			return view, err
		}
	}
	view.ClusterName = cmp.Or(in.Cluster, view.ClusterName)
	switch {
	case view.Name != "" && view.Region != "" && view.ProjectID != "":
		return view, nil
	case in.ControlPlane != nil && view.Name == "":
		return view, &infrapool.NotYet{Cause: pool.Cause{Reason: reasonWaitControlPlane, Message: fmt.Sprintf(
			"%s %s has no spec.clusterName yet", in.ControlPlane.GetKind(), in.ControlPlane.GetName())}}
	}
	return view, unknown
}

// Report writes nothing: no field belongs to this kind alone.
func (Adapter) Report(*scalewayv1.ScalewayManagedMachinePool, report.Report, engine.Outcome) {}

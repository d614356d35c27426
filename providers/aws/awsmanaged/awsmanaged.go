// Package awsmanaged adapts AWSManagedMachinePool to the reconciler of infrastructure objects.
package awsmanaged

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// The keys under which an object remembers where its node group is, for when the control plane is gone.
const (
	keepRegion  = "region"
	keepCluster = "eks-cluster"
)

// managedControlPlane is the kind that stands for a control plane of Amazon's own.
const managedControlPlane = "AWSManagedControlPlane"

// The names that the ecosystem knows our conditions by.
const (
	nodegroupReady      = "EKSNodegroupReady"
	launchTemplateReady = "LaunchTemplateReady"
	rolesReady          = "IAMNodegroupRolesReady"
)

// reasonWaitControlPlane is the ecosystem's reason while nodes can't join yet.
const reasonWaitControlPlane = "WaitingForEKSControlPlane"

// ownTemplate begins the driver's name of a launch template version that is not EKS's own.
const ownTemplate = "lt-"

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmanagedmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmanagedmachinepools/status;awsmanagedmachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=awsmanagedcontrolplanes,verbs=get;list;watch

// Adapter translates AWSManagedMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*awsv1.AWSManagedMachinePool, *awsv1.ManagedMachinePoolSource] = Adapter{}

// Kind is AWSManagedMachinePool.
func (Adapter) Kind() infrapool.Kind[*awsv1.AWSManagedMachinePool, *awsv1.ManagedMachinePoolSource] {
	return infrapool.Kind[*awsv1.AWSManagedMachinePool, *awsv1.ManagedMachinePoolSource]{
		Group:        awsv1.GroupVersion.Group,
		Name:         awsv1.AWSManagedMachinePoolKind,
		Finalizer:    awsv1.ManagedMachinePoolFinalizer,
		VersionRises: true,
		TemplateFields: []string{"amiType", "amiVersion", "awsLaunchTemplate", "capacityType", "diskSize", "instanceType",
			"instanceTypes", "remoteAccess"},
		New:     func() *awsv1.AWSManagedMachinePool { return &awsv1.AWSManagedMachinePool{} },
		NewList: func() client.ObjectList { return &awsv1.AWSManagedMachinePoolList{} },
		Aliases: map[string]string{report.GroupReady: nodegroupReady, report.TemplateReady: launchTemplateReady,
			report.PrerequisitesReady: rolesReady},
		NoInfraCluster: "names no " + managedControlPlane + " in spec.controlPlaneRef: EKS keeps node groups for control planes of its own alone",
		BootstrapMode:  bootstrapMode,
		Identify:       identify,
	}
}

// bootstrapMode returns whether a node group needs bootstrap data, which reaches the machines by a launch template of the pool's own.
// Without such a template, or without data, EKS's images can join by themselves.
func bootstrapMode(o *awsv1.AWSManagedMachinePool) bootstrap.Mode {
	if template := o.Spec.AWSLaunchTemplate; template == nil || template.Existing != nil {
		return bootstrap.None
	}
	return bootstrap.Optional
}

// InfraCluster is the control plane, which says where network and cluster are. One that is not Amazon's own has no node groups.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	for _, ref := range []clusterv1.ContractVersionedObjectReference{cluster.Spec.ControlPlaneRef, cluster.Spec.InfrastructureRef} {
		if ref.Kind == managedControlPlane {
			return ref
		}
	}
	return clusterv1.ContractVersionedObjectReference{}
}

// Translate hands the driver a copy of the specification without what the controller writes there itself.
func (Adapter) Translate(o *awsv1.AWSManagedMachinePool,
	in infrapool.Inputs) (infrapool.Translation[*awsv1.ManagedMachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	t := infrapool.Translation[*awsv1.ManagedMachinePoolSource]{
		Spec:          &awsv1.ManagedMachinePoolSource{Pool: spec},
		Max:           math.MaxInt32,
		MinField:      "spec.scaling.minSize",
		MaxField:      "spec.scaling.maxSize",
		DeletePolicy:  pool.Oldest,
		KeepTemplates: spec.AWSLaunchTemplate.Keep(),
		Strategy:      strategy(spec.UpdateConfig),
	}
	if s := spec.Scaling; s != nil {
		t.Min = int(ptr.Deref(s.MinSize, 0))
		t.Max = int(ptr.Deref(s.MaxSize, math.MaxInt32))
	}
	return t, setInfraCluster(&t, in)
}

// setInfraCluster says where the node group is: as the control plane has it, or else as the object remembers it.
func setInfraCluster(t *infrapool.Translation[*awsv1.ManagedMachinePoolSource], in infrapool.Inputs) error {
	view := &t.Spec.Cluster
	if in.InfraCluster != nil {
		read, err := awsv1.ClusterViewOf(in.InfraCluster)
		if err != nil {
			return err
		}
		*view = read
	}
	region, known := in.Resolved[keepRegion]
	if view.Region == "" {
		view.Region = region
	}
	if view.EKSClusterName == "" {
		view.EKSClusterName = in.Resolved[keepCluster]
	}
	switch {
	case in.InfraCluster == nil && (!known || view.EKSClusterName == ""):
		return fmt.Errorf("the control plane of the cluster is gone, and metadata.annotations[%s] does not say the region and the EKS cluster "+
			"of the node group: "+
			`set it to {"%s": "<region>", "%s": "<name of the EKS cluster>"}`, stored.Annotation, keepRegion, keepCluster)
	case view.EKSClusterName == "":
		return &infrapool.NotYet{Cause: pool.Cause{Reason: reasonWaitControlPlane,
			Message: fmt.Sprintf("%s %s has no spec.eksClusterName yet", managedControlPlane, view.Name)}}
	case in.InfraCluster != nil && !view.ControlPlaneReady:
		t.CreateBlocked = &pool.Cause{Reason: reasonWaitControlPlane,
			Message: fmt.Sprintf("%s %s is not ready yet", managedControlPlane, view.Name)}
	}
	t.Keep = map[string]string{keepRegion: view.Region, keepCluster: view.EKSClusterName}
	return nil
}

// strategy returns the strategy for machines that are stale only because of a restart: as many at once as in EKS's own updates, and at
// least one if the percentage of a small pool is less than a machine.
func strategy(c *awsv1.UpdateConfig) *pool.Strategy {
	s := &pool.Strategy{
		MaxUnavailable:   pool.IntOrPercent{Value: 1},
		SurgeField:       "spec.updateConfig.updateStrategy",
		UnavailableField: "spec.updateConfig.maxUnavailable",
	}
	switch {
	case c == nil:
	case c.MaxUnavailable != nil:
		s.MaxUnavailable.Value = *c.MaxUnavailable
	case c.MaxUnavailablePercentage != nil:
		s.MaxUnavailable = pool.IntOrPercent{Value: *c.MaxUnavailablePercentage, Percent: true}
		s.UnavailableField = "spec.updateConfig.maxUnavailablePercentage"
	}
	return s
}

// Report writes the fields that the ecosystem knows: the launch template's ID, and the version that the node group launches
// from, or will when it is made. EKS's own template is none of the pool's.
func (Adapter) Report(o *awsv1.AWSManagedMachinePool, r report.Report, out engine.Outcome) {
	o.Status.LaunchTemplateID, o.Status.LaunchTemplateVersion = nil, nil
	launched := r.Template
	if group := out.Observed.Group; group != nil && group.Template != "" {
		launched = group.Template
	}
	id, version, found := strings.Cut(launched, ":")
	if !found || !strings.HasPrefix(id, ownTemplate) {
		return
	}
	o.Status.LaunchTemplateID, o.Status.LaunchTemplateVersion = &id, &version
}

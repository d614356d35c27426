// Package awsmachinepool adapts AWSMachinePool to the reconciler of infrastructure objects.
package awsmachinepool

import (
	"fmt"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// keepRegion is the key of the stored region of an object's cloud objects. It is stored even if the cluster names no region and the
// controller's own settings decide.
const keepRegion = "region"

// managedControlPlane is the kind of both infrastructure and control plane of an EKS cluster.
const managedControlPlane = "AWSManagedControlPlane"

// The names of the conditions in the ecosystem.
const (
	asgReady            = "ASGReady"
	launchTemplateReady = "LaunchTemplateReady"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmachinepools/status;awsmachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsclustercontrolleridentities;awsclusterstaticidentities;awsclusterroleidentities,verbs=get;list;watch
// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=awsmanagedcontrolplanes,verbs=get;list;watch

// Adapter translates AWSMachinePools.
type Adapter struct{}

var _ infrapool.Adapter[*awsv1.AWSMachinePool, *awsv1.MachinePoolSource] = Adapter{}

// Kind is AWSMachinePool.
func (Adapter) Kind() infrapool.Kind[*awsv1.AWSMachinePool, *awsv1.MachinePoolSource] {
	return infrapool.Kind[*awsv1.AWSMachinePool, *awsv1.MachinePoolSource]{
		Group:          awsv1.GroupVersion.Group,
		Name:           awsv1.AWSMachinePoolKind,
		Finalizer:      awsv1.MachinePoolFinalizer,
		TemplateFields: []string{"awsLaunchTemplate", "mixedInstancesPolicy", "ignition"},
		New:            func() *awsv1.AWSMachinePool { return &awsv1.AWSMachinePool{} },
		NewList:        func() client.ObjectList { return &awsv1.AWSMachinePoolList{} },
		Aliases:        map[string]string{report.GroupReady: asgReady, report.TemplateReady: launchTemplateReady},
		BootstrapMode:  bootstrapMode,
		Identify:       identify,
		Machines:       machineKind(),
		MachineKind:    func(o *awsv1.AWSMachinePool) *string { return &o.Status.InfrastructureMachineKind },
		Health:         health,
	}
}

// bootstrapMode returns what bootstrap data is to the pool's instances: none reaches them through a launch template that the user manages.
func bootstrapMode(o *awsv1.AWSMachinePool) bootstrap.Mode {
	if o.Spec.AWSLaunchTemplate.Existing != nil {
		return bootstrap.None
	}
	return bootstrap.Required
}

// InfraCluster returns the AWSCluster, or the control plane of an EKS cluster, which describes the network then.
func (Adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	if cluster.Spec.ControlPlaneRef.Kind == managedControlPlane {
		return cluster.Spec.ControlPlaneRef
	}
	return cluster.Spec.InfrastructureRef
}

// Translate returns a copy of the specification without the fields that the controller writes.
func (Adapter) Translate(o *awsv1.AWSMachinePool, in infrapool.Inputs) (infrapool.Translation[*awsv1.MachinePoolSource], error) {
	spec := o.Spec.DeepCopy()
	spec.ProviderID = ""
	spec.ProviderIDList = nil
	t := infrapool.Translation[*awsv1.MachinePoolSource]{
		Spec:     &awsv1.MachinePoolSource{Pool: spec},
		Min:      int(spec.MinSize),
		Max:      int(spec.MaxSize),
		MinField: "spec.minSize",
		MaxField: "spec.maxSize",
	}
	t.KeepTemplates = spec.AWSLaunchTemplate.Keep()
	translateRollout(spec, &t)
	region, known := in.Resolved[keepRegion]
	if in.InfraCluster != nil {
		view, err := awsv1.ClusterViewOf(in.InfraCluster)
		if err != nil {
			return t, err
		}
		t.Spec.Cluster = view
		known = true
		if view.Region != "" {
			region = view.Region
		}
	}
	if !known {
		return t, fmt.Errorf("the infrastructure of the cluster is gone, and metadata.annotations[%s] does not say the region of the Auto "+
			"Scaling group: "+
			`set it to {"%s": "<region>"}`, stored.Annotation, keepRegion)
	}
	t.Spec.Cluster.Region = region
	t.Keep = map[string]string{keepRegion: region}
	return t, nil
}

// Report sets the fields of the ecosystem: the launch template's ID, the version that the group launches from or will be created with, and
// whether the group is being deleted.
func (Adapter) Report(o *awsv1.AWSMachinePool, r report.Report, out engine.Outcome) {
	o.Status.LaunchTemplateVersion = nil
	o.Status.ASGStatus = nil
	id, version := splitTemplate(r.Template)
	group := out.Observed.Group
	if group != nil && group.Template != "" {
		_, version = splitTemplate(group.Template)
	}
	o.Status.LaunchTemplateID = id
	if version != "" {
		o.Status.LaunchTemplateVersion = &version
	}
	if group != nil && group.Deleting {
		status := awsv1.ASGStatusDeleteInProgress
		o.Status.ASGStatus = &status
	}
}

// splitTemplate splits the driver's name of a template version (lt-0123:4).
func splitTemplate(ref string) (id, version string) {
	id, version, _ = strings.Cut(ref, ":")
	return id, version
}

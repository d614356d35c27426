package toy

import (
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	driver "github.com/muster-project/muster/cloud/toy"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The kinds of the toy cloud, which no release has.
const (
	kindPool         = "ToyMachinePool"
	kindControlPlane = "ToyControlPlane"
)

var groupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1"}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &ToyMachinePool{}, &ToyMachinePoolList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// ToyMachinePool is a pool of the toy cloud.
type ToyMachinePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec          `json:"spec"`
	Status            common.Status `json:"status,omitzero"`
}

// Spec is the driver's specification with the fields that the contract has the controller write.
type Spec struct {
	driver.Spec    `json:",inline"`
	ProviderID     string   `json:"providerID,omitempty"`
	ProviderIDList []string `json:"providerIDList,omitempty"`
}

// ToyMachinePoolList is a list of pools.
type ToyMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ToyMachinePool `json:"items"`
}

// DeepCopyObject returns a copy.
func (p *ToyMachinePool) DeepCopyObject() runtime.Object {
	out := *p
	p.DeepCopyInto(&out.ObjectMeta)
	p.Status.DeepCopyInto(&out.Status)
	out.Spec.Spec, out.Spec.ProviderIDList = p.Spec.Clone(), slices.Clone(p.Spec.ProviderIDList)
	return &out
}

// DeepCopyObject returns a copy.
func (l *ToyMachinePoolList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for _, p := range l.Items {
		if one, ok := p.DeepCopyObject().(*ToyMachinePool); ok {
			out.Items = append(out.Items, *one)
		}
	}
	return &out
}

// GetCommonStatus returns the status.
func (p *ToyMachinePool) GetCommonStatus() *common.Status { return &p.Status }

// GetConditions returns the conditions.
func (p *ToyMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *ToyMachinePool) SetConditions(list []metav1.Condition) { p.Status.Conditions = list }

// GetProviderID returns the ID of the pool in the cloud.
func (p *ToyMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ID of the pool in the cloud.
func (p *ToyMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the nodes.
func (p *ToyMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the nodes.
func (p *ToyMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// adapter translates ToyMachinePools.
type adapter struct{}

var _ infrapool.Adapter[*ToyMachinePool, *driver.Source] = adapter{}

// Kind describes the kind.
func (adapter) Kind() infrapool.Kind[*ToyMachinePool, *driver.Source] {
	return infrapool.Kind[*ToyMachinePool, *driver.Source]{
		Group: groupVersion.Group, Name: kindPool, Finalizer: "toymachinepool.muster.dev/finalizer",
		New: func() *ToyMachinePool { return &ToyMachinePool{} }, NewList: func() client.ObjectList { return &ToyMachinePoolList{} },
		NoInfraCluster: "names no " + kindControlPlane + " in spec.controlPlaneRef",
		BootstrapMode:  func(*ToyMachinePool) bootstrap.Mode { return bootstrap.None },
	}
}

// InfraCluster returns the control plane.
func (adapter) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return cluster.Spec.ControlPlaneRef
}

// keptCluster is the key under which the object remembers the name of its cluster in the cloud.
const keptCluster = "toy-cluster"

// Translate hands the driver the specification and the name of the cluster, as the control plane has it or as the object remembers it.
func (adapter) Translate(o *ToyMachinePool, in infrapool.Inputs) (infrapool.Translation[*driver.Source], error) {
	spec := o.Spec.Clone()
	t := infrapool.Translation[*driver.Source]{
		Spec: &driver.Source{Cluster: in.Resolved[keptCluster], Pool: spec}, Max: math.MaxInt32, DeletePolicy: domain.Oldest,
		NoPrerequisites: true,
	}
	t.Strategy, _ = infrapool.StrategyOf(*limits(spec).Spec(), "spec.upgrade")
	t.Strategy.SurgeField, t.Strategy.UnavailableField = "spec.upgrade.maxSurge", "spec.upgrade.maxUnavailable"
	if a := spec.Autoscaling; a != nil {
		t.Autoscaler, t.AutoscalerField, t.Min, t.Max = "toy", "spec.autoscaling", a.Min, a.Max
		t.MinField, t.MaxField = "spec.autoscaling.min", "spec.autoscaling.max"
	}
	if in.InfraCluster != nil {
		t.Spec.Cluster = in.InfraCluster.GetName()
		if ready, _, _ := unstructured.NestedBool(in.InfraCluster.Object, "status", "ready"); !ready {
			t.CreateBlocked = &domain.Cause{Reason: "WaitingForControlPlane", Message: kindControlPlane + " is not ready yet"}
		}
	}
	t.Keep = map[string]string{keptCluster: t.Spec.Cluster}
	return t, nil
}

// Report writes nothing: the kind has no specific fields.
func (adapter) Report(*ToyMachinePool, report.Report, engine.Outcome) {}

// limits returns the limits of an upgrade, with the cloud's defaults.
func limits(s driver.Spec) *script.Limits {
	out := &script.Limits{Surge: "1", Unavailable: "0"}
	if s.Upgrade.MaxSurge != "" {
		out.Surge = s.Upgrade.MaxSurge
	}
	if s.Upgrade.MaxUnavailable != "" {
		out.Unavailable = s.Upgrade.MaxUnavailable
	}
	return out
}

// object returns an infrastructure object as what it is.
func object(o client.Object) *ToyMachinePool { return o.(*ToyMachinePool) }

func bounds(o client.Object) (least, most int32) {
	if a := object(o).Spec.Autoscaling; a != nil {
		return int32(a.Min), int32(a.Max)
	}
	return 0, world.Plenty
}

func setBounds(o client.Object, least, most int32) {
	if s := &object(o).Spec; s.Autoscaling != nil {
		s.Autoscaling = &driver.Autoscaling{Min: int(least), Max: int(max(most, 1))}
	}
}

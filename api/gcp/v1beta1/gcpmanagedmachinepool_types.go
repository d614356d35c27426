package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

const (
	// GCPManagedMachinePoolKind is the kind's name.
	GCPManagedMachinePoolKind = "GCPManagedMachinePool"

	// ManagedMachinePoolFinalizer keeps the object until its node pool is gone. It is the ecosystem's.
	ManagedMachinePoolFinalizer = "gcpmanagedmachinepool.infrastructure.cluster.x-k8s.io"
)

// GCPManagedMachinePoolSpec defines the desired state of a GCPManagedMachinePool, a node pool of GKE.
// +kubebuilder:validation:XValidation:rule="has(self.nodePoolName) == has(oldSelf.nodePoolName) && (!has(self.nodePoolName) || self.nodePoolName == oldSelf.nodePoolName)",fieldPath=".nodePoolName",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't rename a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.localSsdCount) == has(oldSelf.localSsdCount) && (!has(self.localSsdCount) || self.localSsdCount == oldSelf.localSsdCount)",fieldPath=".localSsdCount",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the local SSDs of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.maxPodsPerNode) == has(oldSelf.maxPodsPerNode) && (!has(self.maxPodsPerNode) || self.maxPodsPerNode == oldSelf.maxPodsPerNode)",fieldPath=".maxPodsPerNode",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the number of pods per node of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.nodeSecurity) == has(oldSelf.nodeSecurity) && (!has(self.nodeSecurity) || self.nodeSecurity == oldSelf.nodeSecurity)",fieldPath=".nodeSecurity",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the service account, the sandbox or the shielded features of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.preemptible) == has(oldSelf.preemptible) && (!has(self.preemptible) || self.preemptible == oldSelf.preemptible)",fieldPath=".preemptible",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the provisioning model of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.spot) == has(oldSelf.spot) && (!has(self.spot) || self.spot == oldSelf.spot)",fieldPath=".spot",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the provisioning model of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="has(self.confidentialCompute) == has(oldSelf.confidentialCompute) && (!has(self.confidentialCompute) || self.confidentialCompute == oldSelf.confidentialCompute)",fieldPath=".confidentialCompute",reason=FieldValueForbidden,message="can't be changed once the pool exists: create another pool"
// +kubebuilder:validation:XValidation:rule="(has(self.nodeNetwork) && has(self.nodeNetwork.createPodRange) ? self.nodeNetwork.createPodRange : false) == (has(oldSelf.nodeNetwork) && has(oldSelf.nodeNetwork.createPodRange) ? oldSelf.nodeNetwork.createPodRange : false)",fieldPath=".nodeNetwork.createPodRange",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the range of pods of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="(has(self.nodeNetwork) && has(self.nodeNetwork.podRangeName) ? self.nodeNetwork.podRangeName : 'none') == (has(oldSelf.nodeNetwork) && has(oldSelf.nodeNetwork.podRangeName) ? oldSelf.nodeNetwork.podRangeName : 'none')",fieldPath=".nodeNetwork.podRangeName",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the range of pods of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="(has(self.nodeNetwork) && has(self.nodeNetwork.podRangeCidrBlock) ? self.nodeNetwork.podRangeCidrBlock : 'none') == (has(oldSelf.nodeNetwork) && has(oldSelf.nodeNetwork.podRangeCidrBlock) ? oldSelf.nodeNetwork.podRangeCidrBlock : 'none')",fieldPath=".nodeNetwork.podRangeCidrBlock",reason=FieldValueForbidden,message="can't be changed once the pool exists: GKE can't change the range of pods of a node pool; create another pool"
// +kubebuilder:validation:XValidation:rule="!has(self.preemptible) || !self.preemptible || !has(self.spot) || !self.spot",fieldPath=".spot",reason=FieldValueInvalid,message="must not be true when preemptible is true: nodes have one provisioning model"
type GCPManagedMachinePoolSpec struct {
	// ProviderID is the ID of the node pool. It is written by the controller.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ProviderID string `json:"providerID,omitempty"`

	// ProviderIDList are the provider IDs of the pool's nodes. It is written by the controller.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=15000
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	ProviderIDList []string `json:"providerIDList,omitempty"`

	// NodePoolName is the name of the node pool in GKE: at most 40 lower-case letters, digits and hyphens. Absent, it is the name of the
	// object. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`
	NodePoolName string `json:"nodePoolName,omitempty"`

	// MachineType is another name of instanceType; if both are set, instanceType is taken.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	MachineType *string `json:"machineType,omitempty"`

	// DiskSizeGb is the size of the boot disk of nodes in gigabytes, at least 10. Absent, GKE takes 100.
	// +optional
	// +kubebuilder:validation:Maximum=65536
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 10",reason=FieldValueInvalid,message="must be at least 10, or 0 for the default of GKE"
	DiskSizeGb *int32 `json:"diskSizeGb,omitempty"`

	// LocalSsdCount is the number of local SSDs of each node. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	LocalSsdCount *int32 `json:"localSsdCount,omitempty"`

	// Scaling has GKE's own autoscaler size the pool. spec.replicas of the MachinePool then follows the pool's size.
	// +optional
	Scaling *NodePoolAutoScaling `json:"scaling,omitempty"`

	// NodeLocations are the zones of the pool; absent, they are those of the cluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.all(z, self.exists_one(o, o == z))",reason=FieldValueInvalid,message="no zone may be named twice"
	NodeLocations []string `json:"nodeLocations,omitempty"`

	// ImageType is the image of nodes, for example COS_CONTAINERD or UBUNTU_CONTAINERD. Absent, GKE takes COS_CONTAINERD.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ImageType *string `json:"imageType,omitempty"`

	// InstanceType is the machine type of nodes, for example n2-standard-4. Absent, GKE takes e2-medium.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	InstanceType *string `json:"instanceType,omitempty"`

	// DiskType is the type of the boot disk of nodes: pd-standard, pd-ssd, pd-balanced or hyperdisk-balanced. Absent, GKE chooses by machine
	// type.
	// +optional
	DiskType *NodeDiskType `json:"diskType,omitempty"`

	// DiskSizeGB is another name of diskSizeGb; if both are set, diskSizeGB is taken.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=65536
	DiskSizeGB *int64 `json:"diskSizeGB,omitempty"`

	// MaxPodsPerNode is the largest number of pods on a node; absent, it is that of the cluster. It can't be changed later.
	// +optional
	// +kubebuilder:validation:Minimum=8
	// +kubebuilder:validation:Maximum=256
	MaxPodsPerNode *int64 `json:"maxPodsPerNode,omitempty"`

	// NodeNetwork is the network of nodes.
	// +optional
	NodeNetwork *NodeNetworkConfig `json:"nodeNetwork,omitempty"`

	// NodeSecurity configures the security of nodes. It can't be changed later.
	// +optional
	NodeSecurity *NodeSecurityConfig `json:"nodeSecurity,omitempty"`

	// KubernetesLabels are the labels of the pool's nodes, in addition to those that GKE sets.
	// +optional
	KubernetesLabels NodeLabels `json:"kubernetesLabels,omitempty"`

	// KubernetesTaints are the taints of the pool's nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	KubernetesTaints []Taint `json:"kubernetesTaints,omitempty"`

	// AdditionalLabels are labels of the cloud objects of nodes, in addition to those of the controller. If the cluster's additionalLabels
	// have the same key, the pool's value is used.
	// +optional
	AdditionalLabels Labels `json:"additionalLabels,omitempty"`

	// Management configures the automatic maintenance of nodes by GKE. Absent fields have the defaults of GKE.
	// +optional
	Management *NodePoolManagement `json:"management,omitempty"`

	// LinuxNodeConfig are settings of the operating system of nodes.
	// +optional
	LinuxNodeConfig *LinuxNodeConfig `json:"linuxNodeConfig,omitempty"`

	// Preemptible is true if nodes run for at most 24 hours, on capacity that Compute Engine may take back. It can't be changed later.
	// +optional
	Preemptible *bool `json:"preemptible,omitempty"`

	// Spot is true if nodes run on capacity that Compute Engine may take back. It can't be changed later.
	// +optional
	Spot *bool `json:"spot,omitempty"`

	// ConfidentialCompute is the technology that keeps the memory of nodes from their host, on a machine type that has it. Absent, the
	// cluster decides. It can't be changed later. It is Muster's own addition to the ecosystem's kind.
	// +optional
	ConfidentialCompute *ConfidentialComputePolicy `json:"confidentialCompute,omitempty"`

	// UpgradeSettings configure how GKE replaces nodes. Absent fields have the defaults of GKE. They are an addition of Muster to the
	// ecosystem's kind.
	// +optional
	UpgradeSettings *UpgradeSettings `json:"upgradeSettings,omitempty"`
}

// NodeLabels are labels of nodes.
// +kubebuilder:validation:MaxProperties=100
// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",reason=FieldValueInvalid,message="every key must be a label's: an optional domain and a slash, and a name of at most 63 letters, digits, '-', '_' and '.'"
type NodeLabels map[string]NodeLabelValue

// NodeLabelValue is the value of a label of nodes, with the limits that Kubernetes has for it.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type NodeLabelValue string

// Strings returns the labels as plain strings; nil for none.
func (l NodeLabels) Strings() map[string]string { return toStrings(l) }

// GCPManagedMachinePoolStatus defines the observed state of a GCPManagedMachinePool.
type GCPManagedMachinePoolStatus struct {
	common.Status `json:",inline"`

	// InfrastructureMachineKind belongs to another controller of the kind, which sets the kind of the pool itself. It is read and never set:
	// nodes of GKE have no Machines.
	// +optional
	InfrastructureMachineKind string `json:"infrastructureMachineKind,omitempty"`
}

// GCPManagedMachinePool is a node pool of a GKE cluster.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gcpmanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=gcpmmp
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1beta1"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1beta1"
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster that the pool belongs to"
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".status.desiredReplicas",description="Instances that the pool is brought to"
// +kubebuilder:printcolumn:name="Current",type="integer",JSONPath=".status.replicas",description="Instances that exist in the cloud"
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.readyReplicas",description="Instances whose Node is Ready"
// +kubebuilder:printcolumn:name="Up-to-date",type="integer",JSONPath=".status.upToDateReplicas",description="Instances launched from the wanted template"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.state",description="What the pool is doing"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the pool was created"
// +kubebuilder:printcolumn:name="Paused",type="string",priority=1,JSONPath=".status.conditions[?(@.type==\"Paused\")].status",description="Whether the pool is left alone"
// +kubebuilder:printcolumn:name="Template",type="string",priority=1,JSONPath=".status.template",description="Template that new instances are launched from"
// +kubebuilder:printcolumn:name="ProviderID",type="string",priority=1,JSONPath=".spec.providerID",description="The cloud's ID of the group"
// +kubebuilder:printcolumn:name="Version",type="string",priority=1,JSONPath=".status.version",description="Kubernetes version that new instances run"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.nodePoolName) && size(self.spec.nodePoolName) > 0) || (has(self.metadata.name) && size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",fieldPath=".spec.nodePoolName",reason=FieldValueRequired,messageExpression="'must be set: metadata.name is ' + self.metadata.name + ', and GKE takes at most 40 lower-case letters, digits and hyphens, of which the first is a letter'"
type GCPManagedMachinePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec defines the desired state of the pool.
	// +required
	Spec GCPManagedMachinePoolSpec `json:"spec"`

	// Status holds the observed state of the pool.
	// +optional
	Status GCPManagedMachinePoolStatus `json:"status,omitzero"`
}

// GCPManagedMachinePoolList is a list of GCPManagedMachinePool.
// +kubebuilder:object:root=true
type GCPManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items of the list.
	Items []GCPManagedMachinePool `json:"items"`
}

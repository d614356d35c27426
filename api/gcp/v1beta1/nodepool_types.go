package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeDiskType is the type of the boot disk of a node.
// +kubebuilder:validation:Enum=pd-standard;pd-ssd;pd-balanced;hyperdisk-balanced
type NodeDiskType string

// LocationPolicy selects how GKE's autoscaler distributes new nodes over zones.
// +kubebuilder:validation:Enum=balanced;any
type LocationPolicy string

// The location policies.
const (
	// LocationBalanced keeps zones of equal sizes.
	LocationBalanced LocationPolicy = "balanced"
	// LocationAny takes the zones with the most capacity.
	LocationAny LocationPolicy = "any"
)

// NodePoolAutoScaling has GKE's own autoscaler size the pool, unless enableAutoscaling is false.
// +kubebuilder:validation:XValidation:rule="!has(self.enableAutoscaling) || self.enableAutoscaling || !has(self.minCount)",fieldPath=".minCount",reason=FieldValueForbidden,message="can't be set when enableAutoscaling is false"
// +kubebuilder:validation:XValidation:rule="!has(self.enableAutoscaling) || self.enableAutoscaling || !has(self.maxCount)",fieldPath=".maxCount",reason=FieldValueForbidden,message="can't be set when enableAutoscaling is false"
// +kubebuilder:validation:XValidation:rule="!has(self.enableAutoscaling) || self.enableAutoscaling || !has(self.totalMinCount)",fieldPath=".totalMinCount",reason=FieldValueForbidden,message="can't be set when enableAutoscaling is false"
// +kubebuilder:validation:XValidation:rule="!has(self.enableAutoscaling) || self.enableAutoscaling || !has(self.totalMaxCount)",fieldPath=".totalMaxCount",reason=FieldValueForbidden,message="can't be set when enableAutoscaling is false"
// +kubebuilder:validation:XValidation:rule="!has(self.enableAutoscaling) || self.enableAutoscaling || !has(self.locationPolicy)",fieldPath=".locationPolicy",reason=FieldValueForbidden,message="can't be set when enableAutoscaling is false"
// +kubebuilder:validation:XValidation:rule="!has(self.minCount) || !has(self.maxCount) || self.minCount <= self.maxCount",fieldPath=".maxCount",reason=FieldValueInvalid,message="must be at least minCount"
// +kubebuilder:validation:XValidation:rule="!has(self.totalMinCount) || !has(self.totalMaxCount) || self.totalMinCount <= self.totalMaxCount",fieldPath=".totalMaxCount",reason=FieldValueInvalid,message="must be at least totalMinCount"
// +kubebuilder:validation:XValidation:rule="!(has(self.minCount) || has(self.maxCount)) || !(has(self.totalMinCount) || has(self.totalMaxCount))",fieldPath=".totalMaxCount",reason=FieldValueForbidden,message="totalMinCount and totalMaxCount can't be set with minCount or maxCount: GKE bounds each zone or the whole pool"
type NodePoolAutoScaling struct {
	// MinCount is the least number of nodes in each zone of the pool.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MinCount *int32 `json:"minCount,omitempty"`

	// MaxCount is the largest number of nodes in each zone of the pool.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxCount *int32 `json:"maxCount,omitempty"`

	// EnableAutoscaling is true if GKE's autoscaler sizes the pool, within these bounds. Absent, it is true.
	// +optional
	EnableAutoscaling *bool `json:"enableAutoscaling,omitempty"`

	// LocationPolicy selects how the autoscaler distributes new nodes over zones: balanced or any. If it is absent, GKE chooses.
	// +optional
	LocationPolicy *LocationPolicy `json:"locationPolicy,omitempty"`

	// TotalMinCount is the least number of nodes in all zones together. It is Muster's own addition to the ecosystem's kind.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=15000
	TotalMinCount *int32 `json:"totalMinCount,omitempty"`

	// TotalMaxCount is the largest number of nodes in all zones together. It is Muster's own addition to the ecosystem's kind.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=15000
	TotalMaxCount *int32 `json:"totalMaxCount,omitempty"`
}

// On reports whether GKE's autoscaler sizes the pool. It is false for nil.
func (s *NodePoolAutoScaling) On() bool {
	return s != nil && (s.EnableAutoscaling == nil || *s.EnableAutoscaling)
}

// NodeNetworkConfig is the network of nodes.
type NodeNetworkConfig struct {
	// Tags are network tags of nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Tags []string `json:"tags,omitempty"`

	// CreatePodRange is true if GKE creates a range of addresses for the pods of this pool. It can't be changed later.
	// +optional
	CreatePodRange *bool `json:"createPodRange,omitempty"`

	// PodRangeName is the secondary range of the subnet that pods have addresses of. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	PodRangeName *string `json:"podRangeName,omitempty"`

	// PodRangeCidrBlock is the range of addresses that createPodRange creates, or its size, for example /20. It can't be changed later.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	PodRangeCidrBlock *string `json:"podRangeCidrBlock,omitempty"`
}

// NodeSecurityConfig configures the security of nodes. It can't be changed later.
type NodeSecurityConfig struct {
	// ServiceAccount is the service account that nodes act as; absent, it is the default service account of Compute Engine.
	// +optional
	ServiceAccount *ServiceAccountConfig `json:"serviceAccount,omitempty"`

	// SandboxType is the sandbox that pods run in: gvisor, or absent for none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SandboxType *string `json:"sandboxType,omitempty"`

	// EnableSecureBoot lets only signed components boot.
	// +optional
	EnableSecureBoot *bool `json:"enableSecureBoot,omitempty"`

	// EnableIntegrityMonitoring compares each boot with the first.
	// +optional
	EnableIntegrityMonitoring *bool `json:"enableIntegrityMonitoring,omitempty"`
}

// ServiceAccountConfig is the service account that nodes act as.
type ServiceAccountConfig struct {
	// Email of the service account; absent, it is the default service account of Compute Engine.
	// +optional
	// +kubebuilder:validation:MaxLength=254
	Email *string `json:"email,omitempty"`

	// Scopes limit the use of the account by nodes. If they are absent, GKE uses its default list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Scopes []string `json:"scopes,omitempty"`
}

// NodePoolManagement configures the automatic maintenance of nodes by GKE.
type NodePoolManagement struct {
	// AutoUpgrade is true if GKE upgrades the nodes to the version of the control plane.
	// +optional
	AutoUpgrade bool `json:"autoUpgrade,omitempty"`

	// AutoRepair is true if GKE recreates nodes that are not healthy.
	// +optional
	AutoRepair bool `json:"autoRepair,omitempty"`
}

// LinuxNodeConfig are settings of the operating system of nodes.
type LinuxNodeConfig struct {
	// Sysctls are kernel parameters of nodes and their pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(s, !has(s.parameter) || self.exists_one(o, has(o.parameter) && o.parameter == s.parameter))",reason=FieldValueInvalid,message="no parameter may be set twice"
	Sysctls []SysctlConfig `json:"sysctls,omitempty"`

	// CgroupMode is the version of cgroups: 1 or 2. Absent, GKE chooses.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2
	CgroupMode *int32 `json:"cgroupMode,omitempty"`

	// Hugepages are huge pages that nodes reserve at boot. They are Muster's own addition to the ecosystem's kind.
	// +optional
	Hugepages *HugepagesConfig `json:"hugepages,omitempty"`
}

// SysctlConfig is a kernel parameter.
type SysctlConfig struct {
	// Parameter is the name of the parameter, for example net.core.somaxconn.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Parameter string `json:"parameter,omitempty"`

	// Value of the parameter.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Value string `json:"value,omitempty"`
}

// HugepagesConfig are numbers of huge pages.
type HugepagesConfig struct {
	// HugepageSize2m is the number of pages of 2 MiB.
	// +optional
	// +kubebuilder:validation:Minimum=1
	HugepageSize2m *int32 `json:"hugepageSize2m,omitempty"`

	// HugepageSize1g is the number of pages of 1 GiB.
	// +optional
	// +kubebuilder:validation:Minimum=1
	HugepageSize1g *int32 `json:"hugepageSize1g,omitempty"`
}

// Taint of the pool's nodes.
type Taint struct {
	// Effect of the taint.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;NoExecute;PreferNoSchedule
	Effect string `json:"effect"`

	// Key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`

	// Value of the taint.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value"`
}

// UpgradeStrategy selects how GKE replaces the nodes of a pool.
// +kubebuilder:validation:Enum=Surge;BlueGreen
type UpgradeStrategy string

// The strategies of upgrades.
const (
	// UpgradeSurge adds nodes and replaces the others a few at a time.
	UpgradeSurge UpgradeStrategy = "Surge"
	// UpgradeBlueGreen adds as many nodes as there are, moves the pods in batches, and deletes the older nodes at the end.
	UpgradeBlueGreen UpgradeStrategy = "BlueGreen"
)

// UpgradeSettings configure how GKE replaces nodes, in an upgrade and when a change of the specification needs other nodes. Absent fields
// have the defaults of GKE. They are an addition of Muster to the ecosystem's kind.
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !has(self.maxUnavailable) || self.maxSurge + self.maxUnavailable >= 1",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="must be at least 1 when maxSurge is 0: no node could be replaced"
// +kubebuilder:validation:XValidation:rule="(has(self.maxSurge) ? self.maxSurge : 0) + (has(self.maxUnavailable) ? self.maxUnavailable : 0) <= 20",fieldPath=".maxSurge",reason=FieldValueInvalid,message="maxSurge and maxUnavailable must be at most 20 together: GKE replaces no more nodes at once"
// +kubebuilder:validation:XValidation:rule="!has(self.strategy) || self.strategy != 'BlueGreen' || (!has(self.maxSurge) && !has(self.maxUnavailable))",fieldPath=".maxSurge",reason=FieldValueForbidden,message="maxSurge and maxUnavailable can't be set when strategy is BlueGreen"
// +kubebuilder:validation:XValidation:rule="!has(self.blueGreenSettings) || (has(self.strategy) && self.strategy == 'BlueGreen')",fieldPath=".blueGreenSettings",reason=FieldValueForbidden,message="can only be set when strategy is BlueGreen"
type UpgradeSettings struct {
	// Strategy is Surge or BlueGreen. Absent, it is Surge.
	// +optional
	Strategy UpgradeStrategy `json:"strategy,omitempty"`

	// MaxSurge is the number of additional nodes during an upgrade. The default of GKE is 1 if maxUnavailable is absent too.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	MaxSurge *int32 `json:"maxSurge,omitempty"`

	// MaxUnavailable is the number of nodes that may be unavailable during an upgrade. The default of GKE is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	MaxUnavailable *int32 `json:"maxUnavailable,omitempty"`

	// BlueGreenSettings are those of strategy BlueGreen.
	// +optional
	BlueGreenSettings *BlueGreenSettings `json:"blueGreenSettings,omitempty"`
}

// BlueGreenSettings configure how GKE replaces nodes with strategy BlueGreen.
type BlueGreenSettings struct {
	// StandardRolloutPolicy limits the number of nodes that are drained at a time.
	// +optional
	StandardRolloutPolicy *StandardRolloutPolicy `json:"standardRolloutPolicy,omitempty"`

	// NodePoolSoakDuration is the time that GKE waits after the drain of all nodes before it deletes them, at most 168h. The default of GKE is
	// one hour.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('168h')",reason=FieldValueInvalid,message="must be between 0s and 168h"
	NodePoolSoakDuration *metav1.Duration `json:"nodePoolSoakDuration,omitempty"`
}

// StandardRolloutPolicy limits the number of nodes that are drained at a time with strategy BlueGreen.
// +kubebuilder:validation:XValidation:rule="!has(self.batchPercentage) || !has(self.batchNodeCount)",fieldPath=".batchNodeCount",reason=FieldValueForbidden,message="can't be set with batchPercentage"
type StandardRolloutPolicy struct {
	// BatchPercentage is the share of nodes that are drained at a time, in percent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	BatchPercentage *int32 `json:"batchPercentage,omitempty"`

	// BatchNodeCount is the number of nodes that are drained at a time. GKE takes 1 where it and batchPercentage are absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	BatchNodeCount *int32 `json:"batchNodeCount,omitempty"`

	// BatchSoakDuration is the time that GKE waits after each batch, at most 168h. The default of GKE is 0.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('168h')",reason=FieldValueInvalid,message="must be between 0s and 168h"
	BatchSoakDuration *metav1.Duration `json:"batchSoakDuration,omitempty"`
}

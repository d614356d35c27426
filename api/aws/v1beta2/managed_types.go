package v1beta2

// ManagedMachineAMIType is a family of images that EKS publishes, or CUSTOM for the launch template's own image.
// +kubebuilder:validation:Enum=AL2_x86_64;AL2_x86_64_GPU;AL2_ARM_64;CUSTOM;BOTTLEROCKET_ARM_64;BOTTLEROCKET_x86_64;BOTTLEROCKET_ARM_64_FIPS;BOTTLEROCKET_x86_64_FIPS;BOTTLEROCKET_ARM_64_NVIDIA;BOTTLEROCKET_x86_64_NVIDIA;BOTTLEROCKET_ARM_64_NVIDIA_FIPS;BOTTLEROCKET_x86_64_NVIDIA_FIPS;WINDOWS_CORE_2019_x86_64;WINDOWS_FULL_2019_x86_64;WINDOWS_CORE_2022_x86_64;WINDOWS_FULL_2022_x86_64;WINDOWS_CORE_2025_x86_64;WINDOWS_FULL_2025_x86_64;AL2023_x86_64_STANDARD;AL2023_ARM_64_STANDARD;AL2023_x86_64_NEURON;AL2023_x86_64_NVIDIA;AL2023_ARM_64_NVIDIA
type ManagedMachineAMIType string

// The families of images that code depends on.
const (
	AMITypeCustom       ManagedMachineAMIType = "CUSTOM"
	AMITypeAL2          ManagedMachineAMIType = "AL2_x86_64"
	AMITypeAL2ARM       ManagedMachineAMIType = "AL2_ARM_64"
	AMITypeAL2023       ManagedMachineAMIType = "AL2023_x86_64_STANDARD"
	AMITypeAL2023ARM    ManagedMachineAMIType = "AL2023_ARM_64_STANDARD"
	AMITypeBottlerocket ManagedMachineAMIType = "BOTTLEROCKET_x86_64"
)

// ManagedMachinePoolCapacityType is a purchase option of the instances of a node group.
// +kubebuilder:validation:Enum=onDemand;spot;capacityBlock
type ManagedMachinePoolCapacityType string

// The ways of paying for a node group's instances.
const (
	ManagedMachinePoolCapacityTypeOnDemand      ManagedMachinePoolCapacityType = "onDemand"
	ManagedMachinePoolCapacityTypeSpot          ManagedMachinePoolCapacityType = "spot"
	ManagedMachinePoolCapacityTypeCapacityBlock ManagedMachinePoolCapacityType = "capacityBlock"
)

// ManagedMachinePoolScaling bounds the size of a node group. Either bound may be set alone.
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || !has(self.maxSize) || self.minSize <= self.maxSize",fieldPath=".minSize",reason=FieldValueInvalid,message="minSize must not be above maxSize",messageExpression="'minSize is %d and maxSize is %d: minSize must not be above maxSize'.format([self.minSize, self.maxSize])"
type ManagedMachinePoolScaling struct {
	// MinSize is the smallest size of the node group; absent, it follows the replicas where these are fewer.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinSize *int32 `json:"minSize,omitempty"`

	// MaxSize is the largest size of the node group; absent, it follows the replicas where these are more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxSize *int32 `json:"maxSize,omitempty"`
}

// ManagedRemoteAccess opens a node group's machines to SSH. A launch template names key pair and security groups itself.
// +kubebuilder:validation:XValidation:rule="!has(self.public) || !self.public || !has(self.sourceSecurityGroups) || size(self.sourceSecurityGroups) == 0",fieldPath=".sourceSecurityGroups",reason=FieldValueForbidden,message="can't be set when public is true: access from everywhere needs no source"
type ManagedRemoteAccess struct {
	// SSHKeyName is the key pair that machines get; absent, the control plane's.
	// +optional
	SSHKeyName *string `json:"sshKeyName,omitempty"`

	// SourceSecurityGroups are the security groups, by ID, whose members may reach the machines by SSH.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	SourceSecurityGroups []string `json:"sourceSecurityGroups,omitempty"`

	// Public opens SSH to everywhere.
	// +optional
	Public bool `json:"public,omitempty"`
}

// TaintEffect is the effect of a taint on pods that do not tolerate it.
// +kubebuilder:validation:Enum=no-schedule;no-execute;prefer-no-schedule
type TaintEffect string

// The effects of taints.
const (
	TaintEffectNoSchedule       TaintEffect = "no-schedule"
	TaintEffectNoExecute        TaintEffect = "no-execute"
	TaintEffectPreferNoSchedule TaintEffect = "prefer-no-schedule"
)

// Taint is put on every node of a node group.
type Taint struct {
	// Effect of the taint.
	// +required
	Effect TaintEffect `json:"effect"`

	// Key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`

	// Value of the taint; absent and empty mean the same.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Value string `json:"value"`
}

// Taints are put on every node of a node group.
// +listType=atomic
// +kubebuilder:validation:MaxItems=50
// +kubebuilder:validation:XValidation:rule="self.all(t, self.exists_one(u, u.key == t.key && u.effect == t.effect))",reason=FieldValueInvalid,message="no two taints may have the same key and effect"
type Taints []Taint

// NodeLabels are put on every node of a node group.
// +kubebuilder:validation:MaxProperties=50
// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",reason=FieldValueInvalid,message="every key must be a label's: an optional domain and a slash, and a name of at most 63 letters, digits, '-', '_' and '.'"
// +kubebuilder:validation:XValidation:rule="self.all(k, (!k.contains('kubernetes.io/') && !k.contains('k8s.io/') && !k.contains('eks.amazonaws.com/')) || k.startsWith('node.kubernetes.io/') || k.startsWith('kubelet.kubernetes.io/'))",reason=FieldValueInvalid,message="no key may be of kubernetes.io, k8s.io, eks.amazonaws.com or a domain of theirs: EKS keeps these for itself (put them on nodes after they have joined)"
type NodeLabels map[string]LabelValue

// LabelValue is the value of a label, with the limits that Kubernetes has for it.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// Strings returns the labels as a map of plain strings; nil where there are none.
func (l NodeLabels) Strings() map[string]string {
	if len(l) == 0 {
		return nil
	}
	plain := make(map[string]string, len(l))
	for key, value := range l {
		plain[key] = string(value)
	}
	return plain
}

// NodegroupUpdateStrategy selects whether new machines are launched before old ones are removed.
// +kubebuilder:validation:Enum=DEFAULT;MINIMAL
type NodegroupUpdateStrategy string

// The strategies of updates: new machines first, or old ones first for want of capacity.
const (
	NodegroupUpdateStrategyDefault NodegroupUpdateStrategy = "DEFAULT"
	NodegroupUpdateStrategyMinimal NodegroupUpdateStrategy = "MINIMAL"
)

// UpdateConfig limits how EKS replaces the machines of a node group.
// +kubebuilder:validation:XValidation:rule="has(self.maxUnavailable) != has(self.maxUnavailablePercentage)",reason=FieldValueInvalid,message="exactly one of maxUnavailable and maxUnavailablePercentage must be set"
type UpdateConfig struct {
	// MaxUnavailable is the number of machines that may be replaced at once.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxUnavailable *int `json:"maxUnavailable,omitempty"`

	// MaxUnavailablePercentage is the share of machines that may be replaced at once, in percent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxUnavailablePercentage *int `json:"maxUnavailablePercentage,omitempty"`

	UpdateBehaviour `json:",inline"`
}

// UpdateBehaviour selects the procedure of a node group update. It is equal in both versions.
type UpdateBehaviour struct {
	// UpdateStrategy is DEFAULT, which launches new machines before old ones go, or MINIMAL, which takes old ones first and
	// so needs no further capacity. Absent, EKS takes DEFAULT.
	// +optional
	UpdateStrategy *NodegroupUpdateStrategy `json:"updateStrategy,omitempty"`

	// Force lets an update go on when pods can't be evicted within fifteen minutes, for instance because a disruption budget
	// forbids it: they are lost with their machine then. Without it such an update fails and is reported.
	// +optional
	Force bool `json:"force,omitempty"`
}

// NodeRepairConfig is about EKS's own replacement of unhealthy machines.
type NodeRepairConfig struct {
	// Enabled is true if EKS replaces unhealthy machines. Thresholds that were set by other tools are kept.
	// +optional
	// +kubebuilder:default=false
	Enabled *bool `json:"enabled,omitempty"`
}

package v1alpha2

// UUID is the ID of a resource of Scaleway.
// +kubebuilder:validation:MinLength=36
// +kubebuilder:validation:MaxLength=36
// +kubebuilder:validation:Pattern=`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
type UUID string

// Zone is a zone of Scaleway, for example fr-par-1.
// +kubebuilder:validation:MinLength=8
// +kubebuilder:validation:MaxLength=9
// +kubebuilder:validation:Pattern=`^[a-z]{2}-[a-z]{3}-[0-9]{0,2}$`
type Zone string

// VolumeType is the type of the system volume of nodes.
// +kubebuilder:validation:Enum=l_ssd;sbs_5k;sbs_15k
type VolumeType string

// The types of system volumes.
const (
	// VolumeLocal is a local disk of the hypervisor, which not all node types have.
	VolumeLocal VolumeType = "l_ssd"
	// VolumeBlock5K is block storage with at most 5,000 operations a second.
	VolumeBlock5K VolumeType = "sbs_5k"
	// VolumeBlock15K is block storage with at most 15,000 operations a second.
	VolumeBlock15K VolumeType = "sbs_15k"
)

// NodeLabels are labels of nodes.
// +kubebuilder:validation:MaxProperties=100
// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",reason=FieldValueInvalid,message="every key must be a label's: an optional domain and a slash, and a name of at most 63 letters, digits, '-', '_' and '.'"
type NodeLabels map[string]NodeLabelValue

// NodeLabelValue is the value of a label of nodes, with the limits that Kubernetes has for it.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type NodeLabelValue string

// Strings returns the labels as plain strings; nil for none.
func (l NodeLabels) Strings() map[string]string {
	if l == nil {
		return nil
	}
	out := make(map[string]string, len(l))
	for key, value := range l {
		out[key] = string(value)
	}
	return out
}

// Taint of the pool's nodes.
type Taint struct {
	// Key of the taint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`

	// Value of the taint.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Value string `json:"value,omitempty"`

	// Effect of the taint.
	// +required
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect string `json:"effect"`
}

// Scaling has Kapsule's autoscaler size the pool.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || !has(self.maxSize) || self.maxSize >= self.minSize",fieldPath=".maxSize",reason=FieldValueInvalid,message="must be at least minSize"
type Scaling struct {
	// Autoscaling is true if Kapsule's autoscaler sizes the pool. spec.replicas of the MachinePool then follows the pool's size.
	// +optional
	Autoscaling *bool `json:"autoscaling,omitempty"`

	// MinSize is the smallest size that the autoscaler sets. It has no effect without autoscaling.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinSize *int32 `json:"minSize,omitempty"`

	// MaxSize is the largest size that the autoscaler sets. Without autoscaling it has no effect.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxSize *int32 `json:"maxSize,omitempty"`
}

// UpgradePolicy configures how Kapsule replaces nodes in an upgrade of the Kubernetes version.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || self.maxSurge > 0 || !has(self.maxUnavailable) || self.maxUnavailable > 0",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="must be at least 1 when maxSurge is 0: no node could be replaced"
type UpgradePolicy struct {
	// MaxUnavailable is the number of nodes that may be missing during an upgrade. The default is 0, or 1 if maxSurge is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxUnavailable *int32 `json:"maxUnavailable,omitempty"`

	// MaxSurge is the number of additional nodes during an upgrade. The default is 1, or 0 if maxUnavailable is at least 1. Kapsule's own
	// default is 0, which removes the only node of a pool of one before its replacement runs.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxSurge *int32 `json:"maxSurge,omitempty"`
}

package v1beta1

import (
	"strconv"
	"strings"
)

// DefaultMaxSurge is the share of additional nodes in an upgrade of an agent pool without a setting (AKS, "Customize node surge upgrade").
const DefaultMaxSurge = "10%"

// ParseShare parses a number or a percentage of nodes, as maxSurge and maxUnavailable are; not ok for anything else.
func ParseShare(text string) (n int, percent, ok bool) {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	return n, percent, err == nil
}

// UpgradeSettings configure how AKS replaces nodes in an upgrade of the Kubernetes version, the node image or the VM size. They are an
// addition of Muster to the ecosystem's kind. Absent fields have the defaults of AKS.
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !has(self.maxUnavailable) || !(self.maxSurge in ['0', '0%']) || !(self.maxUnavailable in ['0', '0%'])",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="must not be 0 when maxSurge is 0: no node could be replaced"
// +kubebuilder:validation:XValidation:rule="!has(self.maxUnavailable) || self.maxUnavailable in ['0', '0%'] || (has(self.maxSurge) && self.maxSurge in ['0', '0%'])",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="needs maxSurge to be 0: AKS takes one of the two"
type UpgradeSettings struct {
	// MaxSurge is the number of additional nodes during an upgrade, as a number or a percentage of the pool's size, rounded up. The default of
	// AKS is 10%.
	// +optional
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}|[0-9]{1,2}%|100%)$`
	MaxSurge *string `json:"maxSurge,omitempty"`

	// MaxUnavailable is the number of nodes that may be unavailable during an upgrade without surge, as a number or a percentage of the pool's
	// size, rounded up. It needs maxSurge to be 0.
	// +optional
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}|[0-9]{1,2}%|100%)$`
	MaxUnavailable *string `json:"maxUnavailable,omitempty"`

	// DrainTimeoutInMinutes bounds how long AKS waits for the pods of one node. After that the upgrade fails. The default of AKS is 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1440
	DrainTimeoutInMinutes *int32 `json:"drainTimeoutInMinutes,omitempty"`

	// NodeSoakDurationInMinutes is the time that AKS waits after the drain of a node before it continues with the next one. The default of AKS
	// is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=30
	NodeSoakDurationInMinutes *int32 `json:"nodeSoakDurationInMinutes,omitempty"`

	// UndrainableNodeBehavior selects the treatment of a node that can't be drained in time. With Schedule, the upgrade fails and the node is
	// uncordoned. With Cordon, the node stays cordoned and the upgrade continues.
	// +optional
	// +kubebuilder:validation:Enum=Schedule;Cordon
	UndrainableNodeBehavior *string `json:"undrainableNodeBehavior,omitempty"`
}

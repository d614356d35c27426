package v1beta1

import (
	"strconv"
	"strings"
)

// DefaultMaxSurge is the share of nodes that AKS adds in an upgrade where an agent pool says nothing (AKS, "Customize node surge upgrade").
const DefaultMaxSurge = "10%"

// ParseShare parses a number or a percentage of nodes, as maxSurge and maxUnavailable are; not ok for anything else.
func ParseShare(text string) (n int, percent, ok bool) {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	return n, percent, err == nil
}

// UpgradeSettings are how AKS replaces nodes in an upgrade of the Kubernetes version, the node image or the VM size. They are Muster's own
// addition to the ecosystem's kind. Absent fields have AKS's defaults.
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !has(self.maxUnavailable) || !(self.maxSurge in ['0', '0%']) || !(self.maxUnavailable in ['0', '0%'])",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="must not be 0 when maxSurge is 0: no node could be replaced"
// +kubebuilder:validation:XValidation:rule="!has(self.maxUnavailable) || self.maxUnavailable in ['0', '0%'] || (has(self.maxSurge) && self.maxSurge in ['0', '0%'])",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="needs maxSurge to be 0: AKS takes one of the two"
type UpgradeSettings struct {
	// MaxSurge is how many nodes are added in an upgrade, a number or a percentage of the pool's size, rounded up. AKS takes 10% where it is
	// absent.
	// +optional
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}|[0-9]{1,2}%|100%)$`
	MaxSurge *string `json:"maxSurge,omitempty"`

	// MaxUnavailable is how many nodes may be unavailable in an upgrade without surge, a number or a percentage of the pool's size, rounded
	// up. It needs maxSurge to be 0.
	// +optional
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:Pattern=`^([0-9]{1,3}|[0-9]{1,2}%|100%)$`
	MaxUnavailable *string `json:"maxUnavailable,omitempty"`

	// DrainTimeoutInMinutes is how long AKS waits for the pods of one node. When it has passed the upgrade fails. AKS takes 30 where it is
	// absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1440
	DrainTimeoutInMinutes *int32 `json:"drainTimeoutInMinutes,omitempty"`

	// NodeSoakDurationInMinutes is how long AKS waits after a node was drained before it goes on with the next. AKS takes 0 where it is
	// absent.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=30
	NodeSoakDurationInMinutes *int32 `json:"nodeSoakDurationInMinutes,omitempty"`

	// UndrainableNodeBehavior is what becomes of a node that can't be drained in time: with Schedule the upgrade fails and the node takes pods
	// again, with Cordon the node stays cordoned and the upgrade goes on.
	// +optional
	// +kubebuilder:validation:Enum=Schedule;Cordon
	UndrainableNodeBehavior *string `json:"undrainableNodeBehavior,omitempty"`
}

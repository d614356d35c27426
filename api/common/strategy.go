package common

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// StrategyType names a way to replace instances.
// +kubebuilder:validation:Enum=RollingUpdate
type StrategyType string

// StrategyRollingUpdate replaces instances wave by wave, each drained first.
const StrategyRollingUpdate StrategyType = "RollingUpdate"

// DeletePolicy is the order in which instances go when some have to.
// +kubebuilder:validation:Enum=Random;Newest;Oldest
type DeletePolicy string

// The delete policies.
const (
	// DeletePolicyRandom is an arbitrary order that stays the same.
	DeletePolicyRandom DeletePolicy = "Random"
	// DeletePolicyNewest takes the instances that were made last.
	DeletePolicyNewest DeletePolicy = "Newest"
	// DeletePolicyOldest takes the instances that were made first.
	DeletePolicyOldest DeletePolicy = "Oldest"
)

// Strategy is how instances that were launched from another template than the wanted one are replaced. It is the same on
// every infrastructure kind whose instances the controller replaces by itself.
type Strategy struct {
	// Type of the strategy. RollingUpdate is the only one.
	// +optional
	// +kubebuilder:default=RollingUpdate
	Type StrategyType `json:"type,omitempty"`

	// RollingUpdate are the limits within which instances are replaced.
	// +optional
	// +kubebuilder:default={}
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`
}

// RollingUpdate are the limits within which instances are replaced, and the order in which they go.
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !has(self.maxUnavailable) || !((type(self.maxSurge) == int ? self.maxSurge == 0 : self.maxSurge.matches('^0+%$')) && (type(self.maxUnavailable) == int ? self.maxUnavailable == 0 : self.maxUnavailable.matches('^0+%$')))",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="rolling update strategy MaxUnavailable must not be 0 if MaxSurge is 0: maxUnavailable and maxSurge are both zero, so that no instance could ever be replaced (maxUnavailable is 0 and maxSurge is 1 unless set)"
type RollingUpdate struct {
	// MaxUnavailable is how many of the wanted instances may be missing or not ready while instances are replaced: a number,
	// or a percentage of the wanted number, rounded down.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^0*(100|[0-9]{1,2})%$')",reason=FieldValueInvalid,message="must be a number of at least 0, or a percentage from '0%' to '100%' (a number is written without quotes)"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MaxSurge is how many instances above the wanted number may exist while instances are replaced: a number, or a
	// percentage of the wanted number, rounded up.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^0*[0-9]{1,4}%$')",reason=FieldValueInvalid,message="must be a number of at least 0, or a percentage such as '25%', of at most four digits (a number is written without quotes)"
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// DeletePolicy is the order in which instances go, in a rollout and in a scale-in: Oldest, Newest or Random. Those that
	// are marked with the annotation cluster.x-k8s.io/delete-machine always go first.
	// +optional
	// +kubebuilder:default=Oldest
	DeletePolicy DeletePolicy `json:"deletePolicy,omitempty"`
}

// The defaults of a rolling update: what the schema fills in, said for objects that were made without one.
const (
	DefaultMaxSurge       = 1
	DefaultMaxUnavailable = 0
)

// Surge is the value of maxSurge, and whether it is a percentage.
func (r *RollingUpdate) Surge() (value int, percent bool) {
	if r == nil {
		return DefaultMaxSurge, false
	}
	return amount(r.MaxSurge, DefaultMaxSurge)
}

// Unavailable is the value of maxUnavailable, and whether it is a percentage.
func (r *RollingUpdate) Unavailable() (value int, percent bool) {
	if r == nil {
		return DefaultMaxUnavailable, false
	}
	return amount(r.MaxUnavailable, DefaultMaxUnavailable)
}

// Policy is the delete policy: Oldest unless set.
func (r *RollingUpdate) Policy() DeletePolicy {
	if r == nil || r.DeletePolicy == "" {
		return DeletePolicyOldest
	}
	return r.DeletePolicy
}

// amount reads a number or a percentage. The schema admits nothing that can't be read; what got past it counts as absent.
func amount(v *intstr.IntOrString, absent int) (value int, percent bool) {
	switch {
	case v == nil:
		return absent, false
	case v.Type == intstr.Int:
		return max(0, v.IntValue()), false
	}
	digits, percent := strings.CutSuffix(v.StrVal, "%")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || !percent {
		return absent, false
	}
	return n, true
}

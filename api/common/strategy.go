package common

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// StrategyType names a way to replace instances.
// +kubebuilder:validation:Enum=RollingUpdate;OnDelete
type StrategyType string

const (
	// StrategyRollingUpdate replaces instances wave by wave, each drained first.
	StrategyRollingUpdate StrategyType = "RollingUpdate"
	// StrategyOnDelete replaces an instance with one of the wanted template once a user deletes it, or requests a restart.
	StrategyOnDelete StrategyType = "OnDelete"
)

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

// Strategy selects how instances with an outdated template are replaced. It is equal in all infrastructure kinds whose instances the
// controller replaces itself.
type Strategy struct {
	// Type of the strategy: RollingUpdate replaces instances in waves, OnDelete leaves them until a user deletes their Machines or requests a
	// restart.
	// +optional
	// +kubebuilder:default=RollingUpdate
	Type StrategyType `json:"type,omitempty"`

	// RollingUpdate are the limits within which instances are replaced.
	// +optional
	// +kubebuilder:default={}
	RollingUpdate *RollingUpdate `json:"rollingUpdate,omitempty"`

	Pace `json:",inline"`
}

// Pace makes a rollout rest, so that new instances are watched before others are replaced, and says how long it waits for a node that
// can't be drained.
type Pace struct {
	// Waves are the numbers of instances that have been replaced at the end of each wave, ascending, as numbers or percentages of the desired
	// number, rounded up: [1, "10%", "50%"]. The rest is the last wave. Absent, a rollout has one wave.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:XIntOrString
	// +kubebuilder:validation:items:MaxLength=4
	// +kubebuilder:validation:items:XValidation:rule="type(self) == int ? self > 0 : self.matches('^(100|[1-9][0-9]?)%$')",reason=FieldValueInvalid,message="must be a number of at least 1, or a percentage from '1%' to '100%' (a number is written without quotes)"
	Waves []intstr.IntOrString `json:"waves,omitempty"`

	// Soak is for how long the instances of a wave must have been Ready before the next wave begins. One that turns unready meanwhile halts
	// the rollout.
	// +optional
	Soak Soak `json:"soak,omitzero"`

	// Undrainable selects what a rollout does about a node whose pods can't be evicted. Absent, it waits.
	// +optional
	Undrainable *Undrainable `json:"undrainable,omitempty"`
}

// UndrainableAction names what a rollout does about a node whose pods can't be evicted.
// +kubebuilder:validation:Enum=Wait;Quarantine;Force
type UndrainableAction string

const (
	// UndrainableWait waits until the pods can be evicted, or the drain timeout of the pool has passed.
	UndrainableWait UndrainableAction = "Wait"
	// UndrainableQuarantine leaves the node cordoned and goes on with others.
	UndrainableQuarantine UndrainableAction = "Quarantine"
	// UndrainableForce removes the instance with its pods.
	UndrainableForce UndrainableAction = "Force"
)

// DefaultMaxQuarantined is the value of max that is not set.
const DefaultMaxQuarantined = 1

// Undrainable selects what a rollout does about a node whose pods can't be evicted: because of a PodDisruptionBudget, a finalizer, or a
// rule that waits for their completion.
// +kubebuilder:validation:XValidation:rule="has(self.after) || !has(self.action) || self.action == 'Wait'",fieldPath=".after",reason=FieldValueRequired,message="must be set with the actions Quarantine and Force"
// +kubebuilder:validation:XValidation:rule="!has(self.max) || has(self.action) && self.action == 'Quarantine'",fieldPath=".max",reason=FieldValueForbidden,message="can be set with the action Quarantine only"
type Undrainable struct {
	// Action is Wait, which waits until the pods can be evicted; Quarantine, which leaves the node cordoned with the label
	// muster.dev/quarantined: "true", replaces others meanwhile, and removes the instance once its pods are gone; or Force, which removes the
	// instance although pods are left, as after the drain timeout of the pool.
	// +optional
	// +kubebuilder:default=Wait
	Action UndrainableAction `json:"action,omitempty"`

	// After is the time since the start of a drain after which the action is taken. It must be set with Quarantine and Force, and has no
	// effect with Wait.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",reason=FieldValueInvalid,message="must be a duration above zero, such as 2h or 30m"
	After *metav1.Duration `json:"after,omitempty"`

	// Max is the number of instances that may be quarantined at a time, in addition to those that maxUnavailable lets be missing. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Max *int32 `json:"max,omitempty"`
}

// Soak is for how long new instances are watched.
// +kubebuilder:validation:MinProperties=1
type Soak struct {
	// First follows the first of several waves; wave holds if it is absent.
	// +optional
	First *metav1.Duration `json:"first,omitempty"`

	// Wave follows each wave but the last.
	// +optional
	Wave *metav1.Duration `json:"wave,omitempty"`

	// Final follows the last wave, before the rollout counts as ended.
	// +optional
	Final *metav1.Duration `json:"final,omitempty"`
}

// RollingUpdate are the limits within which instances are replaced, and the order in which they go.
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !has(self.maxUnavailable) || !((type(self.maxSurge) == int ? self.maxSurge == 0 : self.maxSurge.matches('^0+%$')) && (type(self.maxUnavailable) == int ? self.maxUnavailable == 0 : self.maxUnavailable.matches('^0+%$')))",fieldPath=".maxUnavailable",reason=FieldValueInvalid,message="rolling update strategy MaxUnavailable must not be 0 if MaxSurge is 0: maxUnavailable and maxSurge are both zero, so that no instance could ever be replaced (maxUnavailable is 0 and maxSurge is 1 unless set)"
type RollingUpdate struct {
	// MaxUnavailable is the number of desired instances that may be missing or not ready during a rollout, as a number or a percentage of the
	// desired number, rounded down.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 : self.matches('^0*(100|[0-9]{1,2})%$')",reason=FieldValueInvalid,message="must be a number of at least 0, or a percentage from '0%' to '100%' (a number is written without quotes)"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MaxSurge is the number of instances above the desired number that may exist during a rollout, as a number or a percentage of the desired
	// number, rounded up.
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

// The defaults of a rolling update. They equal those of the schema, and apply to objects that were created without it.
const (
	DefaultMaxSurge       = 1
	DefaultMaxUnavailable = 0
)

// Surge returns the value of maxSurge, and whether it is a percentage.
func (r *RollingUpdate) Surge() (value int, percent bool) {
	if r == nil {
		return DefaultMaxSurge, false
	}
	return amount(r.MaxSurge, DefaultMaxSurge)
}

// Unavailable returns the value of maxUnavailable, and whether it is a percentage.
func (r *RollingUpdate) Unavailable() (value int, percent bool) {
	if r == nil {
		return DefaultMaxUnavailable, false
	}
	return amount(r.MaxUnavailable, DefaultMaxUnavailable)
}

// Policy returns the delete policy: Oldest unless set.
func (r *RollingUpdate) Policy() DeletePolicy {
	if r == nil || r.DeletePolicy == "" {
		return DeletePolicyOldest
	}
	return r.DeletePolicy
}

// AmountOf returns the value of a wave, and whether it is a percentage. The schema admits nothing that can't be read; what got past it
// counts as one instance.
func AmountOf(wave intstr.IntOrString) (value int, percent bool) { return amount(&wave, 1) }

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

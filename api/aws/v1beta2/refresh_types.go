package v1beta2

import "github.com/muster-project/muster/api/common"

// StrategyType names a way to replace instances of an Auto Scaling group.
// +kubebuilder:validation:Enum=RollingUpdate;InstanceRefresh;OnDelete
type StrategyType string

const (
	// StrategyRollingUpdate replaces instances wave by wave, each drained first.
	StrategyRollingUpdate StrategyType = "RollingUpdate"
	// StrategyInstanceRefresh leaves the replacement to the group's own instance refresh.
	StrategyInstanceRefresh StrategyType = "InstanceRefresh"
	// StrategyOnDelete replaces an instance with one of the wanted template once a user deletes it, or requests a restart.
	StrategyOnDelete StrategyType = "OnDelete"
)

// Strategy selects how instances with an outdated launch template are replaced.
type Strategy struct {
	// Type of the strategy: RollingUpdate replaces instances in waves and stops at the first new one that does not join. InstanceRefresh uses
	// the group's own instance refresh with refreshPreferences. A refresh does not consider nodes: it continues until the controller cancels
	// it because a new instance has not joined within the progress deadline. OnDelete leaves instances until a user deletes their Machines or
	// requests a restart.
	// +optional
	// +kubebuilder:default=RollingUpdate
	Type StrategyType `json:"type,omitempty"`

	// RollingUpdate are the limits within which instances are replaced, and the order in which they go. With InstanceRefresh,
	// the order alone has an effect, in a scale-in.
	// +optional
	// +kubebuilder:default={}
	RollingUpdate *common.RollingUpdate `json:"rollingUpdate,omitempty"`

	common.Pace `json:",inline"`
}

// RefreshPreferences limit a rollout. Without spec.strategy, they limit the controller's own rollout: minHealthyPercentage,
// maxHealthyPercentage and instanceWarmup have an effect. With the strategy InstanceRefresh, all of them apply to the cloud's instance
// refresh. A refresh by the controller always pins the launch template version that it rolls out, and skips instances that match it
// already.
// +kubebuilder:validation:XValidation:rule="!has(self.maxHealthyPercentage) || has(self.minHealthyPercentage)",fieldPath=".maxHealthyPercentage",reason=FieldValueInvalid,message="needs minHealthyPercentage to be set"
// +kubebuilder:validation:XValidation:rule="!has(self.maxHealthyPercentage) || !has(self.minHealthyPercentage) || self.maxHealthyPercentage - self.minHealthyPercentage <= 100",fieldPath=".maxHealthyPercentage",reason=FieldValueInvalid,message="must be at most 100 above minHealthyPercentage",messageExpression="'is %d, must be at most 100 above minHealthyPercentage, which is %d'.format([self.maxHealthyPercentage, self.minHealthyPercentage])"
// +kubebuilder:validation:XValidation:rule="!has(self.checkpointDelay) || has(self.checkpointPercentages)",fieldPath=".checkpointDelay",reason=FieldValueInvalid,message="needs checkpointPercentages to be set: there is no checkpoint to wait at"
type RefreshPreferences struct {
	// Disable keeps a changed launch template from replacing instances that exist.
	// +optional
	Disable bool `json:"disable,omitempty"`

	// Strategy of the refresh in the cloud's words. Rolling, which is also the default, is the only one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self in ['', 'Rolling']",reason=FieldValueInvalid,message="must be Rolling: the cloud's other strategy, ReplaceRootVolume, takes the disk from under a machine whose node is neither drained nor replaced",messageExpression="'found ' + self + ', want Rolling' + (self == 'ReplaceRootVolume' ? ': it takes the disk from under a machine whose node is neither drained nor replaced' : '')"
	Strategy *string `json:"strategy,omitempty"`

	// InstanceWarmup is the time in seconds until a new instance counts as ready: in the controller's own rollout for how
	// long its node must have been Ready, in an instance refresh since the group put it into service.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	InstanceWarmup *int64 `json:"instanceWarmup,omitempty"`

	// MinHealthyPercentage of the desired capacity that must stay in service. In the controller's own rollout the rest may be
	// unavailable, rounded down; absent, no instance may be. The cloud's own default is 90.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MinHealthyPercentage *int64 `json:"minHealthyPercentage,omitempty"`

	// MaxHealthyPercentage of the desired capacity that may be in service or pending. In the controller's own rollout the part above 100 is
	// the surge, rounded up; if the field is absent, or both percentages are 100, the surge is one instance. The cloud's own default is 100.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=200
	MaxHealthyPercentage *int64 `json:"maxHealthyPercentage,omitempty"`

	RefreshChecks `json:",inline"`
}

// RefreshChecks configure how an instance refresh is monitored, and its reaction to failures. They are equal in both versions.
type RefreshChecks struct {
	// CheckpointPercentages are the shares of the instances, in percent and ascending, after whose replacement the refresh
	// waits for checkpointDelay. The last one is 100: what a refresh left out would be replaced by the next one.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=100
	// +kubebuilder:validation:XValidation:rule="self.isSorted() && self.all(x, self.exists_one(y, x == y))",reason=FieldValueInvalid,message="must be ascending, each percentage once"
	// +kubebuilder:validation:XValidation:rule="self[size(self) - 1] == 100",reason=FieldValueInvalid,message="must end with 100: what the refresh left out would be replaced by the next one"
	CheckpointPercentages []int32 `json:"checkpointPercentages,omitempty"`

	// CheckpointDelay is the time in seconds that the refresh waits at a checkpoint; absent, the cloud's own hour.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=172800
	CheckpointDelay *int64 `json:"checkpointDelay,omitempty"`

	// BakeTime is the time in seconds for which the refresh monitors the group after the last replacement.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=172800
	BakeTime *int64 `json:"bakeTime,omitempty"`

	// AutoRollback takes a refresh that fails, or whose alarms go off, back to the launch template version that was in use
	// before.
	// +optional
	AutoRollback bool `json:"autoRollback,omitempty"`

	// AlarmSpecification names the alarms that fail the refresh when they go off.
	// +optional
	AlarmSpecification *AlarmSpecification `json:"alarmSpecification,omitempty"`

	// ScaleInProtectedInstances selects the treatment of instances that are protected from scale-in: Refresh replaces them, Ignore keeps them,
	// Wait fails the refresh unless the protection is removed within an hour. The default of the cloud is Wait.
	// +optional
	// +kubebuilder:validation:Enum=Refresh;Ignore;Wait
	ScaleInProtectedInstances string `json:"scaleInProtectedInstances,omitempty"`

	// StandbyInstances selects the treatment of instances in standby: Terminate replaces them, Ignore keeps them, Wait fails the refresh
	// unless they return to service within an hour. The default is Ignore, because the controller itself puts instances into standby before it
	// removes them.
	// +optional
	// +kubebuilder:validation:Enum=Terminate;Ignore;Wait
	StandbyInstances string `json:"standbyInstances,omitempty"`
}

// AlarmSpecification names CloudWatch alarms.
type AlarmSpecification struct {
	// Alarms by name.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	Alarms []string `json:"alarms,omitempty"`
}

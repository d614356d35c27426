package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutReason is a reason for a voluntary removal.
//
// +kubebuilder:validation:Enum=Template;Version;Image;Age;Restart
type RolloutReason string

// The reasons for voluntary removals.
const (
	// ReasonTemplate is a change of the template that is none of the other reasons.
	ReasonTemplate RolloutReason = "Template"
	// ReasonVersion is a change of the Kubernetes version.
	ReasonVersion RolloutReason = "Version"
	// ReasonImage is a newer image for the same Kubernetes version.
	ReasonImage RolloutReason = "Image"
	// ReasonAge is a machine older than maxAge.
	ReasonAge RolloutReason = "Age"
	// ReasonRestart is a restart that a user requested.
	ReasonRestart RolloutReason = "Restart"
)

// Weekday is a day of the week.
//
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Weekday string

// The days of the week.
const (
	Monday    Weekday = "Mon"
	Tuesday   Weekday = "Tue"
	Wednesday Weekday = "Wed"
	Thursday  Weekday = "Thu"
	Friday    Weekday = "Fri"
	Saturday  Weekday = "Sat"
	Sunday    Weekday = "Sun"
)

// TimeZone is the name of a time zone of the IANA database, for example Europe/Berlin. The database is embedded in Muster's binaries.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+/-]*$`
type TimeZone string

// RolloutWindow is a period that recurs on days of the week.
type RolloutWindow struct {
	// Days on which the window starts. Without days it starts on every day. A window that crosses midnight belongs to the day on which it
	// starts.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days,omitempty"`

	// Start is the wall-clock time at which the window starts, as HH:MM in 24 hours. If the clock skips this time on a day (the change to
	// summer time), the window starts at the end of the gap. If the clock shows it twice (the change to winter time), the window starts the
	// first time only.
	// +required
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	// +kubebuilder:validation:MaxLength=5
	Start string `json:"start"`

	// Duration of the window in elapsed time, whatever the clock shows: at least 30m, at most 168h (seven days). Windows that touch or overlap
	// are one.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="self >= duration('30m') && self <= duration('168h')",reason=FieldValueInvalid,message="must be from 30m to 168h (7 days)"
	Duration metav1.Duration `json:"duration"`

	// TimeZone of days and start.
	// +optional
	// +kubebuilder:default=UTC
	TimeZone TimeZone `json:"timeZone,omitempty"`

	// Reasons for which removals may begin in the window. Without reasons: all voluntary ones.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=5
	Reasons []RolloutReason `json:"reasons,omitempty"`

	// Grace is the time after the end of the window in which drains that began inside of it may end. Nothing new begins. At most 24h. A policy
	// that has only exclusions gives a grace of 30m.
	// +optional
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="self <= duration('24h')",reason=FieldValueInvalid,message="must be from 0s to 24h"
	Grace *metav1.Duration `json:"grace,omitempty"`
}

// ExclusionScope selects what an exclusion closes.
//
// +kubebuilder:validation:Enum=All;VersionOnly
type ExclusionScope string

// The scopes of exclusions.
const (
	// ExcludeAll closes to every reason.
	ExcludeAll ExclusionScope = "All"
	// ExcludeVersionOnly closes to changes of the Kubernetes version only.
	ExcludeVersionOnly ExclusionScope = "VersionOnly"
)

// ExclusionDate is a date (2026-12-18) or a moment (2026-12-18T18:00:00+01:00, RFC 3339).
//
// +kubebuilder:validation:MaxLength=35
// +kubebuilder:validation:Pattern=`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$`
type ExclusionDate string

// RolloutExclusion is a period in which no voluntary removal begins.
type RolloutExclusion struct {
	// From is the first day of the exclusion, or the moment at which it begins.
	// +required
	From ExclusionDate `json:"from"`

	// To is the last day of the exclusion, which is excluded as a whole, or the moment at which the exclusion ends.
	// +required
	To ExclusionDate `json:"to"`

	// TimeZone of dates. Moments have their own offset.
	// +optional
	// +kubebuilder:default=UTC
	TimeZone TimeZone `json:"timeZone,omitempty"`

	// Scope is All, or VersionOnly to hold back changes of the Kubernetes version only.
	// +optional
	// +kubebuilder:default=All
	Scope ExclusionScope `json:"scope,omitempty"`

	// Why tells the users of the selected pools the cause. It is shown on every pool that the exclusion holds back.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Why string `json:"why,omitempty"`
}

// BudgetScope is the set of pools over which a budget counts.
//
// +kubebuilder:validation:Enum=Cluster;Policy
type BudgetScope string

// The scopes of budgets.
const (
	// BudgetPerCluster counts the selected pools of each Cluster on their own.
	BudgetPerCluster BudgetScope = "Cluster"
	// BudgetPerPolicy counts all selected pools together.
	BudgetPerPolicy BudgetScope = "Policy"
)

// RolloutBudget limits voluntary removals across pools.
//
// +kubebuilder:validation:XValidation:rule="has(self.machines) || has(self.pools)",reason=FieldValueRequired,message="set machines or pools: the budget limits nothing"
type RolloutBudget struct {
	// Machines that may be in replacement at the same time, as a number of at least 1 or as a percentage of the desired machines of the
	// counted pools, rounded down and at least 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^0*([1-9][0-9]?|100)%$')",reason=FieldValueInvalid,message="must be a number of at least 1, or a percentage from '1%' to '100%' (a number is written without quotes)"
	Machines *intstr.IntOrString `json:"machines,omitempty"`

	// Pools that may be in a rollout at the same time.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Pools *int32 `json:"pools,omitempty"`

	// Per is Cluster, to count the pools of each Cluster on their own, or Policy, to count all pools that the policy selects together.
	// +optional
	// +kubebuilder:default=Cluster
	Per BudgetScope `json:"per,omitempty"`

	// Reasons whose removals are counted and limited. Without reasons: all voluntary ones.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=5
	Reasons []RolloutReason `json:"reasons,omitempty"`
}

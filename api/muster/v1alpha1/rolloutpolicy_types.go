package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The names of the kinds.
const (
	RolloutPolicyKind        = "RolloutPolicy"
	ClusterRolloutPolicyKind = "ClusterRolloutPolicy"
)

// RolloutPolicySpec defines when machines of the selected pools may be replaced, how many at a time, and what is asked before.
//
// A policy restricts voluntary removals only: those that replace a machine which serves, because its template, its version, its image or
// its age is out of date or a restart was requested. It never holds back the replacement of failed or vanished machines, machines with a
// termination notice, marked machines, remediation, scale-in or deletion. All policies that select a pool apply, and each can only make
// the others stricter: windows intersect, every exclusion closes, the smallest budget counts, every gate must pass. An empty policy
// restricts nothing.
type RolloutPolicySpec struct {
	// Selector selects the pools to which the policy applies. Without it the policy applies to all pools: of its namespace (RolloutPolicy), or
	// of all namespaces (ClusterRolloutPolicy).
	// +optional
	Selector *RolloutPolicySelector `json:"selector,omitempty"`

	// Windows are the times in which voluntary removals may begin. The policy is open if any of its windows is open. A reason that no window
	// names may begin at no time. Without windows the policy is always open. If several policies with windows select a pool, all of them must
	// be open at the same time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Windows []RolloutWindow `json:"windows,omitempty"`

	// Exclusions are periods in which no voluntary removal begins, whatever windows are open.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Exclusions []RolloutExclusion `json:"exclusions,omitempty"`

	// Budgets limit how many machines and pools are replaced at the same time across pools. A pool's own maxSurge and maxUnavailable apply in
	// addition.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Budgets []RolloutBudget `json:"budgets,omitempty"`

	// Gates are conditions that must hold before a wave of a rollout begins or while a wave soaks. All of them must pass.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Gates []RolloutGate `json:"gates,omitempty"`

	// OnFailure is the reaction to a failed rollout: a gate that failed in a soak, a new machine that became unready for a minute while it was
	// watched, or that never joined. Halt, the default, begins nothing more and leaves the machines as they are. Rollback has the pool return
	// once to the last template whose rollout ended, within the same windows and budgets; where that is impossible, it halts. Of several
	// policies, Halt wins where it is set.
	// +optional
	OnFailure RolloutFailureAction `json:"onFailure,omitempty"`

	// MaxAge replaces machines that are older than a duration. Without it the age of a machine is no reason to replace it. Of several policies
	// the smallest age counts.
	// +optional
	MaxAge *RolloutMaxAge `json:"maxAge,omitempty"`

	// Settle is the time that a template must be unchanged before its rollout begins, so that several edits become one rollout. At most 24h;
	// 0s unless set. Of several policies the longest counts.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="self <= duration('24h')",reason=FieldValueInvalid,message="must be from 0s to 24h"
	Settle *metav1.Duration `json:"settle,omitempty"`
}

// RolloutFailureAction is a reaction to a failed rollout.
//
// +kubebuilder:validation:Enum=Halt;Rollback
type RolloutFailureAction string

// The reactions to a failed rollout.
const (
	// FailureHalt begins nothing more.
	FailureHalt RolloutFailureAction = "Halt"
	// FailureRollback returns to the last template whose rollout ended.
	FailureRollback RolloutFailureAction = "Rollback"
)

// RolloutPolicySelector selects pools by labels. A pool must match all selectors that are set.
type RolloutPolicySelector struct {
	// Namespaces selects by the labels of the pool's namespace; only a ClusterRolloutPolicy may set it. Tenants can change the labels of their
	// Clusters and pools, and not those of their namespaces: select by namespaces what tenants must not evade. Absent or empty: all
	// namespaces.
	// +optional
	Namespaces *metav1.LabelSelector `json:"namespaces,omitempty"`

	// Clusters selects by the labels of the pool's Cluster. Absent or empty: all Clusters.
	// +optional
	Clusters *metav1.LabelSelector `json:"clusters,omitempty"`

	// Pools selects by the labels of the MachinePool. Labels of its infrastructure object do not count. Absent or empty: all pools.
	// +optional
	Pools *metav1.LabelSelector `json:"pools,omitempty"`
}

// RolloutMaxAge limits the age of machines.
type RolloutMaxAge struct {
	// After is the age at which a machine becomes out of date; at least 1h, at most 87600h (ten years).
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="self >= duration('1h') && self <= duration('87600h')",reason=FieldValueInvalid,message="must be from 1h to 87600h"
	After metav1.Duration `json:"after"`

	// Jitter is the share of after by which machines go earlier, from 0% to 50%. A hash of the machine's name decides how much of it, so that
	// machines which were created together do not go together.
	// +optional
	// +kubebuilder:default="10%"
	// +kubebuilder:validation:MaxLength=3
	// +kubebuilder:validation:Pattern=`^([0-9]|[1-4][0-9]|50)%$`
	Jitter string `json:"jitter,omitempty"`
}

// RolloutPolicyStatus is the observed state of a policy.
type RolloutPolicyStatus struct {
	// ObservedGeneration is the generation of the specification that the other fields were computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the policy. Ready is True if the policy can be applied, and False with reason PolicyNeverOpens if no voluntary removal
	// could ever begin under it, or with reason PolicyInvalid if a field has a value that can't be used.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Open is true if the policy's own windows and exclusions let removals of at least one reason begin now. Other policies and gates can
	// still hold a pool back.
	// +optional
	Open *bool `json:"open,omitempty"`

	// OpensAt is the next time at which the policy opens, if it is closed. It is absent if the policy is open, or does not open within 400
	// days.
	// +optional
	OpensAt *metav1.Time `json:"opensAt,omitempty"`

	// ClosesAt is the time at which the policy closes, if it is open. It is absent if the policy is closed, or does not close within 400 days.
	// +optional
	ClosesAt *metav1.Time `json:"closesAt,omitempty"`

	// Pools is the number of MachinePools that the policy selects.
	// +optional
	Pools *int32 `json:"pools,omitempty"`
}

// The conditions of policies, and their reasons.
const (
	// PolicyReady is the condition of a policy that can be applied.
	PolicyReady = "Ready"
	// ReasonPolicyValid is the reason of a Ready that is True.
	ReasonPolicyValid = "PolicyValid"
	// ReasonPolicyNeverOpens is the reason of a Ready that is False because the policy is closed within the whole horizon.
	ReasonPolicyNeverOpens = "PolicyNeverOpens"
	// ReasonPolicyInvalid is the reason of a Ready that is False because a field has a value that can't be used.
	ReasonPolicyInvalid = "PolicyInvalid"
)

// RolloutPolicy restricts when and whether machines of the pools of its namespace are replaced.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=rolloutpolicies,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Open",type=boolean,JSONPath=`.status.open`
// +kubebuilder:printcolumn:name="Opens",type=string,JSONPath=`.status.opensAt`
// +kubebuilder:printcolumn:name="Closes",type=string,JSONPath=`.status.closesAt`
// +kubebuilder:printcolumn:name="Pools",type=integer,JSONPath=`.status.pools`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!has(self.spec.gates) || self.spec.gates.all(g, !has(g.condition) || !has(g.condition.__namespace__))",fieldPath=".spec.gates",reason=FieldValueForbidden,message="condition.namespace can't be set in a RolloutPolicy, which reads objects of its own namespace only: remove the field, or use a ClusterRolloutPolicy"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.selector) || !has(self.spec.selector.namespaces)",fieldPath=".spec.selector.namespaces",reason=FieldValueForbidden,message="can't be set in a RolloutPolicy, which applies to its own namespace: remove the field, or use a ClusterRolloutPolicy"
type RolloutPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec RolloutPolicySpec `json:"spec"`
	// +optional
	Status RolloutPolicyStatus `json:"status,omitempty"`
}

// RolloutPolicyList is a list of RolloutPolicies.
//
// +kubebuilder:object:root=true
type RolloutPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RolloutPolicy `json:"items"`
}

// ClusterRolloutPolicy restricts when and whether machines of the pools of all namespaces are replaced. It belongs to the operator of the
// management cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=clusterrolloutpolicies,scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Open",type=boolean,JSONPath=`.status.open`
// +kubebuilder:printcolumn:name="Opens",type=string,JSONPath=`.status.opensAt`
// +kubebuilder:printcolumn:name="Closes",type=string,JSONPath=`.status.closesAt`
// +kubebuilder:printcolumn:name="Pools",type=integer,JSONPath=`.status.pools`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterRolloutPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec RolloutPolicySpec `json:"spec"`
	// +optional
	Status RolloutPolicyStatus `json:"status,omitempty"`
}

// ClusterRolloutPolicyList is a list of ClusterRolloutPolicies.
//
// +kubebuilder:object:root=true
type ClusterRolloutPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterRolloutPolicy `json:"items"`
}

// GetConditions returns the conditions.
func (p *RolloutPolicy) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions sets the conditions.
func (p *RolloutPolicy) SetConditions(c []metav1.Condition) { p.Status.Conditions = c }

// GetConditions returns the conditions.
func (p *ClusterRolloutPolicy) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions sets the conditions.
func (p *ClusterRolloutPolicy) SetConditions(c []metav1.Condition) { p.Status.Conditions = c }

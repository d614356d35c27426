package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GatePhase is a phase of a rollout in which a gate is asked.
//
// +kubebuilder:validation:Enum=BeforeWave;Soak
type GatePhase string

// The phases in which gates are asked.
const (
	// GateBeforeWave is the time before a wave begins.
	GateBeforeWave GatePhase = "BeforeWave"
	// GateSoak is the time in which the machines of a wave soak.
	GateSoak GatePhase = "Soak"
)

// UnknownAction is the reaction to a gate whose state is not known.
//
// +kubebuilder:validation:Enum=Wait;Fail
type UnknownAction string

// The reactions to an unknown state.
const (
	// UnknownWait waits until the state is known.
	UnknownWait UnknownAction = "Wait"
	// UnknownFail counts as a failure.
	UnknownFail UnknownAction = "Fail"
)

// RolloutGate is a condition that must hold before a wave begins or while a wave soaks. An answer that is absent, empty or an error is
// never counted as passed.
//
// +kubebuilder:validation:XValidation:rule="(has(self.prometheus) ? 1 : 0) + (has(self.condition) ? 1 : 0) + (has(self.approval) ? 1 : 0) == 1",reason=FieldValueInvalid,message="set exactly one of prometheus, condition and approval"
// +kubebuilder:validation:XValidation:rule="!has(self.success) || has(self.prometheus)",fieldPath=".success",reason=FieldValueForbidden,message="can be set together with prometheus only: conditions and approvals have no result to compare"
type RolloutGate struct {
	// Name of the gate, unique in the policy. Users approve a gate by its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`

	// Prometheus is a query to Prometheus or a server with the same API.
	// +optional
	Prometheus *PrometheusGate `json:"prometheus,omitempty"`

	// Condition is a condition of an object in the management cluster. The operator of the management cluster must allow its kind
	// (--gate-kinds) and grant the manager the right to get it.
	// +optional
	Condition *ConditionGate `json:"condition,omitempty"`

	// Approval waits until a user approves the rollout (annotation muster.dev/approve of the pool). The approval counts for this rollout only,
	// and for all of its waves. The fields during, interval, failures and unknown have no effect.
	// +optional
	Approval *ApprovalGate `json:"approval,omitempty"`

	// Success is a CEL expression over the result of the query, which passes the gate if it is true. The variable result is the value if the
	// query returns one sample, and the list of samples if it returns several; results is always the list. A sample has the fields value and
	// metric, the map of its labels. The macros has, all, exists, exists_one and filter are available. Without an expression the gate
	// passes if the query returns at least one sample and none of them is 0.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Success string `json:"success,omitempty"`

	// During lists the phases in which the gate is asked.
	// +optional
	// +listType=set
	// +kubebuilder:default={BeforeWave,Soak}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	During []GatePhase `json:"during,omitempty"`

	// Interval between two queries, from 10s to 1h.
	// +optional
	// +kubebuilder:default="1m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="self >= duration('10s') && self <= duration('1h')",reason=FieldValueInvalid,message="must be from 10s to 1h"
	Interval *metav1.Duration `json:"interval,omitempty"`

	// Failures is the number of failed answers in a row after which the gate has failed.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Failures int32 `json:"failures,omitempty"`

	// Unknown is the reaction if the source can't be read or returns no data. Wait begins no wave until the state is known; within a soak the
	// last known state counts. Fail counts it as a failed answer.
	// +optional
	// +kubebuilder:default=Wait
	Unknown UnknownAction `json:"unknown,omitempty"`
}

// PrometheusGate is an instant query.
type PrometheusGate struct {
	// Address of the server: http or https, a host, an optional port and path. The operator of the management cluster must allow it
	// (--gate-addresses).
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$`
	Address string `json:"address"`

	// Query in PromQL.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query"`

	// SecretRef names a Secret with the keys token (a bearer token, sent over https only) or ca.crt (certificates in PEM), or both. The Secret
	// must have the label muster.dev/gate with the value "true" and be in the namespace of the policy; for a ClusterRolloutPolicy in the
	// namespace of the manager.
	// +optional
	SecretRef *GateSecretReference `json:"secretRef,omitempty"`
}

// GateSecretReference names a Secret.
type GateSecretReference struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ConditionGate is a condition of an object.
//
// +kubebuilder:validation:XValidation:rule="has(self.healthy) != has(self.conditionType)",reason=FieldValueInvalid,message="set exactly one of healthy and conditionType"
// +kubebuilder:validation:XValidation:rule="!has(self.status) || has(self.conditionType)",fieldPath=".status",reason=FieldValueForbidden,message="can be set together with conditionType only"
type ConditionGate struct {
	// APIVersion of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9.-]+/)?v[0-9]+((alpha|beta)[0-9]+)?$`
	APIVersion string `json:"apiVersion"`

	// Kind of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Kind string `json:"kind"`

	// Name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the object; only a ClusterRolloutPolicy may set it. Without it a RolloutPolicy reads an object of its own namespace, and a
	// ClusterRolloutPolicy one of the pool's namespace, or one without a namespace.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Healthy wants the object to be healthy by the rules of its kind: an Argo CD Application with the health status Healthy, an object of
	// any other kind (such as Flux's Kustomization and HelmRelease) with the condition Ready, Healthy or Available of its current generation.
	// +optional
	// +kubebuilder:validation:Enum=true
	Healthy *bool `json:"healthy,omitempty"`

	// ConditionType is the type of an entry of status.conditions.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	ConditionType string `json:"conditionType,omitempty"`

	// Status that the condition must have; True unless set.
	// +optional
	// +kubebuilder:validation:Enum="True";"False";"Unknown"
	Status metav1.ConditionStatus `json:"status,omitempty"`
}

// ApprovalGate is the approval of a user. It has no fields.
type ApprovalGate struct{}

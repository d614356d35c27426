package common

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RolloutStatus reports the progress of a rollout. Waves and soaks continue from it after a restart of the manager; without it they begin
// again.
type RolloutStatus struct {
	// ID tells rollouts apart: it changes with what is rolled out.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ID string `json:"id"`

	// State is Settling, Waiting, Replacing, Soaking, Halted or Ended.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	State string `json:"state,omitempty"`

	// From is the template that the first machine to be replaced was launched from, To the one that it is replaced for, as the cloud names
	// them. They are absent where the cloud has no name for it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	From string `json:"from,omitempty"`

	// +optional
	// +kubebuilder:validation:MaxLength=512
	To string `json:"to,omitempty"`

	// Reasons are the classes of reasons for which machines are replaced: Template, Version, Image, Age, Restart.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=32
	Reasons []string `json:"reasons,omitempty"`

	// Wave is the wave that the rollout is in, counted from 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Wave int32 `json:"wave,omitempty"`

	// Of is the number of waves.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Of int32 `json:"of,omitempty"`

	// Entered is true if what the wave waited for has passed.
	// +optional
	Entered bool `json:"entered,omitempty"`

	// Left is the number of instances that are still to be replaced, those that are held included. It is absent while nothing is known of
	// instances.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Left *int32 `json:"left,omitempty"`

	// Returns is true if the rollout returns to a former template, without waves and gates.
	// +optional
	Returns bool `json:"returns,omitempty"`

	// StartedAt is when the rollout was first seen.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// SoakUntil is until when the instances of the wave are watched, where nothing else happens.
	// +optional
	SoakUntil *metav1.Time `json:"soakUntil,omitempty"`

	// OpensAt is when a window that is closed opens.
	// +optional
	OpensAt *metav1.Time `json:"opensAt,omitempty"`

	// Gates are the gates of the policies that select the pool, until the rollout has ended. At most 64 are listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Gates []GateStatus `json:"gates,omitempty"`

	// OverriddenBy is the client that has replacements begin outside of windows (annotation muster.dev/rollout: now), as the API server
	// recorded it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	OverriddenBy string `json:"overriddenBy,omitempty"`

	// Held are the nodes that users keep from being replaced (annotation muster.dev/hold), the first 20 by name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Held []string `json:"held,omitempty"`

	// Quarantined are the nodes that can't be drained and are left while others are replaced, the first 20 by name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Quarantined []string `json:"quarantined,omitempty"`

	// Reason is why no replacement begins, where that is so.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// Message is the sentence to the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// GateStatus is the state of a gate for a rollout.
type GateStatus struct {
	// Name of the gate.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`

	// Policy names the policy of the gate with its kind.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Policy string `json:"policy,omitempty"`

	// State is Unknown, Pending, Passed, Failed or AwaitingApproval.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	State string `json:"state"`

	// Message tells what was found.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

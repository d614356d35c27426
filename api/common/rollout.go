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

	// StartedAt is when the rollout was first seen.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// SoakUntil is until when the instances of the wave are watched, where nothing else happens.
	// +optional
	SoakUntil *metav1.Time `json:"soakUntil,omitempty"`

	// OpensAt is when a window that is closed opens.
	// +optional
	OpensAt *metav1.Time `json:"opensAt,omitempty"`

	// OverriddenBy is the client that has replacements begin outside of windows (annotation muster.dev/rollout: now), as the API server
	// recorded it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	OverriddenBy string `json:"overriddenBy,omitempty"`

	// Reason is why no replacement begins, where that is so.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// Message is the sentence to the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

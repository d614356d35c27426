package common

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RevisionStatus names the ControllerRevision with the last template whose rollout ended.
type RevisionStatus struct {
	// Name of the ControllerRevision, in the namespace of the pool.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Number of the revision. It grows with each template that is rolled out.
	// +required
	// +kubebuilder:validation:Minimum=1
	Number int64 `json:"number"`

	// Template identifies the content of the machines' template in the cloud, as the ID of its rollout did.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Template string `json:"template,omitempty"`
}

// RollbackStatus reports that machines are launched from a former template instead of that of the specification, or that this is
// impossible. It lasts until the template of the specification changes, or a user requests another try.
type RollbackStatus struct {
	// Rollout is the ID of the rollout that failed, or that a user aborted.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Rollout string `json:"rollout"`

	// Specification identifies the template of the specification that was rolled out.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Specification string `json:"specification"`

	// To is the ControllerRevision whose template is used. It is absent where a return is impossible.
	// +optional
	To *RevisionStatus `json:"to,omitempty"`

	// Aborted is true if a user aborted the rollout.
	// +optional
	Aborted bool `json:"aborted,omitempty"`

	// Message is why the rollout failed, or why a return is impossible.
	// +required
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message"`

	// At is when the pool began to return.
	// +required
	At metav1.Time `json:"at"`
}

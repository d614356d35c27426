// Package v1beta1 holds the kinds that exist in the local world alone: LocalControlPlane, a control plane that is an API
// server of this machine.
//
// +kubebuilder:object:generate=true
// +groupName=controlplane.cluster.x-k8s.io
package v1beta1

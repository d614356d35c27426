// Package controlplane is the control plane provider of the local world: every LocalControlPlane is an API server of its
// own in this process, with what kubeadm would have installed in it, so that machines really join.
package controlplane

// Package controlplane is the control plane provider of the local world: every LocalControlPlane is an API server of package
// workload.
package controlplane

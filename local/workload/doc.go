// Package workload runs the API servers of workload clusters in this process, each with what kubeadm would have installed
// in it, so that machines really join, and gives their secrets to the management cluster. Every kind of control plane of the
// local world has its servers from here.
package workload

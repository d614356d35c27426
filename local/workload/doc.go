// Package workload is what every kind of control plane of the local world shares: which API server it wants, the key by which it has it,
// and the secrets by which the management cluster, machines and people reach it. Package servers runs the API servers.
package workload

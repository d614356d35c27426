// Package workload holds the parts that all kinds of control planes of the local world share: the wanted API server, its key, and the
// secrets by which the management cluster, machines and users reach it. Package servers runs the API servers.
package workload

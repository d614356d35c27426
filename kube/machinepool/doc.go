// Package machinepool reconciles the core MachinePool: it takes over the bootstrap and infrastructure objects that a pool
// refers to, copies what they report, joins it with the Nodes of the workload cluster, and tells the outcome in status.
// It works with every provider that follows the Cluster API contract, in either of its versions.
package machinepool

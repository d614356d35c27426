// Package machinepool reconciles the core MachinePool. A pass reads the bootstrap and infrastructure objects that a pool refers to, its
// Machines and the Nodes of its workload cluster, writes what differs from the pool's template, and derives the status from what it read.
// The controller works with every provider that follows the Cluster API contract, v1beta1 or v1beta2.
//
// The packages below have one duty each. Reading: objects, reference, bootstrap, members, workload. Deriving, without requests: instances,
// ownership, propagate, uptodate, counts, status. Writing: machinesync, nodesync, poolevents.
package machinepool

// Package machinepool reconciles the core MachinePool. A pass reads the bootstrap and infrastructure objects that a pool refers to, its
// Machines and the Nodes of its workload cluster, writes what differs from the pool's template, and derives the status from what it read.
// The controller works with every provider that follows the Cluster API contract, v1beta1 or v1beta2.
//
// A pass claims the pool (claim.go), gathers the facts (facts.go, gather.go), which do not change afterwards, and runs its steps (pass.go).
// The steps record their effects in a separate value (progress). The status is derived from the facts and the outcome (write.go).
//
// The packages below have one duty each. Reading: objects, reference, bootstrap, members, workload. Deriving, without requests: instances,
// ownership, propagate, uptodate, counts, status. Writing: machinesync, nodesync, poolevents.
package machinepool

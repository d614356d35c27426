// Package nodesync finds the Nodes of a MachinePool in its workload cluster and writes them: it sets owner annotations and
// the metadata and taints of the pool's template, removes the uninitialized taint, and deletes Nodes whose instances no longer exist.
package nodesync

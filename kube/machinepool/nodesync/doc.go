// Package nodesync writes the Nodes of a MachinePool: it sets owner annotations and the metadata and taints of the pool's template, removes
// the uninitialized taint, and deletes Nodes whose instances no longer exist.
package nodesync

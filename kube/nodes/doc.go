// Package nodes finds the Nodes of a machine pool, and the pools of a Node, by what a provider ID means rather than by
// how it is spelled. Every look-up goes through an index over cached objects: no pass ever reads all nodes of a cluster.
package nodes

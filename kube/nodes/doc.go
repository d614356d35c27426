// Package nodes finds the Nodes of a machine pool, and the pools of a Node, by what a provider ID means rather than by
// how it is spelled. Look-ups go through an index over cached objects: all nodes of a cluster are read only before something
// happens that a cache which is behind must not decide.
package nodes

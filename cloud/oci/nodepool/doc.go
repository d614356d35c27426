// Package nodepool is the driver of node pools of Oracle's Kubernetes Engine (OKE).
//
// One list serves all node pools of a compartment. It has no nodes: a node pool is read by itself when it has changed, when a look must be
// exact, and now and then. OKE shows neither when a node was created nor from what, except for its version. The node pool gives new nodes a
// tag with a hash of what they are created from; nodes that exist keep theirs.
//
// A change of the node pool replaces no node. Muster replaces nodes one by one, or OKE cycles them: an update that enables cycling begins
// that, and every other update disables it. Updates and deletions have the etag that was read as their condition, a creation has a retry
// token.
package nodepool

// Package kapsule is the driver of pools of Scaleway's managed Kubernetes: Kapsule, and Kosmos, whose machines may run outside of Scaleway.
//
// Three lists serve all pools of a cluster: clusters of the name, pools, nodes. Writes have no condition, so that each rests on what was
// read right before it. A pool's status tells that Scaleway is at work and not what is left to do: nodes tell that. Nodes do not show their
// version. All have that of their pool, except those from before an upgrade that runs, whose version is not known.
package kapsule

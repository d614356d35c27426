// Package nodepool is the driver of GKE node pools: GCPManagedMachinePool.
//
// A node pool is a part of a GKE cluster and keeps its machines in managed instance groups of Compute Engine, one for each of its zones.
// One list of the clusters of a project serves all node pools of it, and one list of the instance groups says how large each is. GKE
// replaces nodes by itself when their version, image, machine type, disk or kernel settings change, each drained first; Muster names the
// machines of a scale-in, which it has drained, and never lets GKE choose.
//
// GKE sizes the zones of a node pool alike. A number of machines that does not divide by the zones is reached zone by zone, by the size of
// each instance group, as GKE's own autoscaler does it. What becomes of each change of the specification is in docs/gcp.md.
package nodepool

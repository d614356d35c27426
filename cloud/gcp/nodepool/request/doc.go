// Package request translates the specification of a node pool into the node pool that GKE's API has, and compares it part by part with what
// GKE reports. It sends nothing.
//
// What a specification leaves out is left as it is: GKE has defaults, and adds labels and taints of its own, none of which is a difference.
package request

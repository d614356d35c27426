// Package virtualnodepool is the driver of virtual node pools of Oracle's Kubernetes Engine (OKE), whose pods run on capacity that Oracle
// manages.
//
// One list serves all virtual node pools of a compartment; a virtual node pool and its nodes are read when it has changed. OKE deletes no
// virtual node by name: it selects those that go when the size is lowered, and drains them. What a node was created from is told by a tag,
// as in package nodepool, and OKE cycles nodes of another configuration.
package virtualnodepool

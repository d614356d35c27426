// Package toy is the driver of the toy cloud, which sim/toy simulates: a cloud that manages Kubernetes, with pools of nodes. No such cloud
// exists. The driver is complete all the same, passes the contract suite and is explored, and docs/adding-a-cloud.md goes through it.
//
// Three lists serve all pools of a cluster: the cluster, its pools, its nodes. Every change is sent on the condition of the revision that
// was read, so that reads that are behind change nothing. The cloud keeps the last operation of a pool beside the pool, so that nothing of
// it has to be remembered.
package toy

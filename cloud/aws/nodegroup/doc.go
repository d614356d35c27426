// Package nodegroup runs machine pools as managed node groups of EKS, with launch templates of their own or with EKS's. It
// translates the API's specification into what the SDK sends, and what the SDK reads into pool's words. It decides nothing:
// which step comes when is pool's matter.
//
// What belongs to a pool in the cloud is one node group, one launch template where the specification describes one, and one IAM role
// where it was made for the pool. All of them carry the tag muster.dev/owner. What has their name without the tag belongs to another owner:
// a node group or template is refused, a role is used as it is and never changed.
//
// A pass reads, then computes, then writes. The reader (observe.go, read.go, lookups.go, members.go, updates.go) gathers everything into
// one state. The state's methods compute from it and read nothing. The writer (start.go) has a function for each step.
//
// EKS keeps an Auto Scaling group of its own behind each node group, the backing group. It is read for the instances, instances are
// terminated in it by name, for EKS itself only knows how many and not which, and tags are put on it, because EKS passes its own on to
// nothing. Its size is asked for through EKS, and everything else about it is EKS's: its launch template, its hooks, by which EKS
// drains what leaves.
//
// Machines are told apart by what the launch template makes and by what EKS decides beside it: the version of Kubernetes, and the
// release of its image where the specification names one. EKS goes one minor version at a time, so that what is wanted now is what
// the next step leads to. Its updates replace every machine, can't be ended once they run (CancelUpdate is for other kinds of
// update), and one runs at a time: whatever else is to change waits.
//
// Which template an instance in the backing group was launched from is not told, for it is EKS's own copy. All are taken for what the
// node group is said to run, but for those that an update which did not succeed has brought: they are younger than its
// beginning, and of a later version of EKS's own template than what was there before.
//
// Steady pools cost two reads a pass, the node group and its backing group, and a third one in some.
package nodegroup

package pool

import (
	"cmp"
	"fmt"
	"time"

	"github.com/muster-project/muster/pool/health"
)

const (
	// unreadyDeadline is the time after which the stale instance of an unready node counts as not serving: Kubernetes begins to evict pods
	// from it after the same time. Until then the kubelet may come back and end the pods gracefully, while a drain without it ends them at
	// once. Surplus is removed without that patience: a serving instance would go instead.
	unreadyDeadline = 5 * time.Minute
	// minSmallBatch and smallBatchShare bound how many instances that are not serving are replaced at a time.
	minSmallBatch, smallBatchShare = 3, 10
	// failedBackoffStart is the age of an instance that failed before its node was ever Ready at which it is replaced. It doubles with
	// every other one that is as young, up to maxFailedBackoff. One that served before (a deallocated virtual machine) is replaced at once:
	// it is no sign that the next one fails as well, and joining takes long.
	failedBackoffStart, maxFailedBackoff = time.Minute, 15 * time.Minute
	// minFailedBackoff is that back-off where only Muster brings a replacement: the cloud does not slow down then, and does not count how
	// many have failed before.
	minFailedBackoff = scaleUpBackoff
)

// smallBatch returns how many instances that are not serving go at a time.
func (v *inputs) smallBatch() int { return max(minSmallBatch, v.want/smallBatchShare) }

// notServing returns why an instance is certainly not serving, or nil (rule 4): it was never Ready since its launch beyond the join
// deadline, or is unready for more than five minutes.
func (v *classification) notServing(i *Instance) *Cause {
	if v.in.o.NodesUnknown {
		return nil
	}
	deadline := cmp.Or(v.in.d.JoinDeadline, DefaultJoinDeadline)
	made := provisioned(i)
	late := func() bool { return !made.IsZero() && v.in.clock.Passed(made.Add(deadline)) }
	switch n := i.Node; {
	case v.in.failed(i):
		return &Cause{"Failed", "the instance failed"}
	case n == nil && late():
		return &Cause{"NeverJoined", "it has not joined the cluster in time"}
	case n == nil:
		return nil
	case n.Joining() && late():
		return &Cause{"NeverReady", fmt.Sprintf("its node %s has never been Ready", n.Name)}
	case !n.Ready && !n.Joining() && v.in.clock.Passed(n.ReadySince.Add(unreadyDeadline)):
		return &Cause{"Unready", fmt.Sprintf("its node %s is not Ready", n.Name)}
	}
	return nil
}

// partitionSuspected reports whether so many nodes turned unready together that they, or the network between, share a cause that no
// replacement fixes.
func (v *classification) partitionSuspected() bool {
	var turned []time.Time
	joined := 0
	for _, m := range v.members {
		if m.Node == nil || m.Node.Joining() {
			continue
		}
		joined++
		if !m.Node.Ready {
			turned = append(turned, m.Node.ReadySince)
		}
	}
	return health.PartitionSuspected(turned, joined, v.in.clock)
}

// failedBackoff returns a function that reports whether a failed instance may be replaced. The more of them are young and never served, the
// longer each waits.
func (v *classification) failedBackoff() func(m *member) bool {
	young := 0
	for _, m := range v.members {
		if m.reason == failedInstance && !servedBefore(m.Instance) && !v.in.clock.Reached(born(m.Instance).Add(maxFailedBackoff)) {
			young++
		}
	}
	rest := maxFailedBackoff
	if young < 5 {
		rest = min(failedBackoffStart<<max(0, young-1), maxFailedBackoff)
	}
	if !v.in.t.ReplaceKeepsSize {
		rest = max(rest, minFailedBackoff)
	}
	return func(m *member) bool {
		return servedBefore(m.Instance) || v.in.clock.Reached(born(m.Instance).Add(rest))
	}
}

// servedBefore reports whether an instance's node has been Ready at some time, as far as can be told.
func servedBefore(i *Instance) bool { return i.Node != nil && !i.Node.Joining() }

// Package health judges machines whose nodes are not Ready: whether they share a cause that no replacement fixes, and which of them stays
// for diagnosis. It is pure.
package health

import (
	"slices"
	"time"

	"github.com/muster-project/muster/pool/clock"
)

const (
	// turnedTogether is the time within which nodes turn unready for one common cause: the node controller's grace period and a few
	// heartbeats lie between the first and the last.
	turnedTogether = 5 * time.Minute
	// partitionShare of the nodes, turned unready together, look like a partition rather than like broken machines. The node controller
	// draws its line at 55 % of a zone, after which it stops evicting, and pools span zones.
	partitionShare = 3
	// partitionPatience is the time for which nodes that turned unready together are left alone. After it they count as broken: a template
	// whose nodes fail must not prevent its own replacement.
	partitionPatience = 30 * time.Minute
)

// PartitionSuspected reports whether so many nodes turned unready together that they, or the network between, share a cause that no
// replacement fixes. turned are the moments at which nodes turned unready, joined is the number of nodes that have been Ready.
func PartitionSuspected(turned []time.Time, joined int, at *clock.Clock) bool {
	many := max(1, joined/partitionShare)
	if len(turned) <= many {
		return false
	}
	slices.SortFunc(turned, time.Time.Compare)
	for last := many; last < len(turned); last++ {
		if turned[last].Sub(turned[last-many]) <= turnedTogether && !at.Reached(turned[last].Add(partitionPatience)) {
			return true
		}
	}
	return false
}

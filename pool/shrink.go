package pool

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// alive are the instances that count: those that are not on their way out.
func alive(o Observed) []Instance {
	return slices.DeleteFunc(slices.Clone(o.Instances), func(i Instance) bool { return i.State == Terminating })
}

// surplus is how many instances we may take from the group: what it keeps and holds above what is wanted.
func surplus(d Desired, o Observed) int { return min(unwanted(d, o), max(0, o.Group.Size-d.Replicas)) }

// unwanted is how many instances have to go, by our hand or, where the group's size is lower already, by the cloud's.
func unwanted(d Desired, o Observed) int {
	if d.External || outOfBounds(d) != nil {
		return 0
	}
	return max(0, len(alive(o))-d.Replicas)
}

// victims are the n instances that go, worst first: marked, already being drained, failed, never joined, unready, then by
// the delete policy within the zone that holds the most. The cloud never picks.
func victims(d Desired, o Observed, n int) []Instance {
	if n == 0 {
		return nil
	}
	list := alive(o)
	zones := map[string]int{}
	for _, i := range list {
		zones[i.Zone]++
	}
	slices.SortFunc(list, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), byPolicy(d.DeletePolicy, a, b), cmp.Compare(a.ID, b.ID))
	})
	var out []Instance
	for len(list) > 0 && len(out) < n {
		equals := slices.IndexFunc(list, func(i Instance) bool { return rank(i) != rank(list[0]) })
		if equals < 0 {
			equals = len(list)
		}
		out = append(out, balanced(list[:equals], zones, n-len(out))...)
		list = list[equals:]
	}
	return out
}

// balanced takes up to n instances from a list that stands in the order of preference, each from the zone that holds the
// most then, and counts the zones down.
func balanced(list []Instance, zones map[string]int, n int) []Instance {
	queues := map[string][]int{}
	var names []string
	for k, i := range list {
		if queues[i.Zone] == nil {
			names = append(names, i.Zone)
		}
		queues[i.Zone] = append(queues[i.Zone], k)
	}
	var out []Instance
	for range min(n, len(list)) {
		zone := slices.MinFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(zones[b], zones[a]), cmp.Compare(queues[a][0], queues[b][0]))
		})
		out = append(out, list[queues[zone][0]])
		zones[zone]--
		if queues[zone] = queues[zone][1:]; len(queues[zone]) == 0 {
			names = slices.DeleteFunc(names, func(name string) bool { return name == zone })
		}
	}
	return out
}

// rank sorts instances by what their loss costs; lower goes first.
func rank(i Instance) int {
	switch {
	case i.Marked:
		return 0
	case i.Node != nil && !i.Node.DrainStarted.IsZero():
		return 1
	case i.State == Failed:
		return 2
	case i.Node == nil:
		return 3
	case !i.Node.Ready:
		return 4
	default:
		return 5
	}
}

// byPolicy orders instances that are equally dispensable.
func byPolicy(p DeletePolicy, a, b Instance) int {
	switch p {
	case Newest:
		return born(b).Compare(born(a))
	case Random:
		return cmp.Compare(shuffle(a.ID), shuffle(b.ID))
	default:
		return born(a).Compare(born(b))
	}
}

// born is when an instance was made, or, where the cloud does not say, when its node joined.
func born(i Instance) time.Time {
	if i.Created.IsZero() && i.Node != nil {
		return i.Node.Joined
	}
	return i.Created
}

// shuffle is a stable random order. The hash alone leaves IDs that differ in their last digit in line, so that its halves
// are mixed once more.
func shuffle(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	sum := h.Sum64()
	sum = (sum ^ sum>>32) * 0x9e3779b97f4a7c15
	return sum ^ sum>>29
}

// shrinkStep brings the group down to its size: first by not launching what is not there yet, then by draining chosen
// instances and removing exactly those.
func shrinkStep(d Desired, o Observed, t Traits, now time.Time) *Step {
	if d.External || outOfBounds(d) != nil || o.Group.Size <= d.Replicas {
		return nil
	}
	if size := max(d.Replicas, len(alive(o))); size < o.Group.Size {
		return &Step{Kind: Resize, Size: size, Cause: Cause{"ScaleIn",
			fmt.Sprintf("the %s still waits for %d instances that the pool does not want any more", t.Group, o.Group.Size-size)}}
	}
	going := victims(d, o, surplus(d, o))
	cause := Cause{"ScaleIn", fmt.Sprintf("the %s has a size of %d, the pool wants %d", t.Group, o.Group.Size, d.Replicas)}
	if len(going) == 0 || unknownNodes(d, o) {
		return nil
	}
	gone, left := split(d, going, now)
	if len(gone) > 0 {
		if t.RemoveBatch > 0 && len(gone) > t.RemoveBatch {
			gone = gone[:t.RemoveBatch]
		}
		return &Step{Kind: Remove, Targets: targets(gone, cause), Cause: cause}
	}
	return &Step{Kind: Drain, Targets: targets(left, cause), Cause: cause}
}

// unknownNodes says that nobody can tell what runs on the instances, so that none of them may go.
func unknownNodes(d Desired, o Observed) bool { return o.NodesUnknown && d.NoDrain == nil }

// split tells the instances that may be removed from those that are still to be drained.
func split(d Desired, list []Instance, now time.Time) (gone, left []Instance) {
	for _, i := range list {
		if removable(d, i, now) {
			gone = append(gone, i)
		} else {
			left = append(left, i)
		}
	}
	return gone, left
}

// removable says that nothing is lost, or nothing more is waited for, when the instance goes.
func removable(d Desired, i Instance, now time.Time) bool {
	switch {
	case i.Node == nil || d.NoDrain != nil || i.Node.Drained():
		return true
	case d.DrainTimeout > 0 && !i.Node.DrainStarted.IsZero():
		return now.Sub(i.Node.DrainStarted) >= d.DrainTimeout
	default:
		return false
	}
}

// undrainStep gives back nodes that we were draining and that are wanted again. While the group holds more than its size
// the cloud is about to take some, as it does between a removal and its showing: those that we drained are not given back.
func undrainStep(d Desired, o Observed) *Step {
	going := map[string]bool{}
	for _, i := range victims(d, o, unwanted(d, o)) {
		going[i.ID] = true
	}
	var back []Instance
	for _, i := range alive(o) {
		if i.Node != nil && !i.Node.DrainStarted.IsZero() && !going[i.ID] {
			back = append(back, i)
		}
	}
	if len(back) == 0 {
		return nil
	}
	cause := Cause{"StillWanted", "the pool wants the instance again"}
	return &Step{Kind: Undrain, Targets: targets(back, cause), Cause: cause}
}

// planDelete drains what runs, then deletes the group, then the template. What is not ours stays.
func planDelete(d Desired, o Observed, t Traits, now time.Time) Plan {
	switch {
	case o.Group == nil && len(o.Versions) == 0:
		return Plan{Gone: true, Settled: true}
	case o.Group == nil:
		return begin(d, &Step{Kind: DeleteTemplates, Cause: Cause{"PoolDeleted", fmt.Sprintf("the pool is being deleted, and its %s is in use no more", t.Template)}})
	case o.Group.Deleting:
		return Plan{Waiting: []Cause{{"GroupDeleting", fmt.Sprintf("waiting for the %s and its instances to be gone", t.Group)}}}
	case unknownNodes(d, o) && len(alive(o)) > 0:
		return Plan{Waiting: []Cause{{"WorkloadClusterUnreachable", "waiting for the workload cluster to answer, because nodes are drained before they go"}}}
	}
	cause := Cause{"PoolDeleted", "the pool is being deleted"}
	_, left := split(d, alive(o), now)
	if len(left) == 0 {
		return begin(d, &Step{Kind: DeleteGroup, Targets: targets(alive(o), cause), Cause: cause})
	}
	p := begin(d, &Step{Kind: Drain, Targets: targets(left, cause), Cause: cause})
	p.Waiting = append(p.Waiting, draining(left)...)
	return p
}

// targets names the instances of a step.
func targets(list []Instance, cause Cause) []Target {
	out := make([]Target, 0, len(list))
	for _, i := range list {
		c := cause
		if i.Marked {
			c = Cause{"Marked", "the instance is marked to go first"}
		}
		target := Target{ID: i.ID, ProviderID: i.ProviderID, Cause: c}
		if i.Node != nil {
			target.Node = i.Node.Name
		}
		out = append(out, target)
	}
	return out
}

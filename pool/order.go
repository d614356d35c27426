package pool

import (
	"cmp"
	"hash/fnv"
	"time"
)

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

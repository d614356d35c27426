package rollouts

import (
	"hash/fnv"
	"slices"
	"strconv"
	"time"
)

// ReasonsOf returns the classes of reasons for which a machine is stale: by the fields in which its template differs, those of the kind
// that set its image, and whether its version of Kubernetes may be another one. A difference that is not known is of every class that it
// may be, and so is one of a kind that names no such fields.
func ReasonsOf(diff, images []string, version bool) []Reason {
	list := make([]Reason, 0, len(Reasons))
	image := func(field string) bool { return slices.Contains(images, field) }
	unknown := len(diff) == 0 || len(images) == 0
	if unknown || slices.ContainsFunc(diff, func(field string) bool { return !image(field) }) {
		list = append(list, Template)
	}
	if version {
		list = append(list, Version)
	}
	if unknown || slices.ContainsFunc(diff, image) {
		list = append(list, Image)
	}
	return list
}

// ID returns the ID of the rollout to a content that a restart at a moment adds to; zero for none. It is empty if the content is unknown.
func ID(content string, restart time.Time) string {
	if content == "" {
		return ""
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(content))
	if !restart.IsZero() {
		_, _ = h.Write([]byte(restart.UTC().Format(time.RFC3339Nano)))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// Targets returns the numbers of machines that have been replaced at the end of each wave: those of a strategy, as far as they ascend and
// are below the size, and the size.
func Targets(waves []int, size int) []int {
	var out []int
	for _, n := range waves {
		if n < size && (len(out) == 0 || n > out[len(out)-1]) {
			out = append(out, n)
		}
	}
	return append(out, size)
}

// AgeLimit returns the age at which a machine is replaced; zero for none. The share, from 0 to 1,000, is the machine's own, so that
// machines that were made together are not replaced together.
func (l Limits) AgeLimit(share uint64) time.Duration {
	return l.MaxAge - l.MaxAge/100*time.Duration(l.Jitter)/1000*time.Duration(min(share, 1000))
}

package driverkit

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Reusable reports whether what was read at a time, zero for never, need not be read again: maxAge is that of cloud.Target.
func Reusable(read, now time.Time, maxAge time.Duration) bool {
	return !read.IsZero() && maxAge > 0 && now.Sub(read) <= maxAge
}

// NotYetShown returns a conflict for a read that shows no group, if the cloud accepted the creation less than the period ago: the read may
// be older. Otherwise the group could be created twice, or its object released while the group exists. The group is named with its kind.
func NotYetShown(group string, created, now time.Time, within time.Duration) error {
	if now.Sub(created) >= within {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "GroupNotShown", Message: group + " was created a moment ago and is not shown yet"}
}

// Existing returns a group as it was read, or a conflict if that is nil: a step was planned for a group that does not exist any more. The
// group is named with its kind.
func Existing[G any](is *G, group string) (*G, error) {
	if is == nil {
		return nil, &cloud.Error{Kind: cloud.Conflict, Code: "GroupGone", Message: group + " does not exist any more"}
	}
	return is, nil
}

// Configurations returns the templates of a group whose cloud creates machines of any configuration: the one that the next step leads to,
// unless it is not known, and the one that the group has.
func Configurations(next, current pool.Template, known bool) []pool.Template {
	if !known || next.Same(current) {
		return []pool.Template{current}
	}
	return []pool.Template{next, current}
}

// ObserveWanted adds to an observation what the specification wants of a group whose cloud creates machines of any configuration: the one
// that the next step leads to, or why that is not known. Where no group exists it returns the error of an observation that ends here.
func ObserveWanted(out *pool.Observed, next pool.Template, failed error, exists bool) error {
	switch {
	case failed != nil && !exists:
		return &cloud.SpecUnsatisfiableError{Err: failed}
	case failed != nil:
		AddUnresolved(out, failed)
		return nil
	}
	out.Wanted = next
	out.Wanted.Ref = ""
	if !exists {
		out.Versions = []pool.Template{next}
	}
	return nil
}

// SortByAge sorts instances by their creation. Those whose creation is not known yet are the youngest.
func SortByAge(list []pool.Instance) {
	slices.SortFunc(list, func(a, b pool.Instance) int {
		if a.Created.IsZero() != b.Created.IsZero() {
			return cmp.Compare(b.Created.Unix(), a.Created.Unix())
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
}

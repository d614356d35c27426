package driverkit

import (
	"slices"

	"github.com/muster-project/muster/pool"
)

// SurgeRemoval is a removal that used up some of the surge that a group records beside its size, and that the record does not count yet:
// the record when the removal was begun, what it said then, and the instances. While it is remembered, an autoscaler may raise the size
// again before the removal is recorded.
//
// It can't follow from observation. A removal changes nothing of the group but its size, can't write the record in the same request, and
// leaves no trace of the instances that it named: once an autoscaler has raised the size again, the group looks as before the removal. A
// record written before the removal would have to name its instances, which is more than a tag or a label can hold; without their names it
// would count too little if the removal is refused. So the removal is remembered, and the record counts too much only if the process ends
// between a removal and its record, and the autoscaler raises the size meanwhile. Then one instance too many is removed for each.
type SurgeRemoval struct {
	record string
	before pool.PlannedSurge
	chosen []string
}

// RemovalFromSurge returns the removal of instances from a group with a surge, to be remembered; nil where there is none.
func RemovalFromSurge(record string, before pool.PlannedSurge, chosen []string) *SurgeRemoval {
	if before.Surge == 0 {
		return nil
	}
	return &SurgeRemoval{record: record, before: before, chosen: chosen}
}

// Under returns the removal while the group has the record of then; nil under another record, which counts it.
func (r *SurgeRemoval) Under(record string) *SurgeRemoval {
	if r == nil || r.record != record {
		return nil
	}
	return r
}

// Shown reports whether a group with the record and the size is as the removal has left it, or there is none to be shown. Before it is, a
// read may be from before the removal, or another client may have raised the size since.
func (r *SurgeRemoval) Shown(record string, size int) bool {
	return r == nil || r.record == record && size <= r.before.Size-len(r.chosen)
}

// Left returns the surge and the size that the removal leaves. stay are the instances of the group that are not being deleted: a removal
// that was refused for some leaves those.
func (r *SurgeRemoval) Left(stay []string) pool.PlannedSurge {
	gone := len(r.chosen)
	for _, id := range r.chosen {
		if slices.Contains(stay, id) {
			gone--
		}
	}
	return pool.PlannedSurge{Surge: max(0, r.before.Surge-gone), Size: r.before.Size - gone}
}

package driverkit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool"
)

// SurgeSpelling spells, for one cloud, the record of a surge that a group has beside its size: the texts between the numbers of a note, and
// between two notes.
type SurgeSpelling struct{ Numbers, Notes string }

// Surge is the surge of a group, from its record. The first note has how many machines were added and the size that was requested then:
// removals lower the size and so use the surge up without a write. The second is the surge that the next size brings. It does not count
// until a change of the size makes it the first, so that an autoscaler may raise the size before that.
type Surge struct {
	Recorded, Planned pool.PlannedSurge
	// Size is that of the group, Stay are the instances that are not being deleted.
	Size int
	Stay []string
	// Removal is nil where the record counts all removals.
	Removal *SurgeRemoval
	record  string
}

// Read returns the surge of a group of a size with that record. It forgets a removal under an earlier record: the one of today counts it.
func (s SurgeSpelling) Read(record string, size int, removal *SurgeRemoval) Surge {
	first, next, _ := strings.Cut(record, s.Notes)
	return Surge{Recorded: s.note(first), Planned: s.note(next), Size: size, Removal: removal.Under(record), record: record}
}

// note parses a note; it returns the zero note for any other text.
func (s SurgeSpelling) note(text string) pool.PlannedSurge {
	var note pool.PlannedSurge
	if _, err := fmt.Sscanf(text, "%d"+s.Numbers+"%d", &note.Surge, &note.Size); err != nil || note.Surge < 0 {
		return pool.PlannedSurge{}
	}
	return note
}

// Record returns the record of a note, and of the one for the next size if there is one.
func (s SurgeSpelling) Record(note, next pool.PlannedSurge) string {
	out := fmt.Sprintf("%d%s%d", note.Surge, s.Numbers, note.Size)
	if next == (pool.PlannedSurge{}) {
		return out
	}
	return fmt.Sprintf("%s%s%d%s%d", out, s.Notes, next.Surge, s.Numbers, next.Size)
}

// Now returns the recorded note less the instances that were removed since.
func (s Surge) Now() pool.PlannedSurge {
	if s.Removal == nil {
		return s.Recorded
	}
	return s.Removal.Left(s.Stay)
}

// Count returns how much of the size was added for a rollout.
func (s Surge) Count() int {
	now := s.Now()
	return max(0, now.Surge-max(0, now.Size-s.Size))
}

// Stale reports whether more is recorded than is left of the surge.
func (s Surge) Stale() bool { return s.Count() < s.Recorded.Surge }

// Without returns the removal of instances that uses the surge up, to be remembered; the one before where there is no surge.
func (s Surge) Without(chosen []string) *SurgeRemoval {
	if removal := RemovalFromSurge(s.record, pool.PlannedSurge{Surge: s.Count(), Size: s.Size}, chosen); removal != nil {
		return removal
	}
	return s.Removal
}

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

package instancepool

import (
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/pool"
)

// surges spells the record of a surge in a tag.
var surges = driverkit.SurgeSpelling{Numbers: "/", Notes: " "}

// surgeTag returns the record of the surge of a pool.
func surgeTag(is *core.InstancePool) string { return is.FreeformTags[launch.TagSurge] }

// surge returns the surge of the pool.
func (r *pass) surge() driverkit.Surge {
	read := r.memory.read
	s := surges.Read(surgeTag(read.is), value(read.is.Size), r.memory.removal)
	r.memory.removal = s.Removal
	for _, m := range read.members {
		if m.staying() {
			s.Stay = append(s.Stay, m.id)
		}
	}
	return s
}

// staleSurge reports whether more is recorded than is left, or a smaller size than the pool has, from which a removal would use nothing up.
func staleSurge(s driverkit.Surge) bool {
	return s.Stale() || s.Count() > 0 && s.Recorded.Size < s.Size
}

// putSurge puts the record of what is left of the surge, and of what is planned, into a request.
func putSurge(body *core.UpdateInstancePoolDetails, s driverkit.Surge, planned pool.PlannedSurge) {
	if s.Count() == 0 && planned == (pool.PlannedSurge{}) {
		delete(body.FreeformTags, launch.TagSurge)
		return
	}
	body.FreeformTags[launch.TagSurge] = surges.Record(pool.PlannedSurge{Surge: s.Count(), Size: s.Size}, planned)
}

// records reports whether the record of the surge is to be written: it is out of date, or another surge is planned.
func records(s driverkit.Surge, planned pool.PlannedSurge) bool {
	return staleSurge(s) || planned != (pool.PlannedSurge{}) && planned != s.Planned
}

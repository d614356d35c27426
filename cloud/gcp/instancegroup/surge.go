package instancegroup

import (
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// surges spells the record of a surge in the label.
var surges = driverkit.SurgeSpelling{Numbers: "-", Notes: "_"}

// surge is the surge of a group.
type surge struct{ driverkit.Surge }

// surge returns the surge of the group.
func (m *memory) surge() surge {
	s := surge{surges.Read(m.surgeLabel(), int(m.group.is.TargetSize), m.removal)}
	m.removal = s.Removal
	for _, i := range m.group.instances {
		if i.state() != pool.Terminating {
			s.Stay = append(s.Stay, i.url())
		}
	}
	return s
}

func (m *memory) surgeLabel() string { return labelsOf(m.group.is)[template.LabelSurge] }

// surgeRecorded forgets the removal once the label was written with what is left of the surge; err is the result of that write.
func (m *memory) surgeRecorded(err error) error {
	if err == nil {
		m.removal = nil
	}
	return err
}

// stale reports whether more is recorded than is left, or a smaller size than the group has, from which a removal would use nothing up.
func (s surge) stale() bool { return s.Stale() || s.Count() > 0 && s.Recorded.Size < s.Size }

// label returns the value of the label for what is left and what is planned; empty for neither.
func (s surge) label(planned pool.PlannedSurge) string {
	if s.Count() == 0 && planned == (pool.PlannedSurge{}) {
		return ""
	}
	return surges.Record(pool.PlannedSurge{Surge: s.Count(), Size: s.Size}, planned)
}

// describe puts the surge into the group of an observation.
func (s surge) describe(g *pool.Group) {
	g.Surge, g.SurgeRecordStale, g.SurgePlanned = s.Count(), s.stale(), s.Planned
}

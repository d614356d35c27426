package instancegroup

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// note is a surge as a label of the group records it: how many instances were added, and the size that was requested then. Removals lower
// the size and so use the surge up without a write. A second note after an underscore is the surge that the next size brings: it does not
// count until that size is requested.
type note struct{ Surge, Size int }

// left returns what is left of the surge at a size.
func (n note) left(size int) int { return max(0, n.Surge-max(0, n.Size-size)) }

func (n note) String() string { return fmt.Sprintf("%d-%d", n.Surge, n.Size) }

// noteOf parses a note; it returns the zero note for any other text.
func noteOf(text string) note {
	var n note
	if _, err := fmt.Sscanf(text, "%d-%d", &n.Surge, &n.Size); err != nil || n.Surge < 0 {
		return note{}
	}
	return n
}

// surge is the surge of a group of a size.
type surge struct {
	recorded, planned note
	size              int
	// removal is nil where the label counts all removals. stay are the URLs of the instances that are not being deleted.
	removal *driverkit.SurgeRemoval
	stay    []string
}

// surge returns the surge of the group. It forgets a removal under an earlier label: the one of today counts it.
func (m *memory) surge() surge {
	text := m.surgeLabel()
	m.removal = m.removal.Under(text)
	first, next, _ := strings.Cut(text, "_")
	s := surge{recorded: noteOf(first), planned: noteOf(next), size: int(m.group.is.TargetSize), removal: m.removal}
	for _, i := range m.group.instances {
		if i.state() != pool.Terminating {
			s.stay = append(s.stay, i.url())
		}
	}
	return s
}

func (m *memory) surgeLabel() string { return labelsOf(m.group.is)[template.LabelSurge] }

// without returns the removal of instances that uses the surge up, to be remembered; the one before where there is no surge.
func (s surge) without(label string, urls []string) *driverkit.SurgeRemoval {
	if removal := driverkit.RemovalFromSurge(label, pool.PlannedSurge{Surge: s.count(), Size: s.size}, urls); removal != nil {
		return removal
	}
	return s.removal
}

// surgeRecorded forgets the removal once the label was written with what is left of the surge; err is the result of that write.
func (m *memory) surgeRecorded(err error) error {
	if err == nil {
		m.removal = nil
	}
	return err
}

// now returns the recorded note less the instances that were removed since.
func (s surge) now() note {
	if s.removal == nil {
		return s.recorded
	}
	return note(s.removal.Left(s.stay))
}

// count returns how much of the size was added for a rollout.
func (s surge) count() int { return s.now().left(s.size) }

// stale reports whether more is recorded than is left, or a smaller size than the group has, from which a removal would use nothing up.
func (s surge) stale() bool {
	return s.count() < s.recorded.Surge || s.count() > 0 && s.recorded.Size < s.size
}

// label returns the value of the label for what is left and what is planned; empty for neither.
func (s surge) label(planned note) string {
	if s.count() == 0 && planned == (note{}) {
		return ""
	}
	text := note{Surge: s.count(), Size: s.size}.String()
	if planned != (note{}) {
		text += "_" + planned.String()
	}
	return text
}

// describe puts the surge into the group of an observation.
func (s surge) describe(g *pool.Group) {
	g.Surge, g.SurgeRecordStale, g.SurgePlanned = s.count(), s.stale(), pool.PlannedSurge(s.planned)
}

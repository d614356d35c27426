package instancegroup

import (
	"fmt"
	"strings"

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
}

func surgeOf(labels map[string]string, size int) surge {
	first, next, _ := strings.Cut(labels[template.LabelSurge], "_")
	return surge{recorded: noteOf(first), planned: noteOf(next), size: size}
}

// count returns how much of the size was added for a rollout.
func (s surge) count() int { return s.recorded.left(s.size) }

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

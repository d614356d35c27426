package azure

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// surgeNote is a surge as the tag records it: how many machines were added, and the capacity that was requested then. Removals lower the
// capacity and so use the surge up without a write.
//
// A second note after a blank is the surge that the next capacity brings. It does not count until a change of the capacity makes it the
// first, so that the autoscaler may raise the capacity before that.
type surgeNote struct{ Surge, Size int }

// left returns what is left of the surge at a size.
func (n surgeNote) left(size int) int { return max(0, n.Surge-max(0, n.Size-size)) }

func (n surgeNote) String() string { return fmt.Sprintf("%d/%d", n.Surge, n.Size) }

// followedBy returns the tag of a note and of the note for the next capacity, if there is one.
func (n surgeNote) followedBy(next surgeNote) string {
	if next == (surgeNote{}) {
		return n.String()
	}
	return n.String() + " " + next.String()
}

// noteOf parses a note; it returns the zero note for any other text.
func noteOf(text string) surgeNote {
	var note surgeNote
	if _, err := fmt.Sscanf(text, "%d/%d", &note.Surge, &note.Size); err != nil || note.Surge < 0 {
		return surgeNote{}
	}
	return note
}

// surge is the surge of a scale set that exists.
type surge struct {
	set setRead
	// removal is nil where the tag counts all removals.
	removal *driverkit.SurgeRemoval
}

// surge returns the surge of the scale set. It forgets a removal under an earlier tag: the one of today counts it.
func (m *memory) surge() surge {
	s := surge{set: m.set}
	m.surgeRemoval = m.surgeRemoval.Under(s.tag())
	s.removal = m.surgeRemoval
	return s
}

// tag returns the tag with its one or two notes.
func (s surge) tag() string { return model.Tag(s.set.is.Tags, model.TagSurge) }

// recorded returns the first note of the tag.
func (s surge) recorded() surgeNote {
	first, _, _ := strings.Cut(s.tag(), " ")
	return noteOf(first)
}

// planned returns the note for the next capacity.
func (s surge) planned() surgeNote {
	_, next, _ := strings.Cut(s.tag(), " ")
	return noteOf(next)
}

// now returns the recorded note less the machines that were removed since.
func (s surge) now() surgeNote {
	if s.removal == nil {
		return s.recorded()
	}
	var stay []string
	for _, m := range s.set.machines {
		if m.state() != pool.Terminating {
			stay = append(stay, m.id)
		}
	}
	return surgeNote(s.removal.Left(stay))
}

// count returns how much of the scale set's size was added for a rollout.
func (s surge) count() int { return s.now().left(s.set.size()) }

// stale reports whether the tag records more than is left of the surge.
func (s surge) stale() bool { return s.count() < s.recorded().Surge }

// without returns the removal of machines that uses the surge up, to be remembered; nil where there is no surge.
func (s surge) without(chosen []machine) *driverkit.SurgeRemoval {
	ids := make([]string, 0, len(chosen))
	for _, m := range chosen {
		ids = append(ids, m.id)
	}
	return driverkit.RemovalFromSurge(s.tag(), pool.PlannedSurge{Surge: s.count(), Size: s.set.size()}, ids)
}

// surgeRecorded forgets the removal once the tag was written with what is left of the surge; err is the result of that write.
func (m *memory) surgeRecorded(err error) error {
	if err == nil {
		m.surgeRemoval = nil
	}
	return err
}

// resized returns the change of the capacity to that of a note, which it records.
func (r setRead) resized(note surgeNote) armcompute.VirtualMachineScaleSetUpdate {
	return model.Resize(model.Read(*r.is), r.withAttached(note.Size), map[string]string{model.TagSurge: note.String()})
}

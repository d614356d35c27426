package azure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
)

// surgeNote is what the tag holds of a surge: how many machines were added, and how many the scale set was asked for then. Machines
// that go lower the capacity and use the surge up by themselves. More than is left is in it only if the process ends between a removal and
// its account, and the autoscaler makes the scale set larger meanwhile.
//
// A second note after a blank is the surge that the next capacity brings. It counts for nothing until a change of the capacity makes it
// the first, so that the autoscaler may raise the capacity before that.
type surgeNote struct{ Surge, Size int }

// surgeRemoved is a removal that used the surge up and is not written down yet: what the tag said when it was begun, what was so then,
// and who was to go. While it is remembered, it does not matter how large an autoscaler makes the scale set before it is written down.
type surgeRemoved struct {
	tag    string
	before surgeNote
	chosen []string
}

// left is what is left of the surge at a size.
func (n surgeNote) left(size int) int { return max(0, n.Surge-max(0, n.Size-size)) }

func (n surgeNote) String() string { return fmt.Sprintf("%d/%d", n.Surge, n.Size) }

// followedBy is the tag of a note with the one of the next capacity, if there is one.
func (n surgeNote) followedBy(next surgeNote) string {
	if next == (surgeNote{}) {
		return n.String()
	}
	return n.String() + " " + next.String()
}

// noteOf reads a note; one that can't be read is none.
func noteOf(text string) surgeNote {
	var note surgeNote
	if _, err := fmt.Sscanf(text, "%d/%d", &note.Surge, &note.Size); err != nil || note.Surge < 0 {
		return surgeNote{}
	}
	return note
}

// surgeTag is the tag as it is, and its first note.
func (p *pass) surgeTag() (string, surgeNote) {
	tag := model.Tag(p.memory.set.is.Tags, model.TagSurge)
	first, _, _ := strings.Cut(tag, " ")
	return tag, noteOf(first)
}

// surgePlanned is the note for the next capacity.
func (p *pass) surgePlanned() surgeNote {
	_, next, _ := strings.Cut(model.Tag(p.memory.set.is.Tags, model.TagSurge), " ")
	return noteOf(next)
}

// surgeNow is the tag with what is remembered of removals since.
func (p *pass) surgeNow() surgeNote {
	tag, note := p.surgeTag()
	since := p.memory.surge
	if since == nil || since.tag != tag {
		p.memory.surge = nil
		return note
	}
	gone := len(since.chosen)
	for _, m := range p.memory.set.machines {
		if m.state() != pool.Terminating && slices.Contains(since.chosen, m.id) {
			gone--
		}
	}
	return surgeNote{Surge: max(0, since.before.Surge-gone), Size: since.before.Size - gone}
}

// surge is how much of the scale set's size was added for a rollout.
func (p *pass) surge() int { return p.surgeNow().left(size(p.memory.set)) }

// surgeSpent reports whether the tag says more than is left of the surge.
func (p *pass) surgeSpent() bool {
	_, note := p.surgeTag()
	return p.surge() < note.Surge
}

// removes remembers a removal that uses the surge up.
func (p *pass) removes(chosen []machine) {
	left := p.surge()
	if left == 0 {
		return
	}
	tag, _ := p.surgeTag()
	since := &surgeRemoved{tag: tag, before: surgeNote{Surge: left, Size: size(p.memory.set)}}
	for _, m := range chosen {
		since.chosen = append(since.chosen, m.id)
	}
	p.memory.surge = since
}

// account notes that the tag was written with what is left of the surge, unless that failed: removals since are in it.
func (p *pass) account(err error) error {
	if err == nil {
		p.memory.surge = nil
	}
	return err
}

// resized is the change of the capacity to a size with its surge.
func (p *pass) resized(is armcompute.VirtualMachineScaleSet, note surgeNote) armcompute.VirtualMachineScaleSetUpdate {
	return model.Resize(model.Read(is), p.withGuests(note.Size), map[string]string{model.TagSurge: note.String()})
}

package azure

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
)

// surgeNote is what the tag says of a surge: how many machines were added, and how many the scale set was asked for then. Machines
// that go lower the capacity and use the surge up by themselves. More than is left is said only where we end between a removal and its
// account, and somebody makes the scale set larger meanwhile.
type surgeNote struct{ surge, size int }

// surgeRemoved is a removal that used the surge up and is not written down yet: what the tag said when it was begun, what was so then,
// and who was to go. While it is remembered, it does not matter how large somebody makes the scale set before it is written down.
type surgeRemoved struct {
	tag    string
	before surgeNote
	chosen []string
}

// left is what is left of the surge at a size.
func (n surgeNote) left(size int) int { return max(0, n.surge-max(0, n.size-size)) }

func (n surgeNote) String() string { return fmt.Sprintf("%d/%d", n.surge, n.size) }

// surgeTag is the tag as it is, and what it says.
func (p *pass) surgeTag() (string, surgeNote) {
	tag := model.Tag(p.memory.set.is.Tags, model.TagSurge)
	var note surgeNote
	if _, err := fmt.Sscanf(tag, "%d/%d", &note.surge, &note.size); err != nil || note.surge < 0 {
		return tag, surgeNote{}
	}
	return tag, note
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
	return surgeNote{surge: max(0, since.before.surge-gone), size: since.before.size - gone}
}

// surge is how much of the scale set's size was added for a rollout.
func (p *pass) surge() int { return p.surgeNow().left(size(p.memory.set)) }

// surgeSpent says that the tag says more than is left of the surge.
func (p *pass) surgeSpent() bool {
	_, note := p.surgeTag()
	return p.surge() < note.surge
}

// removes remembers a removal that uses the surge up.
func (p *pass) removes(chosen []machine) {
	left := p.surge()
	if left == 0 {
		return
	}
	tag, _ := p.surgeTag()
	since := &surgeRemoved{tag: tag, before: surgeNote{surge: left, size: size(p.memory.set)}}
	for _, m := range chosen {
		since.chosen = append(since.chosen, m.id)
	}
	p.memory.surge = since
}

// written notes that the tag was written: what is remembered beside it is in it by now, unless it is the same.
func (m *memory) written(tag string) {
	if m.surge != nil && tag != "" && tag != m.surge.tag {
		m.surge = nil
	}
}

package azure

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
)

// guest reports whether a virtual machine was attached to a Flexible scale set by a user, and not created by it: it does not carry our tag,
// and is not named as Azure names what a scale set makes. One that has lost its tags alone is no guest.
func (p *pass) guest(m machine) bool {
	made := p.t.name + "_"
	return m.flexible != nil && model.Tag(m.tags, model.TagOwner) != p.t.Owner.ID &&
		(len(m.id) <= len(made) || !strings.EqualFold(m.id[:len(made)], made))
}

// parted are the scale set's own machines, and those that were attached to it.
func (p *pass) parted(all []machine) (own, guests []machine) {
	own = make([]machine, 0, len(all))
	for _, m := range all {
		if p.guest(m) {
			guests = append(guests, m)
		} else {
			own = append(own, m)
		}
	}
	return own, guests
}

// withGuests is the capacity of a scale set with so many machines of its own. Azure counts those that were attached with them: left
// out, it would choose some to go.
func (p *pass) withGuests(size int) int { return size + staying(p.memory.set.guests) }

// lent are the guests as their Nodes are known: whatever stands for one stays as it is.
func (p *pass) lent() []string {
	var list []string
	for _, m := range p.memory.set.guests {
		list = append(list, p.providerID(m.id, true))
	}
	return list
}

// guestIssues say that there are guests, and what becomes of them.
func (p *pass) guestIssues() []pool.Cause {
	if len(p.memory.set.guests) == 0 {
		return nil
	}
	return []pool.Cause{{Reason: "MachinesAttached", Message: p.guestNames() +
		": attached to the scale set by another client, and left alone: neither counted, nor replaced, nor removed"}}
}

// noGuests refuses to delete a scale set to which machines are attached: Azure would delete them with it.
func (p *pass) noGuests() error {
	if staying(p.memory.set.guests) == 0 {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesAttached", Message: fmt.Sprintf(
		"%s: attached to scale set %s by another client, and would be deleted with it: detach what is to stay, and delete the rest", p.guestNames(), p.t.name)}
}

func (p *pass) guestNames() string {
	var ids []string
	for _, m := range p.memory.set.guests {
		ids = append(ids, m.id)
	}
	return named(ids)
}

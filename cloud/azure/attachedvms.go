package azure

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
)

// attachedVMs are virtual machines that a user attached to a Flexible scale set. Azure counts them with the scale set's machines; Muster
// does not.
type attachedVMs []machine

// attached reports whether a virtual machine was attached to the pool's Flexible scale set by a user, and not created by it: it does not
// carry the pool's owner tags, and is not named as Azure names what a scale set creates. One that merely lost its tags is not attached.
func (t target) attached(m machine) bool {
	made := t.name + "_"
	return m.flexible != nil && !model.Spelling.Claim(t.Owner, func(key string) string { return model.Tag(m.tags, key) }).Owned &&
		(len(m.id) <= len(made) || !strings.EqualFold(m.id[:len(made)], made))
}

// separate returns the scale set's own machines, and those that were attached to it.
func (t target) separate(all []machine) (own []machine, attached attachedVMs) {
	own = make([]machine, 0, len(all))
	for _, m := range all {
		if t.attached(m) {
			attached = append(attached, m)
		} else {
			own = append(own, m)
		}
	}
	return own, attached
}

// providerIDs returns the provider IDs of their Nodes. What represents an attached virtual machine in the cluster stays as it is.
func (a attachedVMs) providerIDs(t target) []string {
	var list []string
	for _, m := range a {
		list = append(list, t.providerID(m.id, true))
	}
	return list
}

// issues returns the issue that machines are attached; none where there are none.
func (a attachedVMs) issues() []pool.Cause {
	if len(a) == 0 {
		return nil
	}
	return []pool.Cause{{Reason: "MachinesAttached", Message: a.names() +
		": attached to the scale set by another client, and left alone: neither counted, nor replaced, nor removed"}}
}

// checkNone returns an error if machines are attached to a scale set that is to be deleted: Azure would delete them with it.
func (a attachedVMs) checkNone(scaleSet string) error {
	if staying(a) == 0 {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesAttached", Message: fmt.Sprintf(
		"%s: attached to scale set %s by another client, and would be deleted with it: detach what is to stay, and delete the rest",
		a.names(), scaleSet)}
}

// names returns the names of the machines for a message.
func (a attachedVMs) names() string {
	var ids []string
	for _, m := range a {
		ids = append(ids, m.id)
	}
	return named(ids)
}

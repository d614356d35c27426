package world

import (
	"time"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/sim"
)

// JoinsWithin is longer than any machine takes to join that ever does.
const JoinsWithin = 5 * time.Minute

// DropBroken has a user terminate the members that have stopped, and those that should have joined long ago: one a minute, from JoinsWithin
// on. Members that stays reports are left alone.
func (g *Group) DropBroken(stays func(sim.Member) bool) {
	g.world.At(time.Now().Add(JoinsWithin), func() { g.dropBroken(stays) })
}

func (g *Group) dropBroken(stays func(sim.Member) bool) {
	for _, m := range g.Living() {
		unjoined := time.Since(m.Created) > JoinsWithin && g.world.Workload.Node(m.ID) == nil
		if !m.Failed && !unjoined || stays(m) || g.world.Gone() {
			continue
		}
		g.world.Notes.Moved()
		_ = g.Do(sim.TerminateInstance, sim.Resource{Instance: m.ID}) // the cloud may be busy with it
		g.world.At(time.Now().Add(time.Minute), func() { g.dropBroken(stays) })
		return
	}
}

// Reopen has a user open the nodes that the cloud left closed.
func (g *Group) Reopen() {
	for _, m := range g.Living() {
		node := g.world.Workload.Node(m.ID)
		if node != nil && g.world.Workload.ClosedByCloud(node) && node.Annotations[nodes.DrainStartedAnnotation] == "" {
			g.world.Workload.Cordon(m.ID, false)
		}
	}
}

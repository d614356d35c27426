package containerservice

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// newRoll is the upgrade of a pool's nodes, with the numbers that its settings make of its count. AKS repairs nodes that are not Ready by
// reimaging them: an upgrade renews those too, also where an earlier one has made them.
func (w *lifecycle) newRoll(p *Pool, set string) *roll {
	r := &roll{Blocked: map[string]bool{}, Broken: map[string]bool{},
		Surge: managed.Share(document.Text(p.Doc, "upgradeSettings.maxSurge"), p.count()), Missing: managed.Share(document.Text(p.Doc,
			"upgradeSettings.maxUnavailable"), p.count())}
	switch {
	case spot(p.Doc):
		r.Missing = max(r.Missing, 1) // AKS adds no machines to those of spot
	case r.Surge == 0 && r.Missing == 0:
		r.Surge = 1
	}
	for _, m := range w.living(p, set) {
		r.Broken[m.Key] = !w.nodes.Ready(m)
	}
	return r
}

// rollOn takes an upgrade a step further: surge nodes come first; as far as enough nodes are ready, old ones are cordoned and drained;
// when one is empty and the soak time is over, AKS deletes its Node and renews the machine. What was surged is drained and goes at the end.
func (w *lifecycle) rollOn(p *Pool, set string) {
	r, living := p.Roll, w.living(p, set)
	p.Leaving.Forget(living)
	blocked := func(m managed.Machine) bool { return r.Blocked[m.Key] }
	soak, _ := document.Number(p.Doc, "upgradeSettings.nodeSoakDurationInMinutes")
	turn := w.nodes.Roll(slices.DeleteFunc(slices.Clone(living), blocked), p.Leaving, managed.Roll{
		Want: p.count(), Missing: r.Missing, Keeps: keepsUndrainable(p),
		Drain: managed.Drain{Limit: drainTime(p), Soak: time.Duration(soak) * time.Minute},
	})
	want := p.count() + len(living) - len(turn.Old) - turn.Fresh // those that could not be drained are kept, beside the count
	for _, m := range turn.Drained {
		delete(r.Broken, m.Key)
		w.nodes.Unregister(m.UID)
		w.renew(p, set, m.Key)
		p.Until = w.core.Now.Add(w.core.Life(lifeJoinLimit))
	}
	if w.stuck(p, set, turn.Stuck) {
		return
	}
	here := w.living(p, set)
	if len(turn.Old) > 0 {
		// There may be fewer than the count.
		w.grow(set, max(want, min(want+r.Surge, turn.Fresh+len(r.Blocked)+len(turn.Old)+r.Surge)))
	} else if len(here) < want {
		w.grow(set, want)
	}
	w.rolled(p, set, here, len(turn.Old), want)
}

// grow raises a scale set to at least so many machines, without counting deallocated ones.
func (w *lifecycle) grow(set string, n int) {
	for _, m := range w.compute.Nodes(set) {
		if m.Deallocated && !m.Deleting {
			n++
		}
	}
	w.compute.GrowTo(set, n)
}

// renew brings a drained machine to what machines of the pool are now. AKS reimages a machine of a scale set, which keeps its ID and its
// name, for another version or node image; for another size, and virtual machines by themselves, it deletes the machine and has another one
// made.
func (w *lifecycle) renew(p *Pool, set, instance string) {
	if p.ofVMs() || w.core.Switches.On(RenewsMachines) || w.node(set, instance).Size != document.Text(p.Doc, "vmSize") {
		w.compute.Remove(set, instance)
		return
	}
	w.compute.Reimage(set, instance)
}

// node returns a machine of a scale set.
func (w *lifecycle) node(set, instance string) compute.Node {
	for _, n := range w.compute.Nodes(set) {
		if n.Instance == instance {
			return n
		}
	}
	return compute.Node{}
}

// keepsUndrainable reports whether nodes of a pool that can't be drained are kept, so that an upgrade goes on without them.
func keepsUndrainable(p *Pool) bool {
	return document.Text(p.Doc, "upgradeSettings.undrainableNodeBehavior") == "Cordon"
}

// stuck keeps nodes that can't be drained: they are marked and go on without new pods. If the pool does not keep them, the upgrade fails.
func (w *lifecycle) stuck(p *Pool, set string, nodes []managed.Machine) (failed bool) {
	for _, m := range nodes {
		if !keepsUndrainable(p) {
			w.finish(p, &arm.Trouble{Code: "UpgradeFailed", Message: fmt.Sprintf("Drain node %s failed when evicting pods: too many requests: the "+
				"evictions would violate the pods' disruption budgets. See https://aka.ms/aks/debugdrainfailures", w.node(set, m.Key).Computer)})
			return true
		}
		p.Roll.Blocked[m.Key] = true
		w.nodes.Mark(m.UID, sim.Marks{Labels: map[string]string{quarantine: "Quarantined"}})
	}
	return false
}

// rolled ends an upgrade when no old node is left and as many are ready as there are to be, or when they do not become so.
func (w *lifecycle) rolled(p *Pool, set string, here []managed.Machine, old, want int) {
	ready := w.nodes.CountReady(here)
	switch complete := old == 0 && len(here) == want && ready == want; {
	case complete && len(p.Roll.Blocked) > 0:
		w.finish(p, &arm.Trouble{Code: "UpgradeFailed", Message: fmt.Sprintf(
			"%d nodes of agent pool %s could not be drained and are quarantined.", len(p.Roll.Blocked), p.Name)})
	case complete:
		w.finish(p, nil)
	case old == 0 && len(here) > want && w.unsurge(p, set, here, want):
	case len(p.Leaving) == 0 && core.Due(p.Until, w.core.Now):
		w.finish(p, notReady(p, len(here), ready))
	}
}

// unsurge drains the newest nodes, those that are too many at the end of an upgrade, once the others are ready, and deletes those that are
// empty or have had their time. It reports whether it has begun to.
func (w *lifecycle) unsurge(p *Pool, set string, here []managed.Machine, want int) bool {
	var stay, surge []managed.Machine
	for _, m := range newest(here) {
		if len(surge) < len(here)-want && !p.Roll.Blocked[m.Key] {
			surge = append(surge, m)
		} else {
			stay = append(stay, m)
		}
	}
	if len(p.Leaving) == 0 && w.nodes.CountReady(stay) < want {
		return false
	}
	w.nodes.Fewer(surge, p.Leaving, len(surge))
	w.letGo(p, set, here)
	return true
}

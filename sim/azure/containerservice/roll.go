package containerservice

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/state"
)

// newRoll is the upgrade of a pool's nodes, with the numbers that its settings make of its count. AKS repairs nodes that are not Ready by
// reimaging them: an upgrade renews those too, also where an earlier one has made them.
func (w *lifecycle) newRoll(p *Pool, set string) *roll {
	r := &roll{Blocked: map[string]bool{}, Broken: map[string]bool{},
		Surge: share(document.Text(p.Doc, "upgradeSettings.maxSurge"), p.count()), Missing: share(document.Text(p.Doc,
			"upgradeSettings.maxUnavailable"), p.count())}
	if r.Surge == 0 && r.Missing == 0 {
		r.Surge = 1
	}
	for _, n := range w.living(set) {
		r.Broken[n.Instance] = !w.nodes.ready(n)
	}
	return r
}

// share is a number of nodes, or a percentage of the count, which is rounded up.
func share(written string, count int) int {
	percent := strings.HasSuffix(written, "%")
	n, err := strconv.Atoi(strings.TrimSuffix(written, "%"))
	if err != nil {
		return 0
	}
	if percent {
		return (n*count + 99) / 100
	}
	return n
}

// stale reports a machine that was made otherwise than machines are made now.
func stale(p *Pool, n compute.Node) bool {
	return versionOf(n) != p.Current || imageOf(n.Image) != p.Image || n.Size != document.Text(p.Doc, "vmSize")
}

// rollOn takes an upgrade a step further: surge nodes come first; as far as enough nodes are ready, old ones are cordoned and drained;
// when one is empty and the soak time is over, AKS deletes its Node and renews the machine. What was surged is drained and goes at the end.
func (w *lifecycle) rollOn(p *Pool, set string) {
	r, living := p.Roll, w.living(set)
	maps.DeleteFunc(p.Leaving, func(instance string, _ *leaving) bool {
		return !slices.ContainsFunc(living, func(n compute.Node) bool { return n.Instance == instance })
	})
	old, fresh, ready := w.survey(p, living)
	want := p.count() + len(living) - len(old) - fresh // those that could not be drained are kept, beside the count
	for _, n := range old {
		if trouble := w.replace(p, set, n, ready); trouble != nil {
			w.finish(p, trouble)
			return
		}
		if l := p.Leaving[n.Instance]; l != nil && l.Since.Equal(w.Now) {
			ready-- // it has just been closed
		}
	}
	here := w.living(set)
	if len(old) > 0 {
		w.grow(set, max(want, min(want+r.Surge, fresh+len(r.Blocked)+len(old)+r.Surge))) // there may be fewer than the count
	} else if len(here) < want {
		w.grow(set, want)
	}
	w.rolled(p, set, here, old, want)
}

// grow lets a scale set have at least so many machines beside those that are deallocated.
func (w *lifecycle) grow(set string, n int) {
	for _, m := range w.compute.Nodes(set) {
		if m.Deallocated && !m.Deleting {
			n++
		}
	}
	w.compute.GrowTo(set, n)
}

// survey divides the machines of a pool that is being upgraded: the old ones, how many are as they should be, and how many take pods.
func (w *lifecycle) survey(p *Pool, living []compute.Node) (old []compute.Node, fresh, ready int) {
	for _, n := range living {
		switch {
		case p.Roll.Blocked[n.Instance]:
			continue
		case stale(p, n) || p.Roll.Broken[n.Instance]:
			old = append(old, n)
		default:
			fresh++
		}
		if w.nodes.ready(n) && p.Leaving[n.Instance] == nil {
			ready++
		}
	}
	return old, fresh, ready
}

// replace drains an old node if enough others are ready, and renews it when it is empty and has soaked. It returns why the upgrade
// can't go on.
func (w *lifecycle) replace(p *Pool, set string, n compute.Node, ready int) *arm.Trouble {
	l := p.Leaving[n.Instance]
	switch {
	case l == nil && (ready > p.count()-p.Roll.Missing || !w.nodes.ready(n)):
		w.leave(p, n, false)
		return nil
	case l == nil:
		return nil
	}
	soak, _ := document.Number(p.Doc, "upgradeSettings.nodeSoakDurationInMinutes")
	switch {
	case !l.Drained.IsZero():
	case w.nodes.drained(n.UID, l.Since):
		l.Drained = w.Now
	case w.Now.Before(l.Since.Add(w.Life(drainTime(p)))):
		return nil
	case document.Text(p.Doc, "upgradeSettings.undrainableNodeBehavior") == "Cordon":
		w.block(p, n)
		return nil
	default:
		return &arm.Trouble{Code: "UpgradeFailed", Message: fmt.Sprintf("Drain node %s failed when evicting pods: too many requests: the "+
			"evictions would violate the "+
			"pods' disruption budgets. See https://aka.ms/aks/debugdrainfailures", n.Computer)}
	}
	if w.Now.Before(l.Drained.Add(w.Life(time.Duration(soak) * time.Minute))) {
		return nil
	}
	delete(p.Leaving, n.Instance)
	delete(p.Roll.Broken, n.Instance)
	w.nodes.unregister(n)
	w.renew(p, set, n)
	p.Until = w.Now.Add(w.Life(lifeJoinLimit))
	return nil
}

// renew brings a drained machine to what machines of the pool are now. AKS reimages a machine of a scale set, which keeps its ID and its
// name, for another version or node image; for another size, and virtual machines by themselves, it deletes the machine and has another one
// made.
func (w *lifecycle) renew(p *Pool, set string, n compute.Node) {
	if p.ofVMs() || n.Size != document.Text(p.Doc, "vmSize") {
		w.compute.Remove(set, n.Instance)
		return
	}
	w.compute.Reimage(set, n.Instance)
}

// block keeps a node that can't be drained: it is marked and goes on without new pods.
func (w *lifecycle) block(p *Pool, n compute.Node) {
	p.Roll.Blocked[n.Instance] = true
	delete(p.Leaving, n.Instance)
	if v := w.Workload(); v != nil {
		v.Mark(n.UID, sim.Marks{Labels: map[string]string{quarantine: "Quarantined"}})
	}
}

// rolled ends an upgrade when no old node is left and as many are ready as there are to be, or when they do not become so.
func (w *lifecycle) rolled(p *Pool, set string, here, old []compute.Node, want int) {
	ready := w.readyOf(here)
	switch complete := len(old) == 0 && len(here) == want && ready == want; {
	case complete && len(p.Roll.Blocked) > 0:
		w.finish(p, &arm.Trouble{Code: "UpgradeFailed", Message: fmt.Sprintf(
			"%d nodes of agent pool %s could not be drained and are quarantined.", len(p.Roll.Blocked), p.Name)})
	case complete:
		w.finish(p, nil)
	case len(old) == 0 && len(here) > want && w.unsurge(p, set, here, want):
	case len(p.Leaving) == 0 && state.Due(p.Until, w.Now):
		w.finish(p, notReady(p, len(here), ready))
	}
}

// unsurge drains the newest nodes, those that are too many at the end of an upgrade, once the others are ready, and deletes those that are
// empty or have had their time. It reports whether it has begun to.
func (w *lifecycle) unsurge(p *Pool, set string, here []compute.Node, want int) bool {
	var stay, surge []compute.Node
	for _, n := range slices.Backward(here) {
		if len(surge) < len(here)-want && !p.Roll.Blocked[n.Instance] {
			surge = append(surge, n)
		} else {
			stay = append(stay, n)
		}
	}
	if len(p.Leaving) == 0 && w.readyOf(stay) < want {
		return false
	}
	for _, n := range surge {
		if p.Leaving[n.Instance] == nil {
			w.leave(p, n, false)
		}
	}
	w.letGo(p, set, here)
	return true
}

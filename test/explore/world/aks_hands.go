package world

import (
	"fmt"
	"slices"
	"time"

	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// What users and AKS itself do to agent pools alone.
const (
	// HandUpgrade upgrades the version or the node image of a pool in the portal; HandStop stops a pool, HandStart starts it again;
	// HandAbort aborts the operation that runs.
	HandUpgrade What = "hand upgrades"
	HandStop    What = "hand stops"
	HandStart   What = "hand starts"
	HandAbort   What = "hand aborts"
)

// toAgents changes something of our agent pool, or of one of its machines.
func (w *World) toAgents(e Event) error {
	p, a := w.account.ourAgents(), w.account
	if p == nil || p.State == "Deleting" {
		return nil
	}
	aks := a.azure.AKS
	switch e.What {
	case HandTerminate, HandUnhealthy:
		return w.strikeNode(p, e)
	case HandFail:
		return aks.FailPool(onPool, "InternalOperationError", "played by the explorer")
	case HandAbort:
		a.moved = time.Now()
		return aks.AbortPool(onPool)
	case HandStop:
		a.moved = time.Now()
		return aks.StopPool(onPool)
	case HandStart:
		w.startAgents()
		return nil
	case HandUpgrade:
		return w.upgradeByHand(e)
	case HandQuota:
		return a.azure.SetQuota(simazure.Location, "cores", 2*(2+e.N))
	case HandHeal:
		return a.azure.ClearQuotas()
	}
	return w.toAgentPool(p, e)
}

// toAgentPool changes something of the agent pool that takes an operation.
func (w *World) toAgentPool(p *containerservice.InspectedPool, e Event) error {
	a, aks := w.account, w.account.azure.AKS
	switch e.What {
	case HandResize:
		a.moved = time.Now()
		return aks.ScalePool(onPool, max(e.N, 1))
	case Autoscaler:
		return w.autoscale(p, e.N)
	case HandTags:
		key := []string{"team", "stage", "muster.dev_cluster"}[e.N%3]
		if p.Tags[key] == "" {
			key = theirs // what others put there stays there, whatever its name
		}
		return a.noted("tag "+key, aks.TagPool(onPool, key, "hand"))
	case HandDisown:
		a.disowned = time.Now()
		if e.N%2 == 0 {
			return aks.UntagPool(onPool, tagOwnerAzure)
		}
		return aks.TagPool(onPool, tagOwnerAzure, thief)
	case HandDropGroup:
		if err := aks.DeletePool(onPool); err != nil {
			return fmt.Errorf("delete the agent pool: %w", err)
		}
		a.notes = map[string]string{}
	}
	return nil
}

// autoscale moves the pool's count as AKS's own autoscaler does, or another one.
func (w *World) autoscale(p *containerservice.InspectedPool, n int) error {
	if !w.external() {
		return nil
	}
	w.account.moved = time.Now()
	aks := w.account.azure.AKS
	if !p.Autoscaled {
		return aks.ScalePool(onPool, max(n, 1))
	}
	is := w.account.shownPool()
	return aks.Autoscale(onPool, min(max(n, is.MinCount), is.MaxCount))
}

// upgradeByHand upgrades the node image of the pool, or its version to that of its control plane.
func (w *World) upgradeByHand(e Event) error {
	aks := w.account.azure.AKS
	if e.N%3 == 0 {
		return aks.UpgradePool(onPool, w.account.managedCluster().Version)
	}
	if err := aks.ReleaseImage(fmt.Sprintf("2026%02d.01.0", 10+e.M%3)); err != nil {
		return fmt.Errorf("release a node image: %w", err)
	}
	return aks.UpgradeNodeImage(onPool)
}

// strikeNode does something to one of the pool's machines.
func (w *World) strikeNode(p *containerservice.InspectedPool, e Event) error {
	living := slices.DeleteFunc(slices.Clone(p.Machines), leaves)
	if len(living) == 0 {
		return nil
	}
	m := living[e.N%len(living)]
	if e.What == HandUnhealthy {
		return w.account.azure.Stop(m.UID)
	}
	w.account.moved = time.Now()
	return w.account.azure.AKS.DeleteMachine(onPool, m.Name)
}

// ownAgents gives the agent pool back that was taken from us. AKS takes no change while it is at work on the pool.
func (w *World) ownAgents() {
	p := w.account.agents()
	if p == nil || w.account.disowned.IsZero() || p.Tags[tagOwnerAzure] != "" && p.Tags[tagOwnerAzure] != thief || p.State == "Deleting" || w.gone {
		return
	}
	if _, o := w.objects(w.user); o == nil {
		return
	}
	if err := w.account.azure.AKS.TagPool(onPool, tagOwnerAzure, w.owner().ID); err != nil {
		w.at(time.Now().Add(planeAgain), w.ownAgents)
		return
	}
	w.account.owned = time.Now()
}

// startAgents starts the pool if it was stopped, as soon as AKS takes that.
func (w *World) startAgents() {
	p := w.account.agents()
	if p == nil || w.gone || p.State == "Deleting" || p.Power != "Stopped" && p.State != "Stopping" {
		return
	}
	if err := w.account.azure.AKS.StartPool(onPool); err != nil {
		w.at(time.Now().Add(planeAgain), w.startAgents)
		return
	}
	w.account.moved = time.Now()
}

// foreignFirst has another owner create a pool of our name before the control plane is ready, and reports whether that is done. AKS takes
// the tag of the owner once the pool is there.
func (w *World) foreignFirst() bool {
	if w.ready || !w.scenario.Has(HandForeign) {
		w.ready = true
		return true
	}
	if w.account.agents() == nil {
		w.must(w.account.azure.AKS.CreatePool(onPool, simazure.VMSize, 1), "make an agent pool by hand")
	}
	w.ready = w.account.azure.AKS.TagPool(onPool, tagOwnerAzure, "another-tool") == nil
	return w.ready
}

// dropForeignAgents deletes the pool of another owner that has our name, once AKS takes that.
func (w *World) dropForeignAgents() {
	p := w.account.agents()
	if p == nil || w.gone || p.Tags[tagOwnerAzure] == w.owner().ID || !w.scenario.Has(HandForeign) || p.State == "Deleting" {
		return
	}
	if w.account.azure.AKS.DeletePool(onPool) != nil {
		w.at(time.Now().Add(planeAgain), w.dropForeignAgents)
	}
}

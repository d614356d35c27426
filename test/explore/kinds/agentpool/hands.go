package agentpool

import (
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// What users and AKS itself do to agent pools alone.
const (
	// HandUpgrade upgrades the version or the node image of a pool in the portal; HandStop stops a pool, HandStart starts it again;
	// HandAbort aborts the operation that runs.
	HandUpgrade world.What = "hand upgrades"
	HandStop    world.What = "hand stops"
	HandStart   world.What = "hand starts"
	HandAbort   world.What = "hand aborts"
	// NodeImage has AKS release a node image, and the object ask for it.
	NodeImage world.What = "node image"
)

// hands are what people do to the pool in the account.
type hands struct {
	pool *pool
	// stopped is true once a user has stopped the agent pool, until one starts it.
	stopped bool
}

// change changes something of our agent pool, or of one of its machines.
func (h *hands) change(e world.Event) error {
	a := h.pool
	p := a.ours()
	if p == nil || p.State == "Deleting" {
		return nil
	}
	aks := a.Cloud.AKS
	switch e.What {
	case world.HandTerminate, world.HandUnhealthy:
		return h.strikeNode(p, e)
	case world.HandFail:
		return aks.FailPool(onPool, "InternalOperationError", "played by the explorer")
	case HandAbort:
		a.World.Notes.Moved()
		return aks.AbortPool(onPool)
	case HandStop:
		return h.stop()
	case HandStart:
		h.start()
		return nil
	case HandUpgrade:
		return h.upgradeByHand(e)
	case azure.HandQuota:
		return a.Cloud.SetQuota(simazure.Location, "cores", 2*(2+e.N))
	case world.HandHeal:
		return a.Cloud.ClearQuotas()
	}
	return h.toPool(p, e)
}

// toPool changes something of the agent pool that takes an operation.
func (h *hands) toPool(p *containerservice.InspectedPool, e world.Event) error {
	a := h.pool
	aks := a.Cloud.AKS
	switch e.What {
	case world.HandResize:
		a.World.Notes.Moved()
		return aks.ScalePool(onPool, max(e.N, 1))
	case world.Autoscaler:
		return h.autoscale(p, e.N)
	case NodeImage:
		return h.newImage(e)
	case world.HandTags:
		key := []string{"team", "stage", "muster.dev_cluster"}[e.N%3]
		if p.Tags[key] == "" {
			key = world.Theirs // what others put there stays there, whatever its name
		}
		return a.World.Notes.Kept("tag "+key, aks.TagPool(onPool, key, "hand"))
	case world.HandDisown:
		a.World.Notes.Disowned()
		if e.N%2 == 0 {
			return aks.UntagPool(onPool, azure.TagOwner)
		}
		return aks.TagPool(onPool, azure.TagOwner, world.Thief)
	case world.HandDropGroup:
		if err := aks.DeletePool(onPool); err != nil {
			return fmt.Errorf("delete the agent pool: %w", err)
		}
		h.stopped = false
		a.World.Notes.Dropped()
	}
	return nil
}

// autoscale moves the pool's count as AKS's own autoscaler does, or another one.
func (h *hands) autoscale(p *containerservice.InspectedPool, n int) error {
	a := h.pool
	if !a.World.Objects.External() {
		return nil
	}
	a.World.Notes.Moved()
	aks := a.Cloud.AKS
	if !p.Autoscaled {
		return aks.ScalePool(onPool, max(n, 1))
	}
	is := a.shownPool()
	return aks.Autoscale(onPool, min(max(n, is.MinCount), is.MaxCount))
}

// upgradeByHand upgrades the node image of the pool, or its version to that of its control plane.
func (h *hands) upgradeByHand(e world.Event) error {
	aks := h.pool.Cloud.AKS
	if e.N%3 == 0 {
		return aks.UpgradePool(onPool, h.pool.managedCluster().Version)
	}
	if err := aks.ReleaseImage(fmt.Sprintf("2026%02d.01.0", 10+e.M%3)); err != nil {
		return fmt.Errorf("release a node image: %w", err)
	}
	return aks.UpgradeNodeImage(onPool)
}

// strikeNode does something to one of the pool's machines.
func (h *hands) strikeNode(p *containerservice.InspectedPool, e world.Event) error {
	a := h.pool
	living := slices.DeleteFunc(slices.Clone(p.Machines), leaves)
	if len(living) == 0 {
		return nil
	}
	m := living[e.N%len(living)]
	if e.What == world.HandUnhealthy {
		return a.Cloud.Stop(m.UID)
	}
	a.World.Notes.Moved()
	return a.Cloud.AKS.DeleteMachine(onPool, m.Name)
}

// own gives the agent pool back that was taken from us. AKS takes no change while it is at work on the pool.
func (h *hands) own() {
	a := h.pool
	p := a.agents()
	if p == nil || !a.World.Notes.EverDisowned() || p.Tags[azure.TagOwner] != "" && p.Tags[azure.TagOwner] != world.Thief ||
		p.State == "Deleting" ||
		a.World.Gone() {
		return
	}
	if _, o := a.World.Objects.Both(); o == nil {
		return
	}
	if err := a.Cloud.AKS.TagPool(onPool, azure.TagOwner, a.World.Objects.Owner().ID); err != nil {
		a.World.At(time.Now().Add(planeAgain), h.own)
		return
	}
	a.World.Notes.Owned()
}

// stop stops the pool.
func (h *hands) stop() error {
	h.pool.World.Notes.Moved()
	if err := h.pool.Cloud.AKS.StopPool(onPool); err != nil {
		return fmt.Errorf("stop the agent pool: %w", err)
	}
	h.stopped = true
	return nil
}

// start starts the pool if it was stopped, as soon as AKS takes that. A stop that failed leaves a pool that AKS goes on to stop with
// whatever is asked of it next.
func (h *hands) start() {
	a := h.pool
	p := a.agents()
	if p == nil || a.World.Gone() || p.State == "Deleting" || p.Power != "Stopped" && !h.stopped {
		return
	}
	if err := a.Cloud.AKS.StartPool(onPool); err != nil {
		a.World.At(time.Now().Add(planeAgain), h.start)
		return
	}
	h.stopped = false
	a.World.Notes.Moved()
}

// foreignFirst has another owner create a pool of our name before the control plane is ready, and reports whether that is done. AKS takes
// the tag of the owner once the pool is there.
func (h *hands) foreignFirst() bool {
	a := h.pool
	if a.plane.ready || a.plane.afresh || !a.World.Scenario.Has(world.HandForeign) {
		a.plane.ready = true
		return true
	}
	if a.agents() == nil {
		a.World.Must(a.Cloud.AKS.CreatePool(onPool, simazure.VMSize, 1), "make an agent pool by hand")
	}
	a.plane.ready = a.Cloud.AKS.TagPool(onPool, azure.TagOwner, "another-tool") == nil
	return a.plane.ready
}

// dropForeign deletes the pool of another owner that has our name, once AKS takes that.
func (h *hands) dropForeign() {
	a := h.pool
	p := a.agents()
	if p == nil || a.World.Gone() || p.Tags[azure.TagOwner] == a.World.Objects.Owner().ID || !a.World.Scenario.Has(world.HandForeign) ||
		p.State == "Deleting" {
		return
	}
	if a.Cloud.AKS.DeletePool(onPool) != nil {
		a.World.At(time.Now().Add(planeAgain), h.dropForeign)
	}
}

// newImage has AKS release a node image, and the object ask for it.
func (h *hands) newImage(e world.Event) error {
	release := fmt.Sprintf("2026%02d.01.0", 10+e.N%3)
	if err := h.pool.Cloud.AKS.ReleaseImage(release); err != nil {
		return fmt.Errorf("release a node image: %w", err)
	}
	h.pool.World.Objects.EditObject(func(o client.Object) { agents(o).edit(func(s *agentSpec) { s.NodeImageVersion = &release }) })
	return nil
}

package agentpool

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The out-of-band actions that exist only for agent pools, of users and of AKS itself.
const (
	// HandUpgrade upgrades the version or the node image of a pool in the portal; HandStop stops a pool, HandStart starts it again;
	// HandAbort aborts the operation that runs.
	HandUpgrade script.What = "hand upgrades"
	HandStop    script.What = "hand stops"
	HandStart   script.What = "hand starts"
	HandAbort   script.What = "hand aborts"
	// NodeImage has AKS release a node image, and the object ask for it.
	NodeImage script.What = "node image"
)

// outOfBand holds the out-of-band changes of the pool in the account.
type outOfBand struct {
	pool *pool
	// stopped is true once a user has stopped the agent pool, until one starts it.
	stopped bool
	// tagged is the time when another owner has tagged the pool that it created under the pool's name.
	tagged time.Time
}

// change changes the agent pool, or one of its machines.
func (h *outOfBand) change(e script.Event) error {
	a := h.pool
	p := a.World.Group.Owned()
	if p == nil {
		return nil
	}
	switch e.What {
	case script.HandTerminate, script.HandUnhealthy:
		return h.strikeNode(p, e)
	case script.HandFail:
		return a.World.Group.Do(sim.FailRollout, sim.Resource{})
	case HandAbort:
		a.World.Notes.Moved()
		return a.World.Group.Do(sim.CancelRollout, sim.Resource{})
	case HandStop:
		return h.stop()
	case HandStart:
		h.start()
		return nil
	case azure.HandQuota:
		return a.Cloud.SetQuota(simazure.Location, "cores", 2*(2+e.N))
	case script.HandHeal:
		return a.Cloud.ClearQuotas()
	}
	return h.toPool(p, e)
}

// toPool changes something of the agent pool that takes an operation.
func (h *outOfBand) toPool(p *sim.Group, e script.Event) error {
	switch e.What {
	case HandUpgrade:
		return h.upgradeByHand(e)
	case NodeImage:
		return h.newImage(e)
	case script.Autoscaler:
		return h.autoscale(p, e)
	case script.HandTags:
		return h.retag(p, e)
	case script.HandResize:
		e.N = max(e.N, 1)
	}
	err := h.pool.World.Group.Change(p, e)
	if err == nil && e.What == script.HandDropGroup {
		h.stopped = false
	}
	return err
}

// retag changes one of the pool's tags, or removes the one with the name of its cluster.
func (h *outOfBand) retag(p *sim.Group, e script.Event) error {
	key := []string{"team", "stage", azure.TagCluster}[e.N%3]
	on, action := sim.Resource{Key: key, Value: "hand"}, sim.ChangeTag
	switch {
	case p.Tags[key] == "":
		on.Key = world.Theirs // what others put there stays there, whatever its name
	case key == azure.TagCluster:
		action = sim.RemoveTag
	}
	return h.pool.World.Notes.Kept("tag "+on.Key, h.pool.World.Group.Do(action, on))
}

// autoscale moves the pool's count as AKS's own autoscaler does, or another one.
func (h *outOfBand) autoscale(p *sim.Group, e script.Event) error {
	a := h.pool
	if e.N = max(e.N, 1); !p.Autoscaled || !a.World.Objects.External() {
		return a.World.Group.Change(p, e)
	}
	a.World.Notes.Moved()
	is := a.shownPool()
	return a.World.Group.Do(sim.Autoscale, sim.Resource{Size: min(max(e.N, is.MinCount), is.MaxCount)})
}

// upgradeByHand upgrades the node image of the pool, or its version to that of its control plane.
func (h *outOfBand) upgradeByHand(e script.Event) error {
	if e.N%3 == 0 {
		return h.pool.World.Group.Do(sim.UpgradeGroup, sim.Resource{})
	}
	aks := h.pool.Cloud.AKS
	if err := aks.ReleaseImage(fmt.Sprintf("2026%02d.01.0", 10+e.M%3)); err != nil {
		return fmt.Errorf("release a node image: %w", err)
	}
	return aks.UpgradeNodeImage(h.pool.onPool())
}

// strikeNode does something to one of the pool's machines.
func (h *outOfBand) strikeNode(p *sim.Group, e script.Event) error {
	a := h.pool
	living := p.Staying()
	if len(living) == 0 {
		return nil
	}
	m := living[e.N%len(living)]
	if e.What == script.HandUnhealthy {
		return a.Cloud.Stop(m.ID)
	}
	a.World.Notes.Moved()
	if e.M%2 == 1 && !p.Autoscaled {
		return a.Cloud.Terminate(m.ID) // behind AKS's back; of a size that the autoscaler owns, the autoscaler would take notice
	}
	return a.World.Group.Do(sim.TerminateInstance, sim.Resource{Instance: m.Name})
}

// consent has the operator of the account allow the object to adopt the pool, as soon as AKS takes that.
func (h *outOfBand) consent() {
	a := h.pool
	if p := a.World.Group.Now(); p == nil || a.World.Group.Owner(p) != "" || p.Deleting || a.World.Gone() {
		return
	}
	if a.Cloud.AKS.TagPool(a.onPool(), azure.TagConsent, a.World.InfraKey().String()) != nil {
		a.World.At(time.Now().Add(planeAgain), h.consent)
	}
}

// stop stops the pool.
func (h *outOfBand) stop() error {
	h.pool.World.Notes.Moved()
	if err := h.pool.World.Group.Do(sim.StopGroup, sim.Resource{}); err != nil {
		return fmt.Errorf("stop the agent pool: %w", err)
	}
	h.stopped = true
	return nil
}

// start starts the pool if it was stopped, as soon as AKS accepts that. After a failed stop, AKS continues to stop the pool with the next
// request for it.
func (h *outOfBand) start() {
	a := h.pool
	p := a.agents()
	if p == nil || a.World.Gone() || p.State == "Deleting" || p.Power != "Stopped" && !h.stopped {
		return
	}
	if err := a.World.Group.Do(sim.StartGroup, sim.Resource{}); err != nil {
		a.World.At(time.Now().Add(planeAgain), h.start)
		return
	}
	h.stopped = false
	a.World.Notes.Moved()
}

// createForeign has another owner create a pool under the pool's name before the control plane is ready, and reports whether that is done.
// AKS accepts the owner tag once the pool exists. Every reader sees it by then: AKS returns no eTag, so a client with a stale read can't
// detect that the pool has got an owner meanwhile.
func (h *outOfBand) createForeign() bool {
	a := h.pool
	if a.plane.ready || a.plane.afresh || !a.World.Scenario.Has(script.HandForeign) {
		a.plane.ready = true
		return true
	}
	if a.World.Group.Now() == nil {
		a.World.Must(a.Cloud.AKS.CreatePool(a.onPool(), simazure.VMSize, 1), "make an agent pool by hand")
	}
	if h.tagged.IsZero() && a.Cloud.AKS.TagPool(a.onPool(), azure.TagOwner, "another-tool") == nil {
		h.tagged = time.Now()
	}
	a.plane.ready = !h.tagged.IsZero() && time.Since(h.tagged) > script.Unseen
	return a.plane.ready
}

// dropForeign deletes the pool of another owner that has the pool's name.
func (h *outOfBand) dropForeign() {
	if h.pool.World.Scenario.Has(script.HandForeign) {
		h.pool.World.Group.DropForeign()
	}
}

// newImage has AKS release a node image, and the object ask for it.
func (h *outOfBand) newImage(e script.Event) error {
	release := fmt.Sprintf("2026%02d.01.0", 10+e.N%3)
	if err := h.pool.Cloud.AKS.ReleaseImage(release); err != nil {
		return fmt.Errorf("release a node image: %w", err)
	}
	h.pool.World.Objects.EditObject(func(o client.Object) { agents(o).edit(func(s *agentSpec) { s.NodeImageVersion = &release }) })
	return nil
}

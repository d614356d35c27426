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

// change changes something of our agent pool, or of one of its machines.
func (a *pool) change(e world.Event) error {
	p := a.ours()
	if p == nil || p.State == "Deleting" {
		return nil
	}
	aks := a.Cloud.AKS
	switch e.What {
	case world.HandTerminate, world.HandUnhealthy:
		return a.strikeNode(p, e)
	case world.HandFail:
		return aks.FailPool(onPool, "InternalOperationError", "played by the explorer")
	case HandAbort:
		a.World.Notes.Moved()
		return aks.AbortPool(onPool)
	case HandStop:
		return a.stop()
	case HandStart:
		a.start()
		return nil
	case HandUpgrade:
		return a.upgradeByHand(e)
	case azure.HandQuota:
		return a.Cloud.SetQuota(simazure.Location, "cores", 2*(2+e.N))
	case world.HandHeal:
		return a.Cloud.ClearQuotas()
	}
	return a.toPool(p, e)
}

// toPool changes something of the agent pool that takes an operation.
func (a *pool) toPool(p *containerservice.InspectedPool, e world.Event) error {
	aks := a.Cloud.AKS
	switch e.What {
	case world.HandResize:
		a.World.Notes.Moved()
		return aks.ScalePool(onPool, max(e.N, 1))
	case world.Autoscaler:
		return a.autoscale(p, e.N)
	case NodeImage:
		return a.newImage(e)
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
		a.stopped = false
		a.World.Notes.Dropped()
	}
	return nil
}

// autoscale moves the pool's count as AKS's own autoscaler does, or another one.
func (a *pool) autoscale(p *containerservice.InspectedPool, n int) error {
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
func (a *pool) upgradeByHand(e world.Event) error {
	aks := a.Cloud.AKS
	if e.N%3 == 0 {
		return aks.UpgradePool(onPool, a.managedCluster().Version)
	}
	if err := aks.ReleaseImage(fmt.Sprintf("2026%02d.01.0", 10+e.M%3)); err != nil {
		return fmt.Errorf("release a node image: %w", err)
	}
	return aks.UpgradeNodeImage(onPool)
}

// strikeNode does something to one of the pool's machines.
func (a *pool) strikeNode(p *containerservice.InspectedPool, e world.Event) error {
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
func (a *pool) own() {
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
		a.World.At(time.Now().Add(planeAgain), a.own)
		return
	}
	a.World.Notes.Owned()
}

// stop stops the pool.
func (a *pool) stop() error {
	a.World.Notes.Moved()
	if err := a.Cloud.AKS.StopPool(onPool); err != nil {
		return fmt.Errorf("stop the agent pool: %w", err)
	}
	a.stopped = true
	return nil
}

// start starts the pool if it was stopped, as soon as AKS takes that. A stop that failed leaves a pool that AKS goes on to stop with
// whatever is asked of it next.
func (a *pool) start() {
	p := a.agents()
	if p == nil || a.World.Gone() || p.State == "Deleting" || p.Power != "Stopped" && !a.stopped {
		return
	}
	if err := a.Cloud.AKS.StartPool(onPool); err != nil {
		a.World.At(time.Now().Add(planeAgain), a.start)
		return
	}
	a.stopped = false
	a.World.Notes.Moved()
}

// foreignFirst has another owner create a pool of our name before the control plane is ready, and reports whether that is done. AKS takes
// the tag of the owner once the pool is there.
func (a *pool) foreignFirst() bool {
	if a.ready || a.afresh || !a.World.Scenario.Has(world.HandForeign) {
		a.ready = true
		return true
	}
	if a.agents() == nil {
		a.World.Must(a.Cloud.AKS.CreatePool(onPool, simazure.VMSize, 1), "make an agent pool by hand")
	}
	a.ready = a.Cloud.AKS.TagPool(onPool, azure.TagOwner, "another-tool") == nil
	return a.ready
}

// dropForeign deletes the pool of another owner that has our name, once AKS takes that.
func (a *pool) dropForeign() {
	p := a.agents()
	if p == nil || a.World.Gone() || p.Tags[azure.TagOwner] == a.World.Objects.Owner().ID || !a.World.Scenario.Has(world.HandForeign) ||
		p.State == "Deleting" {
		return
	}
	if a.Cloud.AKS.DeletePool(onPool) != nil {
		a.World.At(time.Now().Add(planeAgain), a.dropForeign)
	}
}

// newImage has AKS release a node image, and the object ask for it.
func (a *pool) newImage(e world.Event) error {
	release := fmt.Sprintf("2026%02d.01.0", 10+e.N%3)
	if err := a.Cloud.AKS.ReleaseImage(release); err != nil {
		return fmt.Errorf("release a node image: %w", err)
	}
	a.World.Objects.EditObject(func(o client.Object) { agents(o).edit(func(s *agentSpec) { s.NodeImageVersion = &release }) })
	return nil
}

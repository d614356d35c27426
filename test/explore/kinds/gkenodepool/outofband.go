package gkenodepool

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The out-of-band actions that exist only for node pools, of users and of GKE itself.
const (
	// HandUpgrade upgrades a node pool to the version of its control plane, as GKE does by itself, or changes its image.
	HandUpgrade script.What = "hand upgrades"
	// HandCancel cancels the operation that runs, HandRepair has GKE repair a node.
	HandCancel script.What = "hand cancels"
	HandRepair script.What = "GKE repairs a node"
	// HandDelete deletes an instance together with its place in its group.
	HandDelete script.What = "hand deletes a place"
	// HandBusy has GKE work on another node pool of the cluster.
	HandBusy script.What = "GKE works on another pool"
)

// outOfBand holds the out-of-band changes of the pool in the account.
type outOfBand struct{ pool *pool }

// change changes the node pool, or one of its machines.
func (h *outOfBand) change(e script.Event) error {
	p := h.pool
	switch e.What {
	case gcp.HandQuota:
		return p.SetQuota(2 + e.N)
	case script.HandHeal:
		return p.Heal()
	case HandBusy:
		return p.Cloud.GKE.ResizePool(onOther, 1+e.N%2)
	}
	n := p.World.Group.Owned()
	if n == nil {
		return nil
	}
	switch e.What {
	case HandRepair, HandDelete:
		return h.failInstance(n, e)
	case script.HandFail:
		return p.World.Group.Do(sim.FailRollout, sim.Resource{})
	case HandCancel:
		p.World.Notes.Moved()
		return h.cancel()
	case HandUpgrade:
		return h.upgradeOutOfBand(e)
	}
	return h.toPool(n, e)
}

// toPool changes something of the node pool that takes an operation.
func (h *outOfBand) toPool(n *sim.Group, e script.Event) error {
	p := h.pool
	switch e.What {
	case script.HandResize:
		if len(p.nodes().Groups) == 0 {
			return nil // GKE has only begun to create it, or failed to
		}
	case script.Autoscaler:
		return h.autoscale(n, e.N)
	case script.HandTags:
		return p.World.Group.Do(sim.ChangeTag, sim.Resource{Key: []string{"team", "stage", "theirs"}[e.N%3], Value: "hand"})
	}
	return p.World.Group.Change(n, e)
}

// labelPool gives a node pool exactly these labels.
func (h *outOfBand) labelPool(name string, labels map[string]string) error {
	return h.pool.Cloud.GKE.UpdatePool(world.ClusterName+"/"+name,
		document.Object{"resourceLabels": document.Object{"labels": document.OfStrings(labels)}})
}

// autoscale moves the pool's size as GKE's own autoscaler does, or another one, which sizes its groups.
func (h *outOfBand) autoscale(n *sim.Group, size int) error {
	p := h.pool
	groups := p.nodes().Groups
	if !p.World.Objects.External() || n.Busy || len(groups) == 0 {
		return nil
	}
	p.World.Notes.Moved()
	p.World.Notes.Autoscaled(n.Size)
	if n.Autoscaled {
		is, zones := p.shownPool().Autoscaling, len(groups)
		least, most := max(is.TotalMinNodeCount, zones*is.MinNodeCount), max(is.TotalMaxNodeCount, zones*is.MaxNodeCount)
		return p.World.Group.Do(sim.Autoscale, sim.Resource{Size: min(max(size, least), most)})
	}
	g := groups[size%len(groups)]
	return p.World.RetryAsUser(func(ctx context.Context) error {
		path := strings.TrimPrefix(g.Path, "projects/"+gcp.Project+"/")
		return p.Ask(ctx, http.MethodPost, path+"/resize?size="+strconv.Itoa(size), nil)
	})
}

// cancel cancels the operation that runs on the pool.
func (h *outOfBand) cancel() error {
	var list struct {
		Operations []struct{ Name, Status, TargetLink string }
	}
	if err := h.pool.ask(http.MethodGet, "projects/"+gcp.Project+"/locations/"+gcp.Region+"/operations", nil, &list); err != nil {
		return err
	}
	for _, o := range list.Operations {
		if o.Status != "DONE" && strings.HasSuffix(o.TargetLink, "/nodePools/"+h.pool.World.InfraKey().Name) {
			return h.pool.ask(http.MethodPost, "projects/"+gcp.Project+"/locations/"+gcp.Region+"/operations/"+o.Name+":cancel", nil, &struct{}{})
		}
	}
	return nil
}

// upgradeOutOfBand upgrades the pool to the version of its control plane, or changes its image.
func (h *outOfBand) upgradeOutOfBand(e script.Event) error {
	p := h.pool
	if e.N%3 > 0 {
		return p.World.Group.Do(sim.UpgradeGroup, sim.Resource{})
	}
	return p.Cloud.GKE.UpdatePool(onPool, document.Object{"imageType": []string{image, otherImage}[e.M%2], "nodeVersion": p.nodes().Wanted})
}

// failInstance does something to one of the pool's machines.
func (h *outOfBand) failInstance(n *sim.Group, e script.Event) error {
	p := h.pool
	living := slices.DeleteFunc(n.Staying(), func(m sim.Member) bool { return m.ID == "" })
	if len(living) == 0 {
		return nil
	}
	m := living[e.N%len(living)]
	p.World.Notes.Moved()
	if e.What == HandRepair {
		return p.Cloud.GKE.Repair(onPool, m.Name)
	}
	return p.World.RetryAsUser(func(ctx context.Context) error {
		return p.Ask(ctx, http.MethodPost, p.groupOf(m)+"/deleteInstances", map[string]any{"instances": []string{m.Ref}})
	})
}

// groupOf returns the path of the instance group of a machine, below its project.
func (p *pool) groupOf(is sim.Member) string {
	for _, m := range p.nodes().Machines {
		if m.Name == is.Name {
			return strings.TrimPrefix(m.Group, "projects/"+gcp.Project+"/")
		}
	}
	return ""
}

// createForeign has another owner create its pool before the control plane is ready, and reports whether that is done: under the pool's
// name, under the name in the object, or as the pool to adopt. The owner label comes once the pool exists.
func (h *outOfBand) createForeign() bool {
	p := h.pool
	s := p.World.Scenario
	switch name := h.foreignName(); {
	case p.plane.ready:
	case s.Adopted:
		if p.plane.ready = p.World.Group.Now() != nil; !p.plane.ready {
			h.createForAnother()
		}
	case !s.Named && !s.Has(script.HandForeign):
		p.plane.ready = true
	case p.World.Cloud.Snapshot().Group(name) == nil:
		_ = p.Cloud.GKE.CreatePool(world.ClusterName+"/"+name, gcp.MachineType, 1) // it is tried again
	default:
		p.plane.ready = h.labelPool(name, map[string]string{gcp.LabelOwner: "another-tool"}) == nil
	}
	return p.plane.ready
}

// foreignName returns the name of another owner's pool.
func (h *outOfBand) foreignName() string {
	if h.pool.World.Scenario.Named {
		return world.TheirGroup
	}
	return h.pool.World.InfraKey().Name
}

// dropForeign deletes the pool of another owner that has the pool's name, or the name in the object, once GKE accepts that.
func (h *outOfBand) dropForeign() {
	p := h.pool
	s := p.World.Scenario
	if !s.Named && !s.Has(script.HandForeign) {
		return
	}
	if !p.plane.ready {
		p.World.At(time.Now().Add(planeAgain), h.dropForeign) // it is still to come
		return
	}
	p.World.Group.DropForeign()
}

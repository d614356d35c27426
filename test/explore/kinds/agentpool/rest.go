package agentpool

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	muster "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// rest compares the pool with its objects at the end of a scenario.
type rest struct{ pool *pool }

// busy reports whether AKS is at work on the pool or its cluster.
func (r *rest) busy() bool {
	c, p := r.pool.managedCluster(), r.pool.agents()
	return c != nil && c.State != "Succeeded" && c.State != "Failed" && c.State != "Canceled" || p != nil && p.Busy
}

// want returns the state that the objects of an agent pool ask for.
func (r *rest) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := agents(o).spec()
	want := r.pool.World.Group.Want(mp, s.AdditionalTags)
	maps.Copy(want, map[string]string{
		"state": "Succeeded", "type": s.SKU, "mode": s.Mode, "tier": s.NodeLabels["tier"], "label team": s.NodeLabels["team"],
		"autoscaled": strconv.FormatBool(s.Scaling != nil), "version": strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v"),
	})
	wantSettings(s, want)
	if oldest := r.oldestImage(); s.NodeImageVersion != nil && oldest != "" {
		want["image"] = max(*s.NodeImageVersion, oldest)
	}
	r.leaveToOthers(mp, s, want)
	return want
}

// wantSettings adds the wanted taints, bounds and upgrade settings to want.
func wantSettings(s agentSpec, want map[string]string) {
	var taints []string
	for _, t := range s.Taints {
		taints = append(taints, t.Key+"="+t.Value+":"+t.Effect)
	}
	want["taints"] = strings.Join(taints, ",")
	if c := s.Scaling; c != nil {
		want["min"], want["max"] = strconv.Itoa(ptr.Deref(c.MinSize, 0)), strconv.Itoa(ptr.Deref(c.MaxSize, 0))
	}
	if s.ScaleDownMode != nil {
		want["scale down"] = *s.ScaleDownMode
	}
	if u := s.UpgradeSettings; u != nil {
		want["surge"], want["unavailable"] = ptr.Deref(u.MaxSurge, ""), ptr.Deref(u.MaxUnavailable, "")
	}
}

// leaveToOthers leaves out what only a user or the autoscaler can bring about.
func (r *rest) leaveToOthers(mp *clusterv1.MachinePool, s agentSpec, want map[string]string) {
	a := r.pool
	if p := a.agents(); p != nil && r.beyond(p.Version) && newer(p.Version, want["version"]) {
		delete(want, "version") // AKS takes no version back
	}
	if a.World.Objects.External() {
		// No machine may be removed without a replacement, and none is added to a size that an autoscaler owns. The object reports this.
		delete(want, "old")
	}
	status := a.World.Objects.StatusText()
	boundReported := strings.Contains(status, "maxSize") || strings.Contains(status, "maxCount")
	if c := s.Scaling; c != nil && boundReported && int(ptr.Deref(mp.Spec.Replicas, 1)) > ptr.Deref(c.MaxSize, world.Plenty) {
		delete(want, "max") // the autoscaler has to make the pool smaller first
		delete(want, "ready")
	}
	leaveMode(mp, s, status, want)
	r.leaveSize(status, want)
	r.leaveExcess(want)
	if a.World.Objects.External() && strings.Contains(status, "can't be replaced") {
		for _, name := range []string{"joined", "in service", "ready nodes", "pool ready nodes", "ready", "pool", "stale", "version", "type",
			"image"} {
			delete(want, name) // a machine failed, and its removal would lower the autoscaler's size: the user is told what to do
		}
	}
}

// beyond reports whether a user can have brought the pool to a version beyond that of its MachinePool: in the portal, or by a managed
// cluster that was created with a newer one.
func (r *rest) beyond(version string) bool {
	a := r.pool
	return a.World.Scenario.Has(HandUpgrade) || own(a.World.Scenario).System && version == a.plane.born
}

// leaveSize leaves out the size of machines that AKS does not change, which a condition reports: without the feature never, after a refusal
// that was a fault for an hour. Machines of a size that never join stay.
func (r *rest) leaveSize(status string, want map[string]string) {
	p := r.pool.agents()
	refuses := own(r.pool.World.Scenario).NoResize || strings.Contains(status, "played by the explorer")
	if p == nil || !refuses || !strings.Contains(status, "AKS refuses to change") {
		return
	}
	want["type"] = p.Size
	delete(want, "ready")
	delete(want, "pool")
	if p.Size == azure.BadType {
		for _, name := range []string{"joined", "in service", "ready nodes", "pool ready nodes"} {
			delete(want, name)
		}
	}
}

// leaveMode ignores the mode of a pool without machines that is to become a System pool: AKS requires a node for that, and a message
// reports it.
func leaveMode(mp *clusterv1.MachinePool, s agentSpec, status string, want map[string]string) {
	if s.Mode != aksv1.ModeSystem || ptr.Deref(mp.Spec.Replicas, 1) > 0 || !strings.Contains(status, "ModePending") {
		return
	}
	want["mode"], want["ready"] = aksv1.ModeUser, "False"
	delete(want, "pool")
}

// clearBlockers removes what keeps Azure from creating machines, and acts as a user who restores what the objects ask for: it starts a
// stopped pool, recreates a managed cluster whose first machines never joined, and adopts a pool that was created with its cluster for an
// object that a backup has replaced. A managed cluster of manifests has no tag with its Cluster: there the operator of the account
// consents.
func (r *rest) clearBlockers() {
	a := r.pool
	a.ClearBlockers()
	a.plane.afresh = true
	a.outOfBand.start()
	r.openNodes()
	r.askAgain()
	r.dropUnjoined()
	if p := a.agents(); own(a.World.Scenario).System && a.World.Scenario.Has(script.Restored) && p != nil && p.Tags[azure.TagOwner] == "" {
		a.World.Objects.Annotate(0, muster.AdoptAnnotation, a.World.InfraKey().Name)
		if own(a.World.Scenario).Manifest {
			a.outOfBand.consent()
		}
	}
}

// openNodes has a user open the nodes that AKS left closed: those of an operation that failed, and one that a machine took over which was
// made under the name of another.
func (r *rest) openNodes() {
	a := r.pool
	p := a.World.Group.Now()
	if p == nil || a.World.Gone() {
		return
	}
	if p.Busy {
		a.World.At(time.Now().Add(planeAgain), r.openNodes)
		return
	}
	a.World.Group.Reopen()
}

// askAgain has AKS's autoscaler set the count once more where the last operation did not end well.
func (r *rest) askAgain() {
	a := r.pool
	p := a.World.Group.Now()
	if p == nil || !p.Autoscaled || p.State != "Failed" && p.State != "Canceled" {
		return
	}
	if err := a.Cloud.AKS.Autoscale(a.onPool(), p.Size); err != nil {
		a.World.Trace("hand", "failed: %v", err)
	}
}

// provisionTime bounds how long a machine may take to join before AKS's autoscaler deletes it. It is the value of max-node-provision-time.
const provisionTime = 15 * time.Minute

// dropUnjoined has AKS's autoscaler delete a machine that does not join, as soon as AKS takes that.
func (r *rest) dropUnjoined() {
	a := r.pool
	p := a.World.Group.Now()
	if p == nil || !p.Autoscaled || a.World.Gone() {
		return
	}
	for _, m := range a.World.Group.Living() {
		if a.World.Workload.Node(m.ID) != nil || time.Since(m.Created) < provisionTime {
			continue
		}
		if a.Cloud.AKS.DeleteMachine(a.onPool(), m.Name) == nil {
			a.World.Notes.Moved()
			a.World.Trace("hand", "the autoscaler deletes %s, which does not join", m.Name)
		}
		break
	}
	a.World.At(time.Now().Add(autoscalerAgain), r.dropUnjoined)
}

// autoscalerAgain spaces the looks of AKS's autoscaler for machines that do not join.
const autoscalerAgain = 20 * time.Second

// newer reports whether a version of the form 1.31.2 is newer than another one whose patch is the same.
func newer(is, than string) bool { return is > than }

// is returns the state of an agent pool.
func (r *rest) is() map[string]string {
	a := r.pool
	is := map[string]string{}
	if p := a.agents(); p != nil {
		shown := a.shownPool()
		is["state"], is["type"], is["version"], is["mode"] = p.State, p.Size, p.Version, p.Mode
		is["tier"], is["label team"], is["taints"] = p.Labels["tier"], p.Labels["team"], strings.Join(ofUser(shown.NodeTaints), ",")
		is["autoscaled"], is["min"], is["max"] = strconv.FormatBool(shown.EnableAutoScaling), strconv.Itoa(shown.MinCount),
			strconv.Itoa(shown.MaxCount)
		is["scale down"], is["surge"], is["unavailable"] = shown.ScaleDownMode, shown.UpgradeSettings.MaxSurge,
			shown.UpgradeSettings.MaxUnavailable
		if p.State == "Canceled" || p.State == "Failed" {
			is["state"] = "Succeeded" // the last operation did not end well, and left nothing undone: what it left is looked at by itself
			if !p.Autoscaled {
				is["size"] = strconv.Itoa(min(p.Count, len(p.Machines)))
			}
		}
		is["image"] = r.oldestImage()
	}
	return a.World.Group.Is(func(m sim.Member) bool { return !m.Leaving }, is)
}

// ofUser returns the taints without the one that AKS gives spot nodes.
func ofUser(taints []string) []string {
	return slices.DeleteFunc(slices.Clone(taints), func(t string) bool {
		return strings.HasPrefix(t, "kubernetes.azure.com/scalesetpriority=")
	})
}

// oldestImage returns the release of the oldest node image of the pool's machines, "" without any.
func (r *rest) oldestImage() (oldest string) {
	p := r.pool.agents()
	if p == nil {
		return ""
	}
	for _, m := range slices.DeleteFunc(slices.Clone(p.Machines), leaves) {
		if release := m.Image[strings.LastIndex(m.Image, "-")+1:]; oldest == "" || release < oldest {
			oldest = release
		}
	}
	return oldest
}

// leaveExcess ignores machines that an aborted operation has launched above a size that Muster does not own: AKS keeps them until the pool
// is changed.
func (r *rest) leaveExcess(want map[string]string) {
	p := r.pool.agents()
	if p == nil || !r.pool.World.Objects.External() || launchedOf(p) <= p.Count {
		return
	}
	for _, name := range []string{"joined", "in service", "ready nodes", "pool ready nodes", "pool replicas", "pool"} {
		delete(want, name)
	}
}

// launchedOf counts the machines of an agent pool that are neither being deleted nor deallocated.
func launchedOf(p *containerservice.InspectedPool) (n int) {
	for _, m := range p.Machines {
		if !m.Deleting && !m.Deallocated {
			n++
		}
	}
	return n
}

package gkenodepool

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// rest compares the pool with its objects at the end of a scenario.
type rest struct{ pool *pool }

// busy reports whether GKE is at work on the cluster or the pool.
func (r *rest) busy() bool {
	c, n := r.pool.cluster(), r.pool.nodes()
	return c != nil && c.Busy || n != nil && n.Busy
}

// want returns the state that the objects of a node pool ask for.
func (r *rest) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := object(o).Spec
	want := r.pool.World.Group.Want(mp, map[string]string{
		"team": string(s.AdditionalLabels["team"]), "stage": string(s.AdditionalLabels["stage"]),
	})
	maps.Copy(want, map[string]string{
		"state": "RUNNING", "label theirs": "", "type": s.Machine(), "tier": string(s.KubernetesLabels["tier"]),
		"label team": string(s.KubernetesLabels["team"]), "autoscaled": strconv.FormatBool(s.Scaling.On()),
		"version": strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v"),
	})
	r.wantSettings(&s, want)
	r.leaveToOthers(mp, want)
	return want
}

// wantSettings adds the wanted taints, zones, bounds and upgrade settings to want. GKE chooses what the object leaves out.
func (r *rest) wantSettings(s *spec, want map[string]string) {
	var taints []string
	for _, t := range s.KubernetesTaints {
		taints = append(taints, t.Key+"="+t.Value+":"+t.Effect)
	}
	want["taints"], want["zones"] = strings.Join(taints, ","), strings.Join(s.NodeLocations, ",")
	if s.Scaling.On() {
		least, most := bounds(&gcpv1.GCPManagedMachinePool{Spec: *s})
		want["min"], want["max"] = strconv.Itoa(int(least)), strconv.Itoa(int(most))
	}
	if s.ImageType != nil {
		want["image"] = *s.ImageType
	}
	if size := s.DiskSize(); size != 0 {
		want["disk"] = strconv.FormatInt(size, 10)
	}
	if m := s.Management; m != nil {
		want["repairs"], want["upgrades"] = strconv.FormatBool(m.AutoRepair), strconv.FormatBool(m.AutoUpgrade)
	}
	switch u := s.UpgradeSettings; {
	case u == nil:
	case u.Strategy == gcpv1.UpgradeBlueGreen:
		want["strategy"] = "BLUE_GREEN"
	default:
		want["strategy"], want["surge"], want["unavailable"] = "SURGE", world.Itoa(u.MaxSurge), world.Itoa(u.MaxUnavailable)
	}
}

// leaveToOthers leaves out what only a user or the autoscaler can bring about.
func (r *rest) leaveToOthers(mp *clusterv1.MachinePool, want map[string]string) {
	r.leaveToUsers(want)
	if !r.pool.World.Objects.External() {
		return
	}
	// No machine may be removed without a replacement, and none is added to a size that an autoscaler owns. The object reports this.
	delete(want, "old")
	if most, err := strconv.Atoi(want["max"]); err == nil && int(ptr.Deref(mp.Spec.Replicas, 1)) > most {
		delete(want, "ready") // the autoscaler has to make the pool smaller first
	}
	if strings.Contains(r.pool.World.Objects.StatusText(), "can't be replaced") {
		for _, name := range []string{"joined", "in service", "ready nodes", "pool ready nodes", "ready", "pool", "stale", "version", "type"} {
			delete(want, name) // a machine failed, and its removal would lower the autoscaler's size: the user is told what to do
		}
	}
}

// leaveToUsers removes from the wanted state what an upgrade of the pool by a user changes.
func (r *rest) leaveToUsers(want map[string]string) {
	p := r.pool
	has := p.World.Scenario.Has
	if !has(HandUpgrade) {
		return
	}
	if n := p.nodes(); n != nil && n.Version > want["version"] && !strings.HasPrefix(n.Version, want["version"]+"-") {
		delete(want, "version") // a version beyond it is kept
	}
	if has(HandCancel) || has(script.HandFail) || has(gcp.HandQuota) || p.World.Scenario.KeepsFromJoining() {
		delete(want, "stale") // an upgrade that ended early has left machines of a newer version, or with an image that the object does not name
	}
}

// is returns the state of a node pool.
func (r *rest) is() map[string]string {
	p := r.pool
	is := map[string]string{}
	if n := p.nodes(); n != nil {
		version, _, _ := strings.Cut(n.Version, "-gke.")
		is["state"], is["type"], is["version"], is["label theirs"] = n.Status, n.MachineType, version, n.Resource["theirs"]
		is["tier"], is["label team"] = n.Labels["tier"], n.Labels["team"]
		if n.Status == "RUNNING_WITH_ERROR" {
			is["state"] = "RUNNING" // the last operation did not end well, and left nothing undone: what it left is looked at by itself
		}
		r.isSettings(n, is)
	}
	return p.World.Group.Is(func(m sim.Member) bool { return !m.Leaving }, is)
}

// effects are the effects of taints in Kubernetes' words, by GKE's.
var effects = map[string]string{"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}

// isSettings adds the settings with which GKE runs the pool.
func (r *rest) isSettings(n *container.InspectedPool, is map[string]string) {
	shown := r.pool.shownPool()
	var taints []string
	for _, t := range shown.Config.Taints {
		taints = append(taints, t.Key+"="+t.Value+":"+effects[t.Effect])
	}
	is["taints"], is["image"], is["disk"] = strings.Join(taints, ","), shown.Config.ImageType, shown.Config.BootDisk.SizeGb.String()
	a, zones := shown.Autoscaling, len(n.Groups)
	is["zones"] = strings.Join(slices.Sorted(slices.Values(shown.Locations)), ",")
	is["autoscaled"] = strconv.FormatBool(a.Enabled)
	is["min"], is["max"] = strconv.Itoa(max(a.TotalMinNodeCount, zones*a.MinNodeCount)),
		strconv.Itoa(max(a.TotalMaxNodeCount, zones*a.MaxNodeCount))
	is["repairs"], is["upgrades"] = strconv.FormatBool(shown.Management.AutoRepair), strconv.FormatBool(shown.Management.AutoUpgrade)
	u := shown.UpgradeSettings
	is["strategy"], is["surge"], is["unavailable"] = u.Strategy, strconv.Itoa(u.MaxSurge), strconv.Itoa(u.MaxUnavailable)
}

// clearBlockers removes what keeps Google from creating machines, and acts as users where only they can: it uncordons nodes that a failed
// operation of GKE left cordoned, sends a request to a node pool that such an operation left in an error, and deletes machines that never
// join, which GKE and Muster leave alone. A node pool that GKE does not create because it would lag too far behind its control plane gets a
// newer version.
func (r *rest) clearBlockers() {
	r.pool.ClearBlockers()
	r.catchUp()
	r.openNodes()
	r.pool.World.At(time.Now().Add(world.JoinsWithin), func() {
		r.dropUnjoined()
		r.askAgain()
	})
}

// catchUp asks for a newer version once the object reports that GKE refuses the wanted one.
func (r *rest) catchUp() {
	p := r.pool
	switch {
	case p.World.Group.Ours(p.World.Group.Now()) || p.World.Gone():
	case strings.Contains(p.World.Objects.StatusText(), "must be within one minor version of master version"):
		p.plane.Follow()
	default:
		p.World.At(time.Now().Add(time.Minute), r.catchUp)
	}
}

// askAgain has a user send a request that changes nothing to a node pool whose last operation failed when no node was ready: GKE shows the
// error until another one has ended well, although the machines came later.
func (r *rest) askAgain() {
	p := r.pool
	n := p.World.Group.Now()
	if !p.World.Group.Ours(n) || !n.Failed {
		return
	}
	p.World.Notes.Moved()
	if err := p.outOfBand.labelPool(n.Name, n.Tags); err != nil {
		p.World.Trace("hand", "failed: %v", err)
		if r.busy() {
			p.World.At(time.Now().Add(planeAgain), r.askAgain)
		}
	}
}

// dropUnjoined deletes the machines that should have joined long ago.
func (r *rest) dropUnjoined() {
	p := r.pool
	n := p.World.Group.Now()
	if !p.World.Group.Ours(n) {
		return
	}
	for _, m := range n.Staying() {
		if m.ID == "" || m.State != "RUNNING" || time.Since(m.Created) < world.JoinsWithin || m.Type == gcp.BadType ||
			p.World.Workload.Node(m.ID) != nil {
			continue
		}
		p.World.Notes.Moved()
		if err := p.Cloud.Terminate(m.ID); err != nil {
			p.World.Trace("hand", "failed: %v", err)
		}
	}
}

// openNodes has a user open the nodes that an operation of GKE left closed which failed.
func (r *rest) openNodes() {
	p := r.pool
	n := p.World.Group.Now()
	if has := p.World.Scenario.Has; n == nil || n.Busy || !has(script.HandFail) && !has(HandRepair) {
		return
	}
	for _, m := range n.Staying() {
		node := p.World.Workload.Node(m.ID)
		if node != nil && node.Spec.Unschedulable && node.Annotations[nodes.DrainStartedAnnotation] == "" {
			p.World.Workload.Cordon(m.ID, false)
		}
	}
}

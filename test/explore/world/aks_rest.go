package world

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// atWork reports whether AKS is at work on the pool or its cluster.
func (a *account) atWork() bool {
	c, p := a.managedCluster(), a.agents()
	return c != nil && c.State != "Succeeded" && c.State != "Failed" && c.State != "Canceled" || p != nil && p.Busy
}

// wantAgents is what the objects of an agent pool ask for.
func (w *World) wantAgents(mp *clusterv1.MachinePool, o *infra) map[string]string {
	s := o.agents.spec()
	want := map[string]string{
		"group": "1", "state": "Succeeded", "owner": w.owner().ID, "team": s.AdditionalTags["team"], "stage": s.AdditionalTags["stage"], "cluster": clusterName,
		"type": s.SKU, "mode": s.Mode, "tier": s.NodeLabels["tier"], "label team": s.NodeLabels["team"], "autoscaled": strconv.FormatBool(s.Scaling != nil),
		"version":  strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v"),
		"cordoned": "0", "stale": "0", "old": "0", "ready": "True", "pool": "Running",
	}
	wantSettings(s, want)
	for what, by := range w.account.notes {
		want[what] = by
	}
	size := itoa(ptr.To(ptr.Deref(mp.Spec.Replicas, 1)))
	for _, name := range []string{"size", "in service", "joined", "ready nodes", "pool ready nodes", "pool replicas"} {
		want[name] = size
	}
	w.leaveToOthers(mp, s, want)
	return want
}

// wantSettings is what is wanted of taints, bounds and upgrades.
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
func (w *World) leaveToOthers(mp *clusterv1.MachinePool, s agentSpec, want map[string]string) {
	if p := w.account.agents(); p != nil && w.scenario.Has(HandUpgrade) && newer(p.Version, want["version"]) {
		delete(want, "version") // a user has upgraded the pool beyond it, and AKS takes no version back
	}
	if w.external() {
		delete(want, "old") // no machine may be removed that is not replaced, and none is added to a size that an autoscaler owns, which the object says
	}
	if c := s.Scaling; c != nil && int(ptr.Deref(mp.Spec.Replicas, 1)) > ptr.Deref(c.MaxSize, plenty) && strings.Contains(w.says(), "maxSize") {
		delete(want, "max") // the autoscaler has to make the pool smaller first
		delete(want, "ready")
	}
	w.leaveExcess(want)
	if w.external() && strings.Contains(w.says(), "can't be replaced") {
		for _, name := range []string{"joined", "in service", "ready nodes", "pool ready nodes", "ready", "pool", "stale", "version", "type"} {
			delete(want, name) // a machine failed, and its removal would lower the autoscaler's size: the user is told what to do
		}
	}
}

// tellAKS has a user do what the objects ask for: start a pool that is stopped, and adopt one that was created with its cluster for an
// object that a backup has replaced.
func (w *World) tellAKS() {
	w.startAgents()
	w.openNodes()
	w.askAgain()
	if p := w.account.agents(); w.scenario.System && w.scenario.Has(Restored) && p != nil && p.Tags[tagOwnerAzure] == "" {
		w.annotate(0, pool.AdoptAnnotation, infraKey.Name)
	}
}

// openNodes has a user open the nodes that an operation of AKS left closed which failed.
func (w *World) openNodes() {
	p := w.account.agents()
	if p == nil || p.Busy || !w.scenario.Has(HandFail) {
		return
	}
	for _, m := range p.Machines {
		is := w.workload.by[m.UID]
		if is == nil || !is.joined || leaves(m) {
			continue
		}
		if node := w.workload.node(is); node != nil && node.Spec.Unschedulable && node.Annotations[drain.StartedAnnotation] == "" {
			w.workload.Cordon(m.UID, false)
		}
	}
}

// askAgain has AKS's autoscaler set the count once more where the last operation did not end well.
func (w *World) askAgain() {
	p := w.account.agents()
	if p == nil || !p.Autoscaled || p.State != "Failed" && p.State != "Canceled" {
		return
	}
	if err := w.account.azure.AKS.Autoscale(onPool, p.Count); err != nil {
		w.trace.add("hand", "failed: %v", err)
	}
}

// newer reports whether a version of the form 1.31.2 is newer than another one whose patch is the same.
func newer(is, than string) bool { return is > than }

// isAgents says what there is of an agent pool.
func (w *World) isAgents() map[string]string {
	is := map[string]string{"group": "0"}
	p := w.account.agents()
	if p == nil {
		return is
	}
	shown := w.account.shownPool()
	is["group"], is["state"], is["size"], is["type"], is["version"], is["mode"] = "1", p.State, strconv.Itoa(p.Count), p.Size, p.Version, p.Mode
	is["owner"], is["team"], is["stage"], is["cluster"], is["tag theirs"] = p.Tags[tagOwnerAzure], p.Tags["team"], p.Tags["stage"], p.Tags["muster.dev_cluster"], p.Tags[theirs]
	is["tier"], is["label team"], is["taints"] = p.Labels["tier"], p.Labels["team"], strings.Join(shown.NodeTaints, ",")
	is["autoscaled"], is["min"], is["max"] = strconv.FormatBool(shown.EnableAutoScaling), strconv.Itoa(shown.MinCount), strconv.Itoa(shown.MaxCount)
	is["scale down"], is["surge"], is["unavailable"] = shown.ScaleDownMode, shown.UpgradeSettings.MaxSurge, shown.UpgradeSettings.MaxUnavailable
	if p.State == "Canceled" || p.State == "Failed" {
		is["state"] = "Succeeded" // the last operation did not end well, and left nothing undone: what it left is looked at by itself
		if !p.Autoscaled {
			is["size"] = strconv.Itoa(min(p.Count, len(p.Machines)))
		}
	}
	stale, old := w.left()
	is["stale"], is["old"] = strconv.Itoa(stale), strconv.Itoa(old)
	living, joined, cordoned := w.nodesOf(p)
	is["in service"], is["joined"], is["cordoned"] = strconv.Itoa(living), strconv.Itoa(joined), strconv.Itoa(cordoned)
	w.told(is)
	return is
}

// nodesOf counts the machines of the pool that live, those of them that have joined, and those whose nodes are cordoned.
func (w *World) nodesOf(p *containerservice.InspectedPool) (living, joined, cordoned int) {
	for _, m := range slices.DeleteFunc(slices.Clone(p.Machines), leaves) {
		living++
		is := w.workload.by[m.UID]
		if is == nil || !is.joined || !is.off.IsZero() {
			continue
		}
		if node := w.workload.node(is); node != nil {
			joined++
			if node.Spec.Unschedulable {
				cordoned++
			}
		}
	}
	return living, joined, cordoned
}

// unjoinedAgents reports whether a machine of the pool is still to join.
func (w *World) unjoinedAgents() bool {
	p := w.account.agents()
	if p == nil {
		return false
	}
	living, joined, _ := w.nodesOf(p)
	return joined < living
}

// leaveExcess leaves out what an aborted operation has launched beside a size that is not Muster's to change: AKS keeps it until the pool is
// changed.
func (w *World) leaveExcess(want map[string]string) {
	p := w.account.agents()
	if p == nil || !w.external() || launchedOf(p) <= p.Count {
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

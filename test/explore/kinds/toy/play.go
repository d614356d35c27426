package toy

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/managed"
	simtoy "github.com/muster-project/muster/sim/toy"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The events that exist only for pools of the toy cloud: a user upgrades one to the next version that its control plane allows, or cancels
// the running operation.
const (
	HandUpgrade script.What = "hand upgrades"
	HandCancel  script.What = "hand cancels"
)

var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Bounds, script.Template, script.Template, script.Template,
	script.Back,
	script.GroupEdit, script.GroupEdit, script.GroupEdit, script.External, script.Autoscaler, script.Autoscaler, script.BadTemplate,
	script.RestartNow, script.RestartNow, script.Hold, script.Upgrade, script.Upgrade, script.Upgrade, script.Mark, script.Mark,
	script.HandTerminate, script.HandTerminate, script.HandFail, script.HandUnhealthy, script.HandResize, script.HandTags, script.HandDisown,
	script.HandDropGroup, HandUpgrade, HandUpgrade, HandCancel, HandCancel,
}, script.CommonEvents()...)

var actions = []string{"*", "*", "Get*", "List*", "ListNodes", "CreatePool", "UpdatePool", "UpdatePool", "DeleteNodes", "DeleteNodes",
	"DeletePool", "CancelOperation", "GetMachineType"}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	s := &d.Scenario
	d.DrawManaged(func() { s.Own = d.IntN(len(upgrades)) }, func() int { return d.IntN(3) }, func() {
		if d.IntN(8) == 0 {
			s.Add(script.Event{What: script.HandForeign, N: d.IntN(3)})
			s.Add(script.Event{What: script.HandDropForeign, At: time.Minute + d.Moment()})
		}
	})
	d.Adopted()
}

// golden are scenarios that are disturbed at every effect.
func golden() []script.Scenario {
	at := func(name string, events ...script.Event) script.Scenario {
		s := script.Scenario{Name: "toy: " + name, Own: 0, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2,
			Speed: 5}
		return s.With(events...)
	}
	return []script.Scenario{
		at("create"),
		at("scale in and out again", script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at("version step", script.Event{What: script.Upgrade, N: 1, M: 1}),
		at("restart", script.Event{What: script.RestartNow}),
		at("deletion", script.Event{What: script.Delete}),
	}
}

// change changes the pool's group out of band: with the actions of this cloud alone, or with those for groups of every kind.
func (p *pool) change(e script.Event) error {
	g := p.world.Group.Owned()
	if g == nil {
		return nil
	}
	switch e.What {
	case script.HandFail:
		return p.world.Group.Do(sim.FailRollout, sim.Resource{})
	case HandCancel:
		p.world.Notes.Moved()
		return p.world.Group.Do(sim.CancelRollout, sim.Resource{})
	case HandUpgrade:
		next := world.Minor(min(managed.Minor(g.Kubernetes)+1, p.minor)) + patch
		return p.world.Group.Do(sim.UpgradeGroup, sim.Resource{Value: next})
	case script.HandTags: // none stays that the object does not name
		return p.world.Group.Do(sim.ChangeTag, sim.Resource{Key: []string{"team", "stage", world.Theirs}[e.N%3], Value: "hand"})
	case script.Autoscaler:
		if p.world.Objects.External() && g.Autoscaled {
			p.world.Notes.Moved()
			p.world.Notes.Autoscaled(g.Size)
			return p.world.Group.Do(sim.Autoscale, sim.Resource{Size: min(max(e.N, g.Min), g.Max)})
		}
	}
	return p.world.Group.Change(g, e)
}

// theirs has another tool create a pool, with what the objects of the scenario ask for.
func (p *pool) theirs(name string, tags map[string]string) {
	s := simtoy.Theirs(p.version(), "medium", tags)
	s.Count, s.Labels = p.world.Scenario.Replicas, map[string]string{"tier": "a"}
	if p.world.Scenario.External {
		s.Autoscaled, s.Min, s.Max = true, p.world.Scenario.Least, p.world.Scenario.Most
	}
	if err := p.sim.Console.Create(world.ClusterName, name, s); err != nil {
		p.world.Trace("hand", "failed: %v", err)
	}
}

// foreign has another owner create a pool: under another name, under the pool's name before the pool exists, or both.
func (p *pool) foreign(n int) {
	for _, name := range [][]string{{world.TheirGroup}, {p.world.Group.Name()}, {world.TheirGroup, p.world.Group.Name()}}[n] {
		p.theirs(name, map[string]string{p.world.Scenario.Kind.OwnerTag: "another-tool"})
	}
}

// forAnother has another tool create the pool that is adopted, and the operator allow it.
func (p *pool) forAnother() string {
	p.theirs(adoptName, map[string]string{"team": "a", "muster.dev/adopt-by": world.InfraKey.Namespace + "/" + world.InfraKey.Name})
	return poolID(adoptName)
}

// want returns the state that the objects ask for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := object(o).Spec.Spec
	want := p.world.Group.Want(mp, s.Tags)
	maps.Copy(want, map[string]string{
		"type": s.MachineType, "tier": s.Labels["tier"], "label team": s.Labels["team"], "tag theirs": "",
		"version": strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v"), "autoscaled": strconv.FormatBool(s.Autoscaling != nil),
	})
	if a := s.Autoscaling; a != nil {
		want["min"], want["max"] = strconv.Itoa(a.Min), strconv.Itoa(a.Max)
	}
	if g := p.world.Group.Now(); g != nil && p.world.Scenario.Has(HandUpgrade) && managed.CompareVersions(g.Kubernetes, want["version"]) > 0 {
		delete(want, "version") // the cloud takes no version back
	}
	if p.world.Objects.External() {
		delete(want, "old") // a size that an autoscaler owns gets no node more
		if most, err := strconv.Atoi(want["max"]); err == nil && int(ptr.Deref(mp.Spec.Replicas, 1)) > most {
			delete(want, "ready") // the autoscaler has to make the pool smaller first
		}
	}
	return want
}

// is returns the state of the pool.
func (p *pool) is() map[string]string {
	more := map[string]string{}
	if g := p.world.Group.Now(); g != nil {
		more["type"], more["version"], more["autoscaled"] = g.Type, g.Kubernetes, strconv.FormatBool(g.Autoscaled)
		more["tier"], more["label team"] = g.Labels["tier"], g.Labels["team"]
	}
	return p.world.Group.Is(func(m sim.Member) bool { return m.State == "running" && !m.Leaving }, more)
}

// clearBlockers has a user open the nodes that an operation left closed which failed, and delete those that never join, which the cloud and
// Muster leave.
func (p *pool) clearBlockers() {
	p.world.Group.DropBroken(func(m sim.Member) bool { return m.Type == badType || p.world.Workload.Node(m.ID) != nil })
	p.world.Group.Reopen()
}

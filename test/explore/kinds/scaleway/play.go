package scaleway

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim"
	simscaleway "github.com/muster-project/muster/sim/scaleway"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The events that exist only for pools of Kapsule: a user upgrades one to the version of its control plane, and Scaleway locks one for a
// while.
const (
	HandUpgrade script.What = "hand upgrades"
	HandLock    script.What = "Scaleway locks the pool"
)

var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Bounds, script.GroupEdit, script.GroupEdit, script.GroupEdit,
	script.GroupEdit, script.External, script.Autoscaler, script.Autoscaler, script.RestartNow, script.RestartNow, script.Hold, script.Upgrade,
	script.Upgrade, script.Upgrade, script.Mark, script.Mark, script.HandTerminate, script.HandTerminate, script.HandUnhealthy,
	script.HandResize,
	script.HandTags, script.HandDisown, script.HandDropGroup, HandUpgrade, HandUpgrade, HandLock,
}, script.CommonEvents()...)

var actions = []string{"*", "*", "Get*", "List*", "ListNodes", "ListPools", "CreatePool", "UpdatePool", "UpdatePool", "DeleteNode",
	"DeleteNode", "DeletePool", "UpgradePool", "UpgradePool", "SetPool*"}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	s := &d.Scenario
	d.DrawManaged(func() { s.Own = d.IntN(len(policies())) }, func() int { return d.IntN(3) }, func() {
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
		s := script.Scenario{Name: "scaleway: " + name, Own: 0, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute,
			Pods: 2, Speed: 5}
		return s.With(events...)
	}
	autoscaled := at("maximum below the autoscaler's size", script.Event{What: script.Bounds, N: 1, At: time.Minute},
		script.Event{What: script.GroupEdit, N: 2, M: 1, At: 2 * time.Minute}, script.Event{What: script.Autoscaler, N: 2, At: 6 * time.Minute})
	autoscaled.External, autoscaled.Replicas = true, 4
	return []script.Scenario{
		at("create"),
		at("scale in and out again", script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at("version step", script.Event{What: script.Upgrade, N: 1, M: 1}),
		at("labels, taints and tags", script.Event{What: script.GroupEdit, M: 1}, script.Event{What: script.GroupEdit, N: 1, M: 1},
			script.Event{What: script.GroupEdit, N: 2, M: 2}),
		at("deletion", script.Event{What: script.Delete}),
		autoscaled,
	}
}

// change changes the pool's group out of band: with the actions of this cloud alone, or with those for groups of every kind.
func (p *pool) change(e script.Event) error {
	g := p.world.Group.Owned()
	if g == nil {
		return nil
	}
	switch e.What {
	case HandUpgrade:
		return p.world.Group.Do(sim.UpgradeGroup, sim.Resource{})
	case HandLock:
		p.world.At(time.Now().Add(time.Minute), p.unlock)
		return p.sim.Lock(world.ClusterName, g.Name, true)
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

// unlock has Scaleway open the pool again.
func (p *pool) unlock() {
	if g := p.world.Group.Now(); g != nil {
		p.world.Must(p.sim.Lock(world.ClusterName, g.Name, false), "unlock the pool")
	}
}

// theirs has another tool create a pool, with what the objects of the scenario ask for.
func (p *pool) theirs(name string, tags ...string) {
	s := p.world.Scenario
	theirs := simscaleway.Theirs{Size: s.Replicas, Tags: tags, Labels: map[string]string{"tier": "a"}}
	if s.External {
		theirs.Min, theirs.Max = s.Least, s.Most
	}
	if err := p.sim.CreatePool(world.ClusterName, name, theirs); err != nil {
		p.world.Trace("hand", "failed: %v", err)
	}
}

// foreign has another owner create a pool: under another name, under the pool's name before the pool exists, or both.
func (p *pool) foreign(n int) {
	p.provide()
	for _, name := range [][]string{{world.TheirGroup}, {p.world.Group.Name()}, {world.TheirGroup, p.world.Group.Name()}}[n] {
		p.theirs(name, p.world.Scenario.Kind.OwnerTag+"=another-tool")
	}
}

// forAnother has another tool create the pool that is adopted, and the operator allow it.
func (p *pool) forAnother() string {
	p.provide()
	p.theirs(p.world.Group.Name(), "team=a", "muster.dev_adopt-by="+world.InfraKey.Namespace+"/"+world.InfraKey.Name)
	return ""
}

// want returns the state that the objects ask for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s, tags := &object(o).Spec, map[string]string{}
	for _, tag := range s.AdditionalTags {
		key, value, _ := strings.Cut(tag, "=")
		tags[key] = value
	}
	want := p.world.Group.Want(mp, tags)
	maps.Copy(want, map[string]string{
		"tier": string(s.Labels["tier"]), "label team": string(s.Labels["team"]), "tag theirs": "",
		"version": strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v"), "autoscaled": strconv.FormatBool(s.Autoscaled()),
	})
	if s.Autoscaled() {
		want["min"], want["max"] = world.Itoa(s.Scaling.MinSize), world.Itoa(s.Scaling.MaxSize)
	}
	if p.behind(want["version"]) {
		delete(want, "version") // Kapsule gives pools the version of the control plane and no other
		delete(want, "ready")
	}
	if p.world.Objects.External() {
		delete(want, "old") // a size that an autoscaler owns gets no node more
		if most, err := strconv.Atoi(want["max"]); err == nil && int(ptr.Deref(mp.Spec.Replicas, 1)) > most {
			delete(want, "ready") // the autoscaler has to make the pool smaller first
		}
	}
	return want
}

// behind reports whether the pool or its control plane is beyond a version.
func (p *pool) behind(version string) bool { return version != p.version() }

// is returns the state of the pool.
func (p *pool) is() map[string]string {
	more := map[string]string{}
	if g := p.world.Group.Now(); g != nil {
		more["version"], more["autoscaled"] = g.Kubernetes, strconv.FormatBool(g.Autoscaled)
		more["tier"], more["label team"] = g.Labels["tier"], g.Labels["team"]
	}
	return p.world.Group.Is(func(m sim.Member) bool { return m.State == "running" && !m.Leaving }, more)
}

// clearBlockers has a user open the nodes that were left closed, delete those that are broken, which Kapsule and Muster leave, and give the
// pool the version of the cluster.
func (p *pool) clearBlockers() {
	p.unlock()
	p.follow()
	p.world.Group.DropBroken(func(sim.Member) bool { return false })
	p.world.Group.Reopen()
}

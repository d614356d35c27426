package world

import (
	"cmp"
	"maps"
	"strconv"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/sim"
)

// Group is the pool's group in the cloud.
type Group struct{ world *World }

// Name returns the name that the group has, or will have.
func (g *Group) Name() string {
	if g.world.Scenario.Kind.OwnName {
		return g.world.key.Name
	}
	return g.world.Objects.Owner().ResourceName()
}

// Now returns the group of that name, of any owner, and nil if there is none.
func (g *Group) Now() *sim.Group { return g.world.Cloud.Snapshot().Group(g.Name()) }

// Owner returns the owner ID that a group carries.
func (g *Group) Owner(is *sim.Group) string { return is.Tags[g.world.Scenario.Kind.OwnerTag] }

// Ours reports whether a group carries the pool's owner ID.
func (g *Group) Ours(is *sim.Group) bool {
	return is != nil && g.Owner(is) == g.world.Objects.Owner().ID
}

// Owned returns the group if it is the pool's and is not being deleted, and nil otherwise.
func (g *Group) Owned() *sim.Group {
	if is := g.Now(); g.Ours(is) && !is.Deleting {
		return is
	}
	return nil
}

// Living returns the members that are not leaving.
func (g *Group) Living() []sim.Member {
	if is := g.Now(); is != nil {
		return is.Staying()
	}
	return nil
}

// Named returns the members that a request names, by the IDs that the oracles have for them.
func (g *Group) Named(refs []string) []string {
	ids := []string{}
	if is := g.Now(); is != nil {
		for _, m := range is.Members {
			if m.NamedBy(refs) {
				ids = append(ids, cmp.Or(m.ID, m.Name))
			}
		}
	}
	return ids
}

// Nodes returns how many members have joined, and how many of their Nodes are cordoned or marked by a drain (Kind.OpensNodes).
func (g *Group) Nodes() (joined, cordoned int) {
	for _, m := range g.Living() {
		node := g.world.Workload.Node(m.ID)
		if node == nil {
			continue
		}
		joined++
		if node.Spec.Unschedulable || node.Annotations[nodes.DrainStartedAnnotation] != "" && !g.world.Scenario.Kind.OpensNodes {
			cordoned++
		}
	}
	return joined, cordoned
}

// Unjoined reports whether a member is still to join.
func (g *Group) Unjoined() bool {
	joined, _ := g.Nodes()
	return joined < len(g.Living())
}

// Busy reports whether the cloud is at work on the group by itself.
func (g *Group) Busy() bool {
	is := g.Now()
	return is != nil && (is.Busy || is.Deleting)
}

// counts are the facts that are the number of replicas at rest.
var counts = []string{"size", "in service", "joined", "ready nodes", "pool ready nodes", "pool replicas"}

// Want returns what the objects of a pool of every kind ask for, with the tags that its object names.
func (g *Group) Want(mp *clusterv1.MachinePool, tags map[string]string) map[string]string {
	want := map[string]string{
		"group": "1", "owner": g.world.Objects.Owner().ID, "cluster": ClusterName, "team": tags["team"], "stage": tags["stage"],
		"cordoned": "0", "stale": "0", "old": "0", "ready": "True", "pool": "Running",
	}
	size := Itoa(ptr.To(ptr.Deref(mp.Spec.Replicas, 1)))
	for _, name := range counts {
		want[name] = size // a size that an autoscaler owns is in spec.replicas by now
	}
	return want
}

// Is returns the same facts of the pool's group as it is, with some that only its kind wants. Members that serves reports are in service.
// Without a group the rest is empty.
func (g *Group) Is(serves func(sim.Member) bool, more map[string]string) map[string]string {
	is := g.Now()
	if is == nil {
		return map[string]string{"group": "0"}
	}
	k := g.world.Scenario.Kind
	out := map[string]string{
		"group": "1", "size": strconv.Itoa(is.Size), "min": strconv.Itoa(is.Min), "max": strconv.Itoa(is.Max), "owner": g.Owner(is),
		"cluster": is.Tags[k.ClusterTag], "team": is.Tags["team"], "stage": is.Tags["stage"], "tag theirs": is.Tags[Theirs],
	}
	inService := 0
	for _, m := range is.Members {
		if serves(m) {
			inService++
		}
	}
	stale, old := g.world.Rollout.Left()
	joined, cordoned := g.Nodes()
	for name, n := range map[string]int{"in service": inService, "stale": stale, "old": old, "joined": joined, "cordoned": cordoned} {
		out[name] = strconv.Itoa(n)
	}
	maps.Copy(out, more)
	g.world.Objects.AddStatus(out)
	return out
}

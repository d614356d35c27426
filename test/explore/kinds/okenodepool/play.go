package okenodepool

import (
	"maps"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	simoci "github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/test/explore/kinds/oci"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Template, script.Template, script.Template, script.Template,
	script.Back, script.GroupEdit, script.GroupEdit, script.GroupEdit, script.External, script.Autoscaler, script.Strategy, script.BadTemplate,
	script.RestartNow, script.DropMachine, script.DropInfraMachine, script.RestartNow, script.Hold, script.Upgrade, script.Upgrade,
	script.Mark, script.Mark, script.HandTerminate,
	script.HandTerminate, script.HandUnhealthy, script.HandResize, script.HandTags, script.HandDisown, script.HandDropGroup,
}, script.CommonEvents()...)

var actions = []string{"*", "*", "Get*", "List*", "ListNodePools", "GetNodePool", "CreateNodePool", "UpdateNodePool", "UpdateNodePool",
	"DeleteNode", "DeleteNode", "DeleteNodePool", "ListWorkRequest*", "GetNodePoolOptions"}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	s := &d.Scenario
	d.DrawManaged(func() { s.Own = d.IntN(len(cyclings())) }, func() int { return d.IntN(3) }, func() {
		if d.IntN(8) == 0 {
			s.Add(script.Event{What: script.HandForeign, N: d.IntN(3)})
			s.Add(script.Event{What: script.HandDropForeign, At: time.Minute + d.Moment()})
		}
	})
	d.Adopted()
}

// golden are scenarios that are disturbed at every effect.
func golden() []script.Scenario {
	at := func(name string, own int, events ...script.Event) script.Scenario {
		s := script.Scenario{Name: "oke: " + name, Own: own, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2,
			Speed: 5}
		return s.With(events...)
	}
	shape := script.Event{What: script.Template, N: 7}
	return []script.Scenario{
		at("create", 0),
		at("scale in and out again", 0, script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4,
			At: 4 * time.Second}),
		at("shape change", 0, shape),
		at("shape change by cycling", 2, shape),
		at("version step", 0, script.Event{What: script.Upgrade, N: 1, M: 1}),
		at("version step by cycling", 3, script.Event{What: script.Upgrade, N: 1, M: 1}),
		at("eviction, then cycling", 0, script.Event{What: script.GroupEdit, M: 1}, script.Event{What: script.GroupEdit, N: 1, M: 2}),
		at("deletion", 0, script.Event{What: script.Delete}),
	}
}

// change changes the pool's group out of band.
func (p *pool) change(e script.Event) error {
	if g := p.world.Group.Owned(); g != nil {
		return p.world.Group.Change(g, e)
	}
	return nil
}

// theirs has another tool create a node pool, of what the object asks for.
func (p *pool) theirs(name string, tags map[string]string) {
	const native = "OCI_VCN_IP_NATIVE"
	part := func(kind, role string) any { return oci.PartID(kind, role) }
	var places []any
	for _, domain := range simoci.Domains() {
		places = append(places, document.Object{"availabilityDomain": domain, "subnetId": part(oci.Subnet, ociv1.RoleWorker)})
	}
	with := document.Object{
		"nodeShapeConfig":   document.Object{"ocpus": 2.0, "memoryInGBs": 32.0},
		"initialNodeLabels": []any{document.Object{"key": "tier", "value": "a"}},
		"nodeConfigDetails": document.Object{"placementConfigs": places, "nsgIds": []any{part(oci.SecurityGroup, ociv1.RoleWorker)},
			"freeformTags": document.Object{"team": "a", ociv1.TagCreatedBy: ociv1.TagCreatedByValue, ociv1.TagCluster: "cluster-uid"},
			"nodePoolPodNetworkOptionDetails": document.Object{"cniType": native, "podSubnetIds": []any{part(oci.Subnet, ociv1.RolePod)},
				"podNsgIds": []any{part(oci.SecurityGroup, ociv1.RolePod)}}},
	}
	if err := p.sim.CreatePoolWith(world.ClusterName, name, p.world.Scenario.Replicas, tags, with); err != nil {
		p.world.Trace("hand", "failed: %v", err)
	}
}

// foreign has another owner create a node pool: under another name, under the pool's name before the pool exists, or both.
func (p *pool) foreign(n int) {
	p.provide()
	for _, name := range [][]string{{world.TheirGroup}, {p.world.Group.Name()}, {world.TheirGroup, p.world.Group.Name()}}[n] {
		p.theirs(name, map[string]string{oci.OwnerTag: "another-tool"})
	}
}

// forAnother has another tool create the node pool that is adopted, and the operator allow it.
func (p *pool) forAnother() string {
	p.provide()
	p.theirs(p.world.Group.Name(), map[string]string{"team": "a",
		oci.AdoptTag: world.InfraKey.Namespace + "/" + world.InfraKey.Name})
	return ""
}

// want returns the state that the objects ask for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := p.world.Group.Want(mp, map[string]string{"team": "a"})
	maps.Copy(want, map[string]string{"tier": s.InitialNodeLabels.Strings()["tier"], "type": s.NodeShape,
		"version": strings.TrimPrefix(mp.Spec.Template.Spec.Version, "v")})
	delete(want, "old") // OKE does not show when a node was made: one that joins after a restart was asked for counts as new
	if p.world.Objects.External() && strings.Contains(p.world.Objects.StatusText(), "ReplicasManagedExternally") {
		delete(want, "stale") // a surge can't be told from a size that an autoscaler owns, which the object reports
	}
	return want
}

// is returns the state of the pool.
func (p *pool) is() map[string]string {
	more := map[string]string{}
	if g := p.world.Group.Now(); g != nil {
		more["version"], more["tier"], more["type"] = g.Kubernetes, g.Labels["tier"], g.Type
	}
	return p.world.Group.Is(func(m sim.Member) bool { return m.State == "running" && !m.Leaving }, more)
}

// clearBlockers has a user open the nodes that were left closed, delete those that are broken, which OKE and Muster leave, and give the
// pool the version of the cluster.
func (p *pool) clearBlockers() {
	p.follow()
	p.world.Group.DropBroken(func(m sim.Member) bool {
		return m.Type == oci.BadShape && !p.world.Objects.External() // replaced with the rollout that follows
	})
	p.world.Group.Reopen()
}

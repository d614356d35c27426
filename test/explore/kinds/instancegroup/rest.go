package instancegroup

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
	muster "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

// want is what the objects of a pool ask for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := map[string]string{
		"group": "1", "owner": p.World.Objects.Owner().ID,
		"team": string(s.AdditionalLabels["team"]), "stage": string(s.AdditionalLabels["stage"]),
		"cluster": world.ClusterName,
		"type":    s.InstanceType, "root": strconv.FormatInt(s.RootSize(), 10),
		"data":   p.World.Workload.Tokens.DataPrint(p.World.Objects.Bootstrap()),
		"policy": "OPPORTUNISTIC", "redistribution": "", "shape": "", "repair": "REPAIR", "update on repair": "NO", "healing": "",
		"cordoned": "0", "stale": "0", "old": "0", "behind": "0", "spare templates": "0", "ready": "True", "pool": "Running",
	}
	if own(p.World.Scenario).Regional {
		want["redistribution"], want["shape"] = "NONE", strings.ToUpper(string(s.DistributionPolicy.TargetShape))
		if s.DistributionPolicy.TargetShape == "" {
			want["shape"] = "EVEN"
		}
	}
	if l := s.InstanceLifecyclePolicy; l != nil {
		if l.DefaultActionOnFailure == gcpv1.ActionDoNothing {
			want["repair"] = "DO_NOTHING"
		}
		if ptr.Deref(l.ForceUpdateOnRepair, false) {
			want["update on repair"] = "YES"
		}
	}
	if h := s.AutoHealing; h != nil {
		want["healing"] = h.HealthCheck + "=" + strconv.Itoa(int(h.InitialDelaySec))
	}
	size := world.Itoa(ptr.To(ptr.Deref(mp.Spec.Replicas, 1)))
	for _, name := range []string{"size", "in service", "joined", "ready nodes", "pool ready nodes", "pool replicas"} {
		want[name] = size
	}
	p.leaveToOthers(mp, s, want)
	return want
}

// leaveToOthers leaves out what only the autoscaler can bring about: where no surge is allowed no machine may be removed that is not
// replaced, which the object says.
func (p *pool) leaveToOthers(mp *clusterv1.MachinePool, s *gcpv1.GCPMachinePoolSpec, want map[string]string) {
	if !p.World.Objects.External() || world.Share(s.Strategy.RollingUpdate.MaxSurge).Of(int(ptr.Deref(mp.Spec.Replicas, 1)), true) > 0 {
		return
	}
	without := func(names ...string) {
		maps.DeleteFunc(want, func(name, _ string) bool { return slices.Contains(names, name) })
	}
	without("stale", "old")
	if strings.Contains(p.World.Objects.Says(), "can't be replaced") {
		without("joined", "in service", "ready nodes", "pool ready nodes", "ready", "pool")
	}
}

// is says what there is of a pool.
func (p *pool) is() map[string]string {
	is := map[string]string{"group": "0"}
	g := p.group()
	if g == nil || g.Deleting {
		return is
	}
	is["group"], is["size"] = "1", strconv.Itoa(g.Size)
	is["owner"], is["team"], is["stage"], is["cluster"] = g.Labels[gcp.LabelOwner], g.Labels["team"], g.Labels["stage"],
		g.Labels[gcp.LabelCluster]
	isPolicy(g, is)
	p.isTemplate(g, is)
	inService := 0
	for _, m := range members(g) {
		if m.State == "RUNNING" {
			inService++
		}
	}
	stale, old := p.World.Rollout.Left()
	joined, cordoned := p.nodes(g)
	is["stale"], is["old"], is["in service"], is["behind"] = strconv.Itoa(stale), strconv.Itoa(old), strconv.Itoa(inService),
		strconv.Itoa(behind(g))
	is["joined"], is["cordoned"] = strconv.Itoa(joined), strconv.Itoa(cordoned)
	p.World.Objects.Told(is)
	return is
}

// behind counts the machines that lack labels of their group, which are given to those that run. One of another template gets them with it,
// and labels of templates stay where the group has them no more: Compute Engine takes none away.
func behind(g *compute.Group) (n int) {
	for _, m := range members(g) {
		lacks := func(key string) bool { return g.Labels[key] != "" && m.Labels[key] != g.Labels[key] }
		if slices.Contains(g.Templates, m.Template) && (lacks("team") || lacks("stage")) {
			n++
		}
	}
	return n
}

// isPolicy says what the group does by itself.
func isPolicy(g *compute.Group, is map[string]string) {
	or := func(path, otherwise string) string {
		if text := document.Text(g.Doc, path); text != "" {
			return text
		}
		return otherwise
	}
	is["policy"], is["redistribution"] = or("updatePolicy.type", "OPPORTUNISTIC"), or("updatePolicy.instanceRedistributionType", "")
	is["shape"] = or("distributionPolicy.targetShape", "")
	is["repair"], is["update on repair"] = or("instanceLifecyclePolicy.defaultActionOnFailure", "REPAIR"),
		or("instanceLifecyclePolicy.forceUpdateOnRepair", "NO")
	for _, h := range document.Objects(g.Doc, "autoHealingPolicies") {
		delay, _ := document.Number(h, "initialDelaySec")
		is["healing"] = project.LastOf(document.Text(h, "healthCheck")) + "=" + strconv.Itoa(delay)
	}
}

// isTemplate says what new machines are made of, and how many templates are too many.
func (p *pool) isTemplate(g *compute.Group, is map[string]string) {
	for _, t := range p.Cloud.State().Templates {
		if !slices.Contains(g.Templates, t.Path) {
			continue
		}
		is["type"], is["data"] = project.LastOf(document.Text(t.Properties, "machineType")),
			p.World.Workload.Tokens.DataPrint(gcp.UserData(t.Properties))
		for _, d := range document.Objects(t.Properties, "disks") {
			is["root"] = document.Text(d, "initializeParams.diskSizeGb")
		}
	}
	c := p.World.Snapshot()
	for _, t := range c.Templates {
		if t.Owner == p.World.Objects.Owner().ID {
			is["spare templates"] = strconv.Itoa(len(t.Spare(c.Groups, muster.DefaultTemplateHistoryLimit)))
		}
	}
}

// unjoined reports whether a machine is still to join.
func (p *pool) unjoined() bool {
	g := p.group()
	if g == nil {
		return false
	}
	joined, _ := p.nodes(g)
	return joined < len(members(g))
}

// busy reports whether Compute Engine is at work on the group by itself.
func (p *pool) busy() bool {
	g := p.group()
	if g == nil {
		return false
	}
	for _, m := range g.Instances {
		if m.Action != "NONE" {
			return true
		}
	}
	return g.Deleting
}

// joinsWithin is longer than any machine takes to join that ever does.
const joinsWithin = 5 * time.Minute

// appease takes back what keeps Compute Engine from creating instances, and has a user delete machines that never boot: a group without a
// health check does not notice them, and Muster replaces none that run unless it is asked to. The user also deletes the failed machines
// that the object reports as left.
func (p *pool) appease() {
	p.Appease()
	p.World.At(time.Now().Add(joinsWithin), func() {
		g := p.ourGroup()
		if g == nil {
			return
		}
		for _, m := range members(g) {
			unjoined := m.State == "RUNNING" && time.Since(m.Created) >= joinsWithin && m.Type != gcp.BadType && p.World.Workload.Node(m.ID) == nil
			if left := m.State == "TERMINATED" && strings.Contains(p.World.Objects.Says(), "FailedLeft"); !unjoined && !left {
				continue
			}
			p.World.Notes.Moved()
			if err := p.Cloud.Terminate(m.ID); err != nil {
				p.World.Trace("hand", "failed: %v", err)
			}
		}
	})
}

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
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

// want returns the state that the objects of a pool ask for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := p.World.Group.Want(mp, map[string]string{
		"team": string(s.AdditionalLabels["team"]), "stage": string(s.AdditionalLabels["stage"]),
	})
	maps.Copy(want, map[string]string{
		"type": s.InstanceType, "root": strconv.FormatInt(s.RootSize(), 10),
		"data":   p.World.Workload.Tokens.DataPrint(p.World.Objects.Bootstrap()),
		"policy": "OPPORTUNISTIC", "redistribution": "", "shape": "", "repair": "REPAIR", "update on repair": "NO", "healing": "",
		"behind": "0", "spare templates": "0",
	})
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
	p.leaveToOthers(mp, s, want)
	return want
}

// leaveToOthers ignores what only the autoscaler can do: without surge no machine may be removed without a replacement. The object reports
// this.
func (p *pool) leaveToOthers(mp *clusterv1.MachinePool, s *gcpv1.GCPMachinePoolSpec, want map[string]string) {
	if !p.World.Objects.External() || world.Share(s.Strategy.RollingUpdate.MaxSurge).Of(int(ptr.Deref(mp.Spec.Replicas, 1)), true) > 0 {
		return
	}
	without := func(names ...string) {
		maps.DeleteFunc(want, func(name, _ string) bool { return slices.Contains(names, name) })
	}
	without("stale", "old")
	if strings.Contains(p.World.Objects.StatusText(), "can't be replaced") {
		without("joined", "in service", "ready nodes", "pool ready nodes", "ready", "pool")
	}
}

// is returns the state of a pool.
func (p *pool) is() map[string]string {
	more := map[string]string{}
	if g := p.held(); g != nil {
		isPolicy(g, more)
		p.isTemplate(g, more)
		more["behind"] = strconv.Itoa(p.behind(g.Templates))
	}
	return p.World.Group.Is(func(m sim.Member) bool { return m.State == "RUNNING" && !m.Leaving }, more)
}

// behind counts the machines that lack labels of their group, which are given to those that run. One of another template gets them with it,
// and labels of templates stay where the group has them no more: Compute Engine takes none away.
func (p *pool) behind(templates []string) (n int) {
	g := p.World.Group.Now()
	for _, m := range g.Staying() {
		lacks := func(key string) bool { return g.Tags[key] != "" && m.Tags[key] != g.Tags[key] }
		if slices.Contains(templates, m.Template) && (lacks("team") || lacks("stage")) {
			n++
		}
	}
	return n
}

// isPolicy adds the group's own policies.
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

// isTemplate adds the template of new machines, and the number of superfluous templates.
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

// clearBlockers removes what keeps Compute Engine from creating instances, and acts as a user who deletes machines that never boot: a group
// without a health check does not notice them, and Muster replaces no running machine unless it is configured to. The user also deletes the
// failed machines that the object reports as left.
func (p *pool) clearBlockers() {
	p.ClearBlockers()
	p.World.At(time.Now().Add(world.JoinsWithin), func() {
		g := p.World.Group.Now()
		if !p.World.Group.Ours(g) {
			return
		}
		for _, m := range g.Staying() {
			unjoined := m.State == "RUNNING" && time.Since(m.Created) >= world.JoinsWithin && m.Type != gcp.BadType &&
				p.World.Workload.Node(m.ID) == nil
			if left := m.State == "TERMINATED" && strings.Contains(p.World.Objects.StatusText(), "FailedLeft"); !unjoined && !left {
				continue
			}
			p.World.Notes.Moved()
			if err := p.Cloud.Terminate(m.ID); err != nil {
				p.World.Trace("hand", "failed: %v", err)
			}
		}
	})
}

package container

import (
	"slices"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/managed"
)

// groupAccount is the service account that the groups of node pools act as.
const groupAccount = "service-" + project.DefaultNumber + "@container-engine-robot.iam.gserviceaccount.com"

// groups are the instance groups of Compute Engine, as GKE uses them.
type groups struct{ compute.Managers }

// machines returns the instances of a group of a cluster's node pool. Stale are those that were created as an earlier generation.
func (w groups) machines(c *Cluster, p *Pool, g *group) []managed.Machine {
	var out []managed.Machine
	path := groupPath(c, g)
	for _, m := range w.Members(path) {
		out = append(out, machineOf(c, p, path, m))
	}
	return out
}

// machineOf describes an instance of a group of a cluster's node pool.
func machineOf(c *Cluster, p *Pool, group string, m compute.Member) managed.Machine {
	out := managed.Machine{
		Key: m.Name, UID: m.ID, Group: group, Up: !m.Running.IsZero(), Deleting: m.Action == "DELETING" || m.Action == "ABANDONING",
		Stale: p.Templates[m.Template].Generation != p.Generation, Unserved: c.Access.Endpoint == "",
	}
	if !m.NeverBoots {
		out.Booted = m.Running
	}
	return out
}

// machinesOf returns the instances of all groups of a cluster's node pool.
func (w groups) machinesOf(c *Cluster, p *Pool) []managed.Machine {
	var out []managed.Machine
	for _, g := range p.Groups {
		out = append(out, w.machines(c, p, g)...)
	}
	return out
}

// versionsOf returns the version of Kubernetes of each instance of a cluster's node pool.
func (w *views) versionsOf(c *Cluster, p *Pool) []string {
	var out []string
	for _, g := range p.Groups {
		for _, m := range w.groups.Members(groupPath(c, g)) {
			out = append(out, p.Templates[m.Template].Version)
		}
	}
	return out
}

// living returns the machines that are not being deleted.
func living(machines []managed.Machine) []managed.Machine {
	return slices.DeleteFunc(machines, func(m managed.Machine) bool { return m.Deleting })
}

// putGroup creates a zonal group of a node pool, or points it at a template.
func (w groups) putGroup(c *Cluster, g *group, template string, size int) error {
	path := groupPath(c, g)
	if w.Exists(path) {
		return w.Patch(path, document.Object{"instanceTemplate": template})
	}
	_, err := w.Put(c.Project, g.Zone, groupAccount, document.Object{
		"name": g.Name, "baseInstanceName": g.Name[:len(g.Name)-len(groupSuffix)], "instanceTemplate": template, "targetSize": size,
		"updatePolicy": document.Object{"type": "OPPORTUNISTIC", "minimalAction": "REPLACE", "replacementMethod": "SUBSTITUTE",
			"maxSurge": document.Object{"fixed": 1}, "maxUnavailable": document.Object{"fixed": 1}},
		"instanceLifecyclePolicy":     document.Object{"defaultActionOnFailure": "REPAIR", "forceUpdateOnRepair": "YES"},
		"listManagedInstancesResults": "PAGINATED",
	})
	return err
}

// resize sets the size of a group that is not being deleted. Compute Engine chooses the instances that it deletes.
func (w groups) resize(group string, size int) {
	if w.Size(group) != size {
		_ = w.Patch(group, document.Object{"targetSize": size}) // one that is gone is seen at the next look
	}
}

// takeOut deletes a machine. The size of its group falls with it.
func (w groups) takeOut(m managed.Machine) {
	_ = w.Delete(m.Group, m.Key) // one that is gone is seen at the next look
}

// recreate creates a machine anew, under its name and from the template of its group.
func (w groups) recreate(m managed.Machine) {
	_ = w.Recreate(m.Group, m.Key) // one that is gone is seen at the next look
}

package container

import (
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
)

// machine is an instance of a group of a node pool.
type machine struct {
	compute.Member
	// Group is the path of its group.
	Group string
}

// running reports whether the machine runs.
func (m machine) running() bool { return !m.Running.IsZero() }

// deleting reports whether it is on its way out.
func (m machine) deleting() bool { return m.Action == "DELETING" || m.Action == "ABANDONING" }

// machines returns the instances of a group by its path.
func (w *Service) machines(group string) []machine {
	var out []machine
	for _, m := range w.groups.Members(group) {
		out = append(out, machine{m, group})
	}
	return out
}

// putGroup creates a zonal group of a node pool, or points it at a template.
func (w *Service) putGroup(c *Cluster, g *group, template string, size int) error {
	path := groupPath(c, g)
	if w.groups.Exists(path) {
		return w.groups.Patch(path, document.Object{"instanceTemplate": template})
	}
	_, err := w.groups.Put(c.Project, g.Zone, document.Object{
		"name": g.Name, "baseInstanceName": g.Name[:len(g.Name)-len(groupSuffix)], "instanceTemplate": template, "targetSize": size,
		"updatePolicy": document.Object{"type": "OPPORTUNISTIC", "minimalAction": "REPLACE", "replacementMethod": "SUBSTITUTE",
			"maxSurge": document.Object{"fixed": 1}, "maxUnavailable": document.Object{"fixed": 1}},
		"instanceLifecyclePolicy": document.Object{"defaultActionOnFailure": "REPAIR", "forceUpdateOnRepair": "YES"},
	})
	return err
}

// resize sets the size of a group that is not being deleted. Compute Engine chooses the instances that it deletes.
func (w *Service) resize(group string, size int) {
	if w.groups.Size(group) != size {
		_ = w.groups.Patch(group, document.Object{"targetSize": size}) // one that is gone is seen at the next look
	}
}

// takeOut deletes a machine. The size of its group falls with it.
func (w *Service) takeOut(m machine) {
	_ = w.groups.Delete(m.Group, m.Name) // one that is gone is seen at the next look
}

// recreate creates a machine anew, under its name and from the template of its group.
func (w *Service) recreate(m machine) {
	_ = w.groups.Recreate(m.Group, m.Name) // one that is gone is seen at the next look
}

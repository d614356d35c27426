package compute

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// order returns the zones of a group, those with the fewest instances first.
func (w *placement) order(g *manager) []string {
	spread := fleet.SpreadOf(w.staying(g))
	if g.text("distributionPolicy.targetShape", "EVEN") == "ANY_SINGLE_ZONE" {
		return []string{slices.MinFunc(g.zones(), spread.ByMost)}
	}
	return spread.Emptiest(g.zones())
}

// place finds a zone for an instance, and the faults that it meets there. A group that need not be even tries its other zones.
func (w *placement) place(g *manager, m *instance) ([]sim.Fault, *project.Failure) {
	if failure := w.unfit(m); failure != nil {
		return nil, failure
	}
	zones := []string{m.Zone}
	if shape := g.text("distributionPolicy.targetShape", "EVEN"); g.regional() && (shape == "ANY" || shape == "BALANCED") {
		zones = slices.Concat(zones, slices.DeleteFunc(w.order(g), func(z string) bool { return z == m.Zone }))
	}
	zone, faults, full := w.instances.Place(zones, m.Type, g.Name)
	if full != nil {
		return nil, &project.Failure{Code: "ZONE_RESOURCE_POOL_EXHAUSTED", Message: fmt.Sprintf(wordsExhausted, m.Project, m.Zone)}
	}
	w.move(m, zone)
	return faults, nil
}

// NoCapacity is part of the message about a zone that has no capacity.
const NoCapacity = "does not have enough resources available to fulfill the request"

// wordsExhausted is how Compute Engine words that a zone has no capacity.
const wordsExhausted = "The zone 'projects/%s/zones/%s' " + NoCapacity + ".  Try a different zone, or try again later."

// move moves an instance that does not exist yet to another zone.
func (w *placement) move(m *instance, zone string) {
	if m.Zone == zone {
		return
	}
	w.instances.Delete(m.key())
	m.Zone = zone
	w.instances.Put(m.key(), m)
}

// unfit returns why an instance can't be created anywhere: its machine type, its image or a quota.
func (w *placement) unfit(m *instance) *project.Failure {
	p := w.properties(m.Content)
	name := document.Text(p, "machineType")
	t := catalogue.FindMachineType(name)
	if t == nil {
		path := project.Zonal(m.Project, m.Zone, "machineTypes", project.LastOf(name))
		return &project.Failure{Code: "RESOURCE_NOT_FOUND", Message: "The resource '" + path + "' was not found"}
	}
	for _, disk := range document.Objects(p, "disks") {
		link := document.Text(disk, "initializeParams.sourceImage")
		image := w.Catalogue.Image(m.Project, link)
		if link == "" || !document.Truth(disk, "boot") {
			continue
		}
		if image == nil {
			return &project.Failure{Code: "RESOURCE_NOT_FOUND", Message: "The resource '" + project.PathOf(link, m.Project) + "' was not found"}
		}
		if arch := document.Text(image.Doc, "architecture"); arch != "" && arch != t.Architecture() {
			return &project.Failure{Code: "CONDITION_NOT_MET",
				Message: fmt.Sprintf("Requested boot disk architecture (%s) is not compatible with machine type architecture (%s).",
					arch, t.Architecture())}
		}
	}
	return w.overQuota(m, t)
}

// overQuota returns the quota that an instance does not fit into, nil for none.
func (w *placement) overQuota(m *instance, t *catalogue.MachineType) *project.Failure {
	region := project.RegionOf(m.Zone)
	metric, needed := t.Metric, t.CPUs
	for _, one := range []struct {
		metric string
		needed int
	}{{metric, needed}, {"INSTANCES", 1}} {
		q := w.Catalogue.Quotas.Get(region + "/" + one.metric)
		if q == nil {
			continue
		}
		if used := w.used(region, one.metric); float64(used+one.needed) > q.Limit {
			return &project.Failure{Code: "QUOTA_EXCEEDED", Message: fmt.Sprintf("Quota '%s' exceeded.  Limit: %.1f in region %s.", one.metric,
				q.Limit, region)}
		}
	}
	return nil
}

// used returns how much of a metric is used in a region.
func (w *placement) used(region, metric string) int {
	n := 0
	for _, m := range w.instances.All() {
		if !m.exists() || project.RegionOf(m.Zone) != region {
			continue
		}
		if metric == "INSTANCES" {
			n++
		} else if t := catalogue.FindMachineType(m.Type); t != nil && t.Metric == metric {
			n += t.CPUs
		}
	}
	return n
}

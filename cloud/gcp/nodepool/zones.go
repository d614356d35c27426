package nodepool

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/pool"
)

// keepZones keeps zones of the node pool that the specification names no more until they have no machines: GKE deletes the machines of a
// zone that is taken from a node pool, whatever runs on them. Muster removes them first, drained as any other.
func (w *desired) keepZones(read poolRead) {
	if len(w.pool.Locations) == 0 {
		return
	}
	w.named = w.pool.Locations
	for _, g := range read.groups {
		if slices.Contains(w.named, g.Zone) || g.Target == 0 && len(g.Machines) == 0 || w.leaving[g.Zone] {
			continue
		}
		if w.leaving == nil {
			w.leaving = map[string]bool{}
		}
		w.leaving[g.Zone] = true
		w.pool.Locations = slices.Sorted(slices.Values(append(slices.Clone(w.pool.Locations), g.Zone)))
	}
}

// zoneRemoved returns why a machine goes whose zone the specification names no more; nil for any other.
func (w *desired) zoneRemoved(m groups.Instance) *pool.Cause {
	if !w.leaving[m.Zone] {
		return nil
	}
	return &pool.Cause{Reason: "ZoneRemoved", Message: fmt.Sprintf("spec.nodeLocations does not name zone %s any more", m.Zone)}
}

// staying returns the groups of zones that the specification names; all where it names none.
func (w *desired) staying(list []groups.Group) []groups.Group {
	if len(w.named) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(g groups.Group) bool { return !slices.Contains(w.named, g.Zone) })
}

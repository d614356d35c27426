package gcp

import (
	"fmt"
	"maps"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
)

// nodePoolType is the machine type of node pools that other tools create.
const nodePoolType = "e2-standard-4"

// NodePoolActions are those of a user of the console on the node pool that a resource names with its cluster. GKE refuses most of them
// while an operation runs.
func NodePoolActions(c *Cloud) sim.OutOfBandActions {
	by := func(do func(pool string, on sim.Resource) error) func(sim.Resource) error {
		return func(on sim.Resource) error { return do(on.Cluster+"/"+on.Name, on) }
	}
	return sim.OutOfBandActions{
		sim.CreateGroup: by(func(pool string, on sim.Resource) error { return c.GKE.CreatePool(pool, nodePoolType, on.Size) }),
		sim.DeleteGroup: by(func(pool string, _ sim.Resource) error { return c.GKE.DeletePool(pool) }),
		sim.SetSize: by(func(pool string, on sim.Resource) error {
			zones := len(nodePool(c, on).Groups)
			if zones == 0 {
				return fmt.Errorf("node pool %s has no groups yet", pool)
			}
			return c.GKE.ResizePool(pool, (on.Size+zones-1)/zones)
		}),
		sim.Autoscale:    by(func(pool string, on sim.Resource) error { return c.GKE.Autoscale(pool, on.Size) }),
		sim.UpgradeGroup: by(func(pool string, on sim.Resource) error { return c.GKE.UpgradePool(pool, on.Value) }),
		sim.RemoveTag: by(func(pool string, on sim.Resource) error {
			return label(c, pool, on, func(labels map[string]string) { delete(labels, on.Key) })
		}),
		sim.ChangeTag: by(func(pool string, on sim.Resource) error {
			return label(c, pool, on, func(labels map[string]string) { labels[on.Key] = on.Value })
		}),
		sim.TerminateInstance: c.TerminateInstance,
		sim.FailRollout: by(func(pool string, _ sim.Resource) error {
			return c.GKE.FailPool(pool, "GCE_STOCKOUT", fmt.Sprintf("A user has let the operation on node pool %s fail.", pool))
		}),
	}
}

// nodePool returns the node pool that a resource names, and an empty one if there is none.
func nodePool(c *Cloud, on sim.Resource) container.InspectedPool {
	for _, k := range c.State().Clusters {
		for _, p := range k.Pools {
			if k.Name == on.Cluster && p.Name == on.Name {
				return p
			}
		}
	}
	return container.InspectedPool{}
}

// label changes the resource labels of a node pool.
func label(c *Cloud, pool string, on sim.Resource, change func(map[string]string)) error {
	labels := map[string]string{}
	maps.Copy(labels, nodePool(c, on).Resource)
	change(labels)
	return c.GKE.UpdatePool(pool, document.Object{"resourceLabels": document.Object{"labels": document.OfStrings(labels)}})
}

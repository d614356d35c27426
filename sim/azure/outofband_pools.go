package azure

import (
	"fmt"

	"github.com/muster-project/muster/sim"
)

// AgentPoolActions are those of a user of the portal on the agent pool that a resource names with its cluster. AKS refuses most of them
// while an operation runs. A machine is named by its Node.
func AgentPoolActions(c *Cloud) sim.OutOfBandActions {
	by := func(do func(pool string, on sim.Resource) error) func(sim.Resource) error {
		return func(on sim.Resource) error { return do(on.Cluster+"/"+on.Name, on) }
	}
	just := func(do func(pool string) error) func(sim.Resource) error {
		return by(func(pool string, _ sim.Resource) error { return do(pool) })
	}
	return sim.OutOfBandActions{
		sim.CreateGroup: by(func(pool string, on sim.Resource) error { return c.AKS.CreatePool(pool, VMSize, on.Size) }),
		sim.DeleteGroup: just(c.AKS.DeletePool), sim.StopGroup: just(c.AKS.StopPool), sim.StartGroup: just(c.AKS.StartPool),
		sim.SetSize:   by(func(pool string, on sim.Resource) error { return c.AKS.ScalePool(pool, on.Size) }),
		sim.Autoscale: by(func(pool string, on sim.Resource) error { return c.AKS.Autoscale(pool, on.Size) }),
		sim.RemoveTag: by(func(pool string, on sim.Resource) error { return c.AKS.UntagPool(pool, on.Key) }),
		sim.ChangeTag: by(func(pool string, on sim.Resource) error { return c.AKS.TagPool(pool, on.Key, on.Value) }),
		sim.UpgradeGroup: by(func(pool string, on sim.Resource) error {
			version := on.Value
			for _, k := range c.State().Clusters {
				if k.Name == on.Cluster && version == "" {
					version = k.Version
				}
			}
			return c.AKS.UpgradePool(pool, version)
		}),
		sim.TerminateInstance: by(func(pool string, on sim.Resource) error { return c.AKS.DeleteMachine(pool, on.Instance) }),
		sim.CancelRollout:     just(c.AKS.AbortPool),
		sim.FailRollout: just(func(pool string) error {
			return c.AKS.FailPool(pool, "InternalOperationError", fmt.Sprintf("A user has let the operation on agent pool %s fail.", pool))
		}),
	}
}

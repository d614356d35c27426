package oci

import (
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/sim/oci/rest"
)

// GroupsByHand changes instance pools as a user does in the console: no request, signature, limit or fault is in the way. Changes of a pool
// in a state that allows none are refused, as those of clients are.
func (c *Cloud) GroupsByHand(change func(*compute.Service) error) error {
	return c.by(func(w *region) error { return change(w.compute) })
}

// IgnorableOfGroups returns rules that each ignore one thing that clients can set of an instance pool, without end.
func IgnorableOfGroups() []sim.Fault {
	const service = compute.Name
	return slices.Concat(core.Ignoring(service, "DetachInstancePoolInstance", ""), core.Ignoring(service, "TerminateInstancePool", ""),
		core.Ignoring(service, "DeleteInstanceConfiguration", ""), core.Ignoring(service, "TerminationProceedInstancePoolInstance", ""),
		core.Ignoring(service, "UpdateInstancePool", "", "size", "instanceConfigurationId", "placementConfigurations", "freeformTags",
			"lifecycleManagement", "displayName"))
}

// GroupSnapshot returns the instance pools with their instance configurations, in the form of all clouds.
func (c *Cloud) GroupSnapshot() sim.Snapshot {
	var out sim.Snapshot
	// An error to write shows with the next request.
	_ = c.GroupsByHand(func(s *compute.Service) error {
		out = s.Snapshot()
		return nil
	})
	return out
}

// GroupCapabilities describes the cloud for callers that know instance pools and not which cloud it is.
func (c *Cloud) GroupCapabilities() sim.Capabilities {
	return sim.Capabilities{
		Snapshot:   c.GroupSnapshot,
		OutOfBand:  groupActions(c),
		Denied:     sim.Fault{Code: "NotAuthorizedOrNotFound", Message: rest.NotFound().Message, Status: http.StatusNotFound},
		NoCapacity: compute.NoCapacity,
		Groups: sim.GroupBehavior{BusyAfterChange: true, RecreatesInstances: true, HoldsOnce: true,
			RemovesUnheld: c.options.Switches.On(compute.HooksScaleInOnly)},
		Ignorable: IgnorableOfGroups(),
	}
}

// machineActions are the actions on one instance of an instance pool, by their names.
func machineActions(c *Cloud) map[string]func(id string) error {
	out := map[string]func(string) error{}
	for name, do := range map[string]func(*compute.Service, string) error{
		"terminate": (*compute.Service).Terminate, "stop": (*compute.Service).Stop, "start": (*compute.Service).Start,
		"interrupt": (*compute.Service).Interrupt, "detach": (*compute.Service).Detach,
	} {
		out[name] = func(id string) error {
			return c.GroupsByHand(func(s *compute.Service) error { return do(s, id) })
		}
	}
	return out
}

// Launching has an instance pool launch from an instance configuration. Both are named by their names or their OCIDs.
type Launching struct {
	Pool          string `json:"pool"`
	Configuration string `json:"configuration"`
}

// PointAt has an instance pool launch from another instance configuration.
func (c *Cloud) PointAt(l Launching) error {
	return c.GroupsByHand(func(s *compute.Service) error { return s.PointAt(l.Pool, l.Configuration) })
}

// groupActions returns the actions of the console on instance pools, which are named by their names or their OCIDs.
func groupActions(c *Cloud) sim.OutOfBandActions {
	by := func(do func(*compute.Service, sim.Resource) error) func(sim.Resource) error {
		return func(on sim.Resource) error {
			return c.GroupsByHand(func(s *compute.Service) error { return do(s, on) })
		}
	}
	named := func(do func(*compute.Service, string) error) func(sim.Resource) error {
		return by(func(s *compute.Service, on sim.Resource) error { return do(s, on.Name) })
	}
	instance := func(do func(*compute.Service, string) error) func(sim.Resource) error {
		return by(func(s *compute.Service, on sim.Resource) error { return do(s, on.Instance) })
	}
	return sim.OutOfBandActions{
		sim.CreateTemplate: named(func(s *compute.Service, name string) error {
			s.CreateConfiguration(Compartment, name)
			return nil
		}),
		sim.CreateGroup:    named(func(s *compute.Service, name string) error { return s.CreatePool(Compartment, name) }),
		sim.DeleteTemplate: named((*compute.Service).DeleteConfiguration), sim.DeleteGroup: named((*compute.Service).DeletePool),
		sim.SetSize: by(func(s *compute.Service, on sim.Resource) error {
			return s.Update(on.Name, document.Object{"size": float64(on.Size)})
		}),
		sim.Autoscale:   by(func(s *compute.Service, on sim.Resource) error { return s.Autoscale(on.Name, on.Size) }),
		sim.ChangeTag:   by(func(s *compute.Service, on sim.Resource) error { return s.Tag(on.Name, on.Key, on.Value) }),
		sim.RemoveTag:   by(func(s *compute.Service, on sim.Resource) error { return s.Tag(on.Name, on.Key, "") }),
		sim.RemoveHooks: named((*compute.Service).RemoveHook),
		sim.StopGroup:   named((*compute.Service).StopPool), sim.StartGroup: named((*compute.Service).StartPool),
		sim.TerminateInstance: instance((*compute.Service).Terminate), sim.StopInstance: instance((*compute.Service).Stop),
		sim.InterruptInstance: instance((*compute.Service).Interrupt), sim.DetachInstance: instance((*compute.Service).Detach),

		sim.CreateVersion: nil, sim.DeleteVersion: nil, sim.LaunchFrom: nil, sim.SetBounds: nil, sim.ResumeProcesses: nil,
		sim.MoveToStandby: nil, sim.MarkUnhealthy: nil, sim.RecommendReplacement: nil, sim.RebalanceZones: nil, sim.FailInstance: nil,
		sim.RecreateInstance: nil, sim.StartRollout: nil, sim.CancelRollout: nil, sim.FailRollout: nil, sim.UpgradeGroup: nil,
	}
}

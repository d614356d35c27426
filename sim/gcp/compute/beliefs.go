package compute

import "github.com/muster-project/muster/sim/evidence"

// Beliefs returns the behaviour of managed instance groups that drivers rely on.
func Beliefs() []evidence.Row {
	const (
		pool   = "gke/containernodepool-swap"
		policy = "InstanceGroupManagerInstanceLifecyclePolicy"
		sdk    = "google.golang.org/api v0.284.0"
	)
	return evidence.Of("Managed instance groups",
		evidence.Recorded("status.isStable is true at rest", pool),
		evidence.Recorded("currentActions counts every action, with zeros", pool),
		evidence.Recorded("A group has a fingerprint", pool),
		evidence.Recorded("Version v1 shows serviceAccount, updatePolicy.minReadySec and status.stateful.isStateful, which its description lacks",
			pool),
		evidence.Documented("The group recreates a failed instance by default", policy+".DefaultActionOnFailure", sdk).
			Declared("sim.GroupBehavior.RecreatesInstances"),
		evidence.Documented("By default a repair forces no update of the template", policy+".ForceUpdateOnRepair", sdk),
		evidence.Documented("deleteInstances and abandonInstances lower targetSize", "InstanceGroupManager.TargetSize", sdk),
		evidence.Documented("A group that can't create an instance tries again until it succeeds", "ManagedInstance.CurrentAction", sdk),
		evidence.Documented("listManagedInstances answers in one page by default", "InstanceGroupManager.ListManagedInstancesResults", sdk),
		evidence.Documented("A patch with another fingerprint than the current one is refused with 412 conditionNotMet",
			"InstanceGroupManager.Fingerprint", sdk),
		evidence.Documented("A regional group moves instances between zones after a removal unless redistribution is NONE",
			"InstanceGroupManagerUpdatePolicy.InstanceRedistributionType", sdk),
	)
}

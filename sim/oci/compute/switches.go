package compute

import "github.com/muster-project/muster/sim"

// The switches of Compute Management.
const (
	// ChangesWhileScaling accepts changes of a pool that is SCALING or PROVISIONING. Otherwise only its termination.
	ChangesWhileScaling sim.Switch = "oci.ChangesWhileScaling"
	// DetachesAtRest refuses to detach an instance while the pool is SCALING. Otherwise several can be detached at a time.
	DetachesAtRest sim.Switch = "oci.DetachesAtRest"
	// UpperStates shows the states of instances in upper case. Otherwise as a capital and small letters.
	UpperStates sim.Switch = "oci.UpperStates"
	// ShowsAwaiting shows instances that wait for their termination with that as their state. Otherwise lists show the machine's state.
	ShowsAwaiting sim.Switch = "oci.ShowsAwaiting"
	// ShowsTerminated lists instances of a pool for a day after their end. Otherwise they leave the list.
	ShowsTerminated sim.Switch = "oci.ShowsTerminated"
	// ForgetsTerminated does not show pools that are terminated. Otherwise they are shown for a day.
	ForgetsTerminated sim.Switch = "oci.ForgetsTerminated"
	// HooksScaleInOnly waits before terminations only where the size or the placement changes. Otherwise also where an instance is detached
	// and terminated, and where the pool is.
	HooksScaleInOnly sim.Switch = "oci.HooksScaleInOnly"
	// ProceedsAnyway accepts terminationProceed for an instance that does not wait. Otherwise it is refused.
	ProceedsAnyway sim.Switch = "oci.ProceedsAnyway"
	// RestartsStopped starts each stopped instance of a pool again. Otherwise only where all have stopped.
	RestartsStopped sim.Switch = "oci.RestartsStopped"
	// TriesOtherDomains launches in another availability domain of the pool where one has no capacity. Otherwise the pool waits for it.
	TriesOtherDomains sim.Switch = "oci.TriesOtherDomains"
	// KeepsWorkRequests has one work request for all attempts to launch, which stays IN_PROGRESS. Otherwise it fails after 10 minutes, and
	// the next attempt has another.
	KeepsWorkRequests sim.Switch = "oci.KeepsWorkRequests"
	// ChecksConfigurations refuses an instance configuration from which nothing can be launched. Otherwise the launch fails.
	ChecksConfigurations sim.Switch = "oci.ChecksConfigurations"
	// RefusesPreemptible refuses a pool of preemptible instances. Otherwise they are launched.
	RefusesPreemptible sim.Switch = "oci.RefusesPreemptible"
	// TagDefaults adds defined tags to each new resource, by defaults of the tenancy. Otherwise there are none.
	TagDefaults sim.Switch = "oci.TagDefaults"
)

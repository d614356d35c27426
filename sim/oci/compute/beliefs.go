package compute

import (
	"slices"

	"github.com/muster-project/muster/sim/evidence"
)

// Beliefs returns the behaviour of Compute Management that drivers rely on.
func Beliefs() []evidence.Row {
	return evidence.Of("OCI Compute Management", slices.Concat(documented(), observed(), assumed())...)
}

func documented() []evidence.Row {
	const (
		swagger, version = "Swagger of Core Services", "20160918"
		pools, published = "Oracle, Using Instance Configurations and Instance Pools", "2025"
		resizing         = "Oracle, Updating the Size of an Instance Pool"
	)
	return []evidence.Row{
		evidence.Documented("A page has 100 items at most", swagger+", limit", version),
		evidence.Documented("DetachInstancePoolInstance lowers the size unless isDecrementSize is false, and keeps the instance unless "+
			"isAutoTerminate", swagger+", DetachInstancePoolInstanceDetails", version),
		evidence.Documented("Metadata and extended metadata have 32,000 bytes at most", swagger+", extendedMetadata", version),
		evidence.Documented("A pool waits before a termination for the time of its action, which no operation makes longer",
			swagger+", InstancePoolPreTerminationActionDetails", version).Declared("sim.GroupBehavior.HoldsOnce"),
		evidence.Documented("Dedicated virtual machine hosts can't be used for pools", swagger+", dedicatedVmHostId", version),
		evidence.Documented("A pool that is terminated takes its instances with it", swagger+", TerminateInstancePool", version),
		evidence.Documented("A configuration with a boot volume as source can't be used for a pool",
			"Oracle, Creating Instance Pools", published),
		evidence.Documented("A configuration that a pool uses can't be deleted", pools, published),
		evidence.Documented("A pool that is PROVISIONING, STARTING or SCALING can only be terminated", pools, published).
			Switch(ChangesWhileScaling, "changed while it is PROVISIONING or SCALING, as the cluster-autoscaler does"),
		evidence.Documented("Another configuration changes no instance that exists", pools, published),
		evidence.Documented("A pool launches instances in the place of terminated ones", pools, published).
			Declared("sim.GroupBehavior.RecreatesInstances"),
		evidence.Documented("A pool without capacity becomes RUNNING after 24 hours, and its size that of the instances that run",
			pools, published),
		evidence.Documented("Instances are spread over the named fault domains, or over all", pools, published),
		evidence.Documented("Tags of the pool and of the configuration are given to instances at their launch", pools, published),
		evidence.Documented("A smaller size takes instances from the availability domain with the most, then from the fault domain, the "+
			"oldest first", resizing, published),
		evidence.Documented("A pool that is STOPPED launches nothing for a larger size", resizing, published),
		evidence.Documented("The instances of a removed availability domain are replaced in others",
			"Oracle, Updating Instance Placement in an Instance Pool", published),
		evidence.Documented("A pool starts its instances again where all have stopped", "Oracle, Stopping and Starting the Instances in an "+
			"Instance Pool", published).Switch(RestartsStopped, "each one that has stopped"),
		evidence.Documented("Preemptible instances are taken back two minutes after the announcement",
			"Oracle, Preemptible Instances", published),
		evidence.Documented("Names of instances contain ${launchCount}", "Oracle, Creating Instance Pools", published),
	}
}

func observed() []evidence.Row {
	const (
		autoscaler = "cluster-autoscaler, cloudprovider/oci/instancepools"
		provider   = "cluster-api-provider-oci f917d3c5"
	)
	return []evidence.Row{
		evidence.Observed("A size and a configuration are a complete UpdateInstancePool: other members stay", autoscaler),
		evidence.Observed("Errors of launches are in work requests LaunchInstancesInPool, with OutOfCapacity, LimitExceeded or QuotaExceeded in "+
			"their messages", autoscaler),
		evidence.Observed("The work request of launches that fail is FAILED while the pool tries again", autoscaler).
			Switch(KeepsWorkRequests, "IN_PROGRESS as long as the pool tries"),
		evidence.Observed("Several instances are detached while the pool is SCALING", autoscaler).
			Switch(DetachesAtRest, "refused with 409 IncorrectState"),
		evidence.Observed("The state of an instance that runs is Running", provider).
			Switch(UpperStates, "RUNNING, as the cluster-autoscaler compares"),
		evidence.Observed("A configuration that a pool uses is refused with 409", provider),
		evidence.Observed("Pools can have preemptible instances", provider).
			Switch(RefusesPreemptible, "refused with 400 InvalidParameter, as Oracle's page has it"),
		evidence.Observed("Provider IDs are oci:// and the OCID of the instance", provider),
		evidence.Observed("currentSize, poolType and overridePolicy are members of pools", "oci-go-sdk v65.130.0, core"),
	}
}

func assumed() []evidence.Row {
	return []evidence.Row{
		evidence.Assumed("A pool waits before each termination where it has a pre-termination action").
			Switch(HooksScaleInOnly, "only where its size or its placement changes").Declared("sim.GroupBehavior.RemovesUnheld"),
		evidence.Assumed("Lists show an instance that waits for its termination as Running").
			Switch(ShowsAwaiting, "as Termination_await"),
		evidence.Assumed("An instance that is terminated leaves the list of its pool").
			Switch(ShowsTerminated, "it is Terminated for a day"),
		evidence.Assumed("A pool that is terminated is TERMINATED for a day").
			Switch(ForgetsTerminated, "it does not exist"),
		evidence.Assumed("A pool waits for capacity in the availability domain with the fewest instances").
			Switch(TriesOtherDomains, "it launches in another one"),
		evidence.Assumed("A configuration is not compared with what can be launched").
			Switch(ChecksConfigurations, "refused with 400 InvalidParameter"),
		evidence.Assumed("New resources have no defined tags but those of the request").
			Switch(TagDefaults, "also Oracle-Tags.CreatedBy and CreatedOn, by tag defaults of the tenancy"),
		evidence.Assumed("terminationProceed for an instance that does not wait is refused with 409 IncorrectState").
			Switch(ProceedsAnyway, "accepted without an effect"),
	}
}

package compute

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
)

// LiveTags lets machines of uniform scale sets show the scale set's current tags instead of those they were created with.
const LiveTags sim.Switch = "scaleset.LiveTags"

// Beliefs returns the behaviour of scale sets that drivers rely on.
func Beliefs() []evidence.Row {
	const (
		sdk = "armcompute v8.3.0"
		// modify and latest are the same scenario of a Uniform scale set, recorded in 2023 in version 2020-06-01 and in 2024 in 2023-09-01.
		modify = "Azure/azure-cli: hybrid_2020_09_01/test_vmss_create_and_modify"
		latest = "Azure/azure-cli: vm/latest/test_vmss_create_and_modify"
		// update is of 2022 and version 2022-03-01, rolling of 2019, created of 2026 and version 2022-03-01.
		update  = "Azure/azure-cli: vm/latest/test_vmss_update"
		rolling = "Azure/azure-cli: vm/latest/test_vmss_rolling_upgrade"
		created = "Azure/azure-service-operator: Test_Compute_VMSS_20220301_CRUD"
	)
	return evidence.Of("Scale sets",
		evidence.Assumed("Machines of a uniform scale set show the tags that they were created with").
			Switch(LiveTags, "the current tags of the scale set"),
		evidence.Recorded("latestModelApplied is false of a machine that lacks a change of its scale set in mode Manual", update),
		evidence.Recorded("The PUT that creates a scale set is answered with 201, state Creating and Azure-AsyncOperation, without Location",
			created),
		evidence.Recorded("A PUT of a machine is answered with 200, state Updating and Azure-AsyncOperation, and shows the protection at once",
			update),
		evidence.Recorded("A machine that is protected keeps latestModelApplied, and modelDefinitionApplied VirtualMachineScaleSet", update),
		evidence.Observed("A PUT that names the protection alone changes nothing else but the etag (one with the whole model can change that)",
			"Azure/azure-cli: issue 30708 (the portal, and the CLI)"),
		evidence.Observed("A PUT of a machine of a Uniform scale set leaves its tags as they are",
			"Azure/azure-sdk-for-go: issue 18278, Azure/azure-libraries-for-net: issue 1299"),
		evidence.Recorded("manualupgrade is answered with 202, no body, Azure-AsyncOperation and Location", rolling),
		evidence.Recorded("A PUT of an existing scale set is answered with 200, state Updating and Azure-AsyncOperation, without Location",
			modify),
		evidence.Recorded("Properties that a PUT leaves out keep their values: one with location and sku alone scales", modify),
		evidence.Recorded("The deletion of a scale set or of machines is answered with 202, no body, Azure-AsyncOperation and Location", modify),
		evidence.Recorded("The address in Location has monitor=true and is answered with 200 and no body after the operation", modify),
		evidence.Recorded("An operation shows name, startTime and status InProgress, and endTime once it has ended", modify),
		evidence.Recorded("An accepted request has Retry-After 10, the status of a running operation about 30; until 2024 neither had one",
			created),
		evidence.Recorded("Addresses of operations are signed and more than 3,000 characters long", latest),
		evidence.Recorded("The instance view counts machines by provisioning state; without extensions it has no member extensions", modify),
		evidence.Recorded("Machines of a Uniform scale set are named SET_ID, their computers by the prefix and six digits", modify),
		evidence.Recorded("A machine shows the version of its image in exactVersion, and its size in sku and hardwareProfile", modify),
		evidence.Recorded("The list of a subscription writes resource groups in capital letters", latest),
		evidence.Recorded("A scale set has an etag, a number in quotes, and shows it in the header ETag too", latest),
		evidence.Recorded("overprovision true and doNotRunExtensionsOnOverprovisionedVMs false are defaults of Uniform scale sets", latest),
		evidence.Recorded("platformFaultDomainCount 1 and constrainedMaximumCapacity false are defaults of Flexible scale sets", latest),
		evidence.Recorded("timeCreated is shown of the scale set and in its profile", latest),
		evidence.Recorded("What does not exist is refused with 404 ResourceNotFound by Resource Manager",
			"Azure/azure-service-operator: Test_AKS_ManagedCluster_20260501_CRUD"),
		evidence.Documented("A PUT of a scale set is accepted with 200 or 201, a deletion with 200, 202 or 204",
			"VirtualMachineScaleSetsClient.BeginCreateOrUpdate and BeginDelete", sdk),
	)
}

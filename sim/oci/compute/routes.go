package compute

import (
	"net/http"

	"github.com/muster-project/muster/sim/oci/rest"
)

// Name is the name of the service in calls and faults.
const Name = "core"

const (
	at               = "/20160918"
	atConfigurations = at + "/instanceConfigurations"
	atConfiguration  = atConfigurations + "/{instanceConfigurationId}"
	atPools          = at + "/instancePools"
	atPool           = atPools + "/{instancePoolId}"
	atMembers        = atPool + "/instances"
	atActions        = atPool + "/actions"
)

// The permissions of the operations on pools that have more than one.
var (
	creates    = []string{"INSTANCE_POOL_CREATE", "INSTANCE_CREATE", "IMAGE_READ", "VNIC_CREATE", "SUBNET_ATTACH"}
	terminates = []string{"INSTANCE_POOL_DELETE", "INSTANCE_DELETE", "VNIC_DELETE", "SUBNET_DETACH", "VOLUME_ATTACHMENT_DELETE",
		"VOLUME_WRITE"}
)

const powers = "INSTANCE_POOL_POWER_ACTIONS"

// Routes are the operations that are served.
var Routes = []rest.Route[*Service]{
	rest.Reads(Name, "ListInstanceConfigurations", atConfigurations, listInstanceConfigurations, "INSTANCE_CONFIGURATION_INSPECT"),
	rest.Reads(Name, "GetInstanceConfiguration", atConfiguration, onConfiguration(getInstanceConfiguration), "INSTANCE_CONFIGURATION_READ"),
	rest.Reads(Name, "ListInstancePools", atPools, listInstancePools, "INSTANCE_POOL_INSPECT"),
	rest.Reads(Name, "GetInstancePool", atPool, onPool(getInstancePool), "INSTANCE_POOL_READ"),
	rest.Reads(Name, "ListInstancePoolInstances", atMembers, onPool(listInstancePoolInstances), "INSTANCE_POOL_READ"),
	rest.Reads(Name, "GetInstancePoolInstance", atMembers+"/{instanceId}", onPool(getInstancePoolInstance), "INSTANCE_POOL_READ"),
	rest.Reads(Name, "ListShapes", at+"/shapes", listShapes, "INSTANCE_INSPECT"),

	rest.Writes(Name, "CreateInstanceConfiguration", http.MethodPost, atConfigurations, createInstanceConfiguration,
		"INSTANCE_CONFIGURATION_CREATE"),
	rest.Writes(Name, "DeleteInstanceConfiguration", http.MethodDelete, atConfiguration, onConfiguration(deleteInstanceConfiguration),
		"INSTANCE_CONFIGURATION_DELETE"),
	rest.Writes(Name, "CreateInstancePool", http.MethodPost, atPools, createInstancePool, creates...),
	rest.Writes(Name, "UpdateInstancePool", http.MethodPut, atPool, onPool(updateInstancePool), "INSTANCE_POOL_UPDATE"),
	rest.Writes(Name, "TerminateInstancePool", http.MethodDelete, atPool, onPool(terminateInstancePool), terminates...),
	rest.Writes(Name, "StartInstancePool", http.MethodPost, atActions+"/start", powering(startAll, stopped), powers),
	rest.Writes(Name, "StopInstancePool", http.MethodPost, atActions+"/stop", powering(stopAll, running), powers),
	rest.Writes(Name, "ResetInstancePool", http.MethodPost, atActions+"/reset", powering(resetAll, running), powers),
	rest.Writes(Name, "AttachInstancePoolInstance", http.MethodPost, atMembers, onPool(attachInstancePoolInstance),
		"INSTANCE_POOL_INSTANCE_ATTACH"),
	rest.Writes(Name, "DetachInstancePoolInstance", http.MethodPost, atActions+"/detachInstance", onPool(detachInstancePoolInstance),
		"INSTANCE_POOL_INSTANCE_DETACH"),
	rest.Writes(Name, "TerminationProceedInstancePoolInstance", http.MethodPost, atActions+"/terminationProceed",
		onPool(terminationProceedInstancePoolInstance), "INSTANCE_POOL_UPDATE"),
}

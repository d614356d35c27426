package permissions

// Grants are everything that pools of any kind need, in a fixed order.
func Grants() []Grant {
	return []Grant{
		{At: "instance pools", Permissions: instancePools()},
		{At: "instances of instance pools and of node pools, and their networks", Permissions: instances()},
		{At: "node pools of OKE", Permissions: nodePools()},
		{At: "virtual node pools of OKE", Permissions: virtualNodePools()},
	}
}

// instancePools is about instance pools and instance configurations.
func instancePools() []Permission {
	const pools, configurations = "INSTANCE_POOL_", "INSTANCE_CONFIGURATION_"
	return []Permission{
		{Name: pools + "INSPECT", Why: "one list reads the instance pools of a compartment"},
		{Name: pools + "READ", Why: "each pass looks at the pool, if it has changed, and at its instances"},
		{Name: pools + "CREATE", Why: "the pool is created; why instances do not come is read from its work requests"},
		{Name: pools + "UPDATE", Why: "the pool grows, gets another instance configuration and tags; a drained instance goes"},
		{Name: pools + "DELETE", Why: "the pool is deleted"},
		{Name: pools + "INSTANCE_DETACH", Why: "chosen, drained instances go"},
		{Name: configurations + "INSPECT", Why: "which instance configurations of a pool exist"},
		{Name: configurations + "READ", Why: "what an adopted pool launches from"},
		{Name: configurations + "CREATE", Why: "the specification or the bootstrap data has changed"},
		{Name: configurations + "DELETE", Why: "configurations that no instance needs go, and all of them with the pool"},
		{Name: "WORKREQUEST_INSPECT", Why: "why instances do not come, in the words of Oracle Cloud"},
	}
}

// instances is about what Oracle Cloud checks when a pool launches and terminates instances.
func instances() []Permission {
	return []Permission{
		{Name: "INSTANCE_INSPECT", Why: "what a shape offers, for autoscalers"},
		{Name: "INSTANCE_CREATE", Why: "a pool launches instances", ByService: true},
		{Name: "INSTANCE_DELETE", Why: "a pool terminates instances", ByService: true},
		{Name: "IMAGE_READ", Why: "instances boot the image", ByService: true},
		{Name: "VNIC_CREATE", Why: "instances have an interface in a subnet", ByService: true},
		{Name: "VNIC_DELETE", Why: "it goes with its instance", ByService: true},
		{Name: "SUBNET_ATTACH", Why: "instances are in a subnet; grant it in the compartment of the network too", ByService: true},
		{Name: "SUBNET_DETACH", Why: "they leave it", ByService: true},
		{Name: "VOLUME_ATTACHMENT_DELETE", Why: "the boot volume goes with its instance", ByService: true},
		{Name: "VOLUME_WRITE", Why: "the same", ByService: true},
	}
}

// nodePools is about node pools of OKE.
func nodePools() []Permission {
	const pools, works = "CLUSTER_NODE_POOL_", "CLUSTER_WORK_REQUEST_"
	return []Permission{
		{Name: pools + "INSPECT", Why: "one list reads the node pools of a compartment"},
		{Name: pools + "READ", Why: "the nodes of a pool that has changed, and the images of OKE"},
		{Name: pools + "CREATE", Why: "the pool is created"},
		{Name: pools + "UPDATE", Why: "the pool grows, is adopted, gets another version and other settings; chosen, drained nodes go"},
		{Name: pools + "DELETE", Why: "the pool is deleted"},
		{Name: works + "INSPECT", Why: "what OKE does to a pool"},
		{Name: works + "READ", Why: "how that ended, in OKE's words"},
	}
}

// virtualNodePools is about virtual node pools of OKE.
func virtualNodePools() []Permission {
	const pools = "CLUSTER_VIRTUAL_NODE_POOL_"
	return []Permission{
		{Name: pools + "INSPECT", Why: "one list reads the virtual node pools of a compartment"},
		{Name: pools + "READ", Why: "the virtual nodes of a pool that has changed"},
		{Name: pools + "CREATE", Why: "the pool is created"},
		{Name: pools + "UPDATE", Why: "the pool grows, shrinks, is adopted and gets other settings"},
		{Name: pools + "DELETE", Why: "the pool is deleted"},
		{Name: "CLUSTER_POD_SHAPE_INSPECT", Why: "what a shape of pods offers, for autoscalers"},
	}
}

package permissions

const (
	atProject = "the cluster's project"
	atImages  = "the project of the images"
	atNetwork = "the project of the network"
)

// groups is about managed instance groups of Compute Engine.
func groups() []Grant {
	const managers, templates = "compute.instanceGroupManagers.", "compute.instanceTemplates."
	return []Grant{{At: atProject, Permissions: []Permission{
		{Name: managers + "get", Why: "each pass looks at the group and its instances"},
		{Name: managers + "list", Why: "one list reads the groups of all pools of the project"},
		{Name: managers + "create", Why: "the group of a pool is made"},
		{Name: managers + "update", Why: "the group grows, gets another template, labels and policies; chosen, drained instances go"},
		{Name: managers + "delete", Why: "the pool is deleted"},
		{Name: templates + "list", Why: "which templates of a pool exist"},
		{Name: templates + "get", Why: "what an adopted group launches from"},
		{Name: templates + "create", Why: "the specification or the bootstrap data has changed"},
		{Name: templates + "delete", Why: "templates that no instance needs go, and all of them with the pool"},
		{Name: templates + "useReadOnly", Why: "a group is made, or pointed at another template"},
		{Name: "compute.instances.get", Why: "since when an instance exists"},
		{Name: "compute.instances.list", Why: "since when instances exist; one list reads the instances of all pools of the project"},
		{Name: "compute.instances.setLabels", Why: "spec.additionalLabels change, or an instance lacks some"},
		{Name: "compute.machineTypes.get", Why: "what a machine type offers, for autoscalers"},
		{Name: "compute.zoneOperations.get", Why: "why an operation on a zonal group failed, in Compute Engine's words"},
		{Name: "compute.regionOperations.get", Why: "why an operation on a regional group failed"},
		{Name: "compute.healthChecks.useReadOnly", Why: "spec.autoHealing", ByService: true},
		{Name: "iam.serviceAccounts.actAs", Why: "instances act as the service account of spec.serviceAccounts; grant it on that account alone",
			ByService: true},
	}}, {At: atImages, Permissions: []Permission{
		{Name: "compute.images.getFromFamily", Why: "which image of a family is the newest"},
		{Name: "compute.images.useReadOnly", Why: "instances boot the image", ByService: true},
	}}, {At: atNetwork, Permissions: []Permission{
		{Name: "compute.subnetworks.use", Why: "instances are in a subnet", ByService: true},
		{Name: "compute.subnetworks.useExternalIp", Why: "spec.publicIP", ByService: true},
		{Name: "compute.networks.use", Why: "instances are in a network without a subnet that is named", ByService: true},
	}}, {At: "the tags of Resource Manager that the specification names", Permissions: []Permission{
		{Name: "resourcemanager.tagValueBindings.create", Why: "spec.resourceManagerTags", ByService: true},
	}}}
}

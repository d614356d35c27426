package admission

import (
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// latest is a version that stands for another image whenever one is published.
const latest = "latest"

// warnings are of what is allowed and on its way out, has no effect, or does harm.
func warnings(p *azurev1.AzureMachinePool) admission.Warnings {
	spec, t := &p.Spec, &p.Spec.Template
	var list admission.Warnings
	for _, w := range []struct {
		holds bool
		text  string
	}{
		{t.SubnetName != "", "spec.template.subnetName: is deprecated; use spec.template.networkInterfaces[0].subnetName"},
		{t.AcceleratedNetworking != nil && len(t.NetworkInterfaces) == 0,
			"spec.template.acceleratedNetworking: is deprecated; use spec.template.networkInterfaces[0].acceleratedNetworking"},
		{t.AcceleratedNetworking != nil && len(t.NetworkInterfaces) > 0,
			"spec.template.acceleratedNetworking: has no effect beside spec.template.networkInterfaces, where each interface says it"},
		{spec.RoleAssignmentName != "", "spec.roleAssignmentName: is deprecated; use spec.systemAssignedIdentityRole.name"},
		{t.SSHPublicKey != "" && spec.Windows(), "spec.template.sshPublicKey: has no effect on Windows"},
		{spec.Identity == azurev1.VMIdentitySystemAssigned && (spec.SystemAssignedIdentityRole == nil ||
			spec.SystemAssignedIdentityRole.DefinitionID == ""),
			"spec.identity: without spec.systemAssignedIdentityRole.definitionID every machine of the pool is a Contributor, who may change and " +
				"delete what the scope holds"},
		{t.SpotVMOptions != nil && t.SpotVMOptions.EvictionPolicy != nil &&
			*t.SpotVMOptions.EvictionPolicy == azurev1.SpotEvictionPolicyDeallocate,
			"spec.template.spotVMOptions.evictionPolicy: a machine that is deallocated runs no pods and is replaced; Delete spares its disks' " +
				"price until then"},
	} {
		if w.holds {
			list = append(list, w.text)
		}
	}
	return append(list, imageWarnings(t.Image)...)
}

func imageWarnings(image *azurev1.Image) admission.Warnings {
	if image == nil {
		return nil
	}
	var list admission.Warnings
	version := ""
	switch {
	case image.SharedGallery != nil:
		version = image.SharedGallery.Version
		list = append(list, "spec.template.image.sharedGallery: is deprecated; use spec.template.image.computeGallery")
	case image.ComputeGallery != nil:
		version = image.ComputeGallery.Version
	case image.Marketplace != nil:
		version = image.Marketplace.Version
	}
	if version == latest {
		list = append(list, "spec.template.image: version latest stands for another image whenever one is published, so that machines of one "+
			"pool may differ; that alone replaces none")
	}
	return list
}

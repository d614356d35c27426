package warnings

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

// machinePool are the warnings of an AWSMachinePool.
func machinePool(p *awsv1.AWSMachinePool) admission.Warnings {
	var c collected
	spec := &p.Spec
	c.when(spec.Strategy != nil && spec.RefreshPreferences != nil,
		"spec.refreshPreferences: has no effect while spec.strategy is set, which replaces machines one by one")
	c.template(&spec.AWSLaunchTemplate)
	return admission.Warnings(c)
}

// managed are the warnings of an AWSManagedMachinePool. Fields that a launch template says better are on their way out; the
// fifth of them, the instance profile, a managed pool has never had outside of the template, where it is refused.
func managed(p *awsv1.AWSManagedMachinePool) admission.Warnings {
	var c collected
	spec := &p.Spec
	if spec.AWSLaunchTemplate == nil {
		c.deprecated(spec)
	} else {
		c.template(spec.AWSLaunchTemplate)
	}
	c.when(spec.AMIType != nil && strings.HasPrefix(string(*spec.AMIType), "AL2_"),
		"spec.amiType: EKS publishes no image of Amazon Linux 2 for Kubernetes 1.33 and later; AL2023_x86_64_STANDARD or AL2023_ARM_64_STANDARD follows it")
	c.when(len(spec.AWSLifecycleHooks) > 0,
		"spec.lifecycleHooks: has no effect: the group behind a node group is EKS's, with hooks of its own")
	c.when(spec.UpdateConfig != nil && spec.UpdateConfig.Force,
		"spec.updateConfig.force: pods that a disruption budget keeps from being evicted for fifteen minutes are lost with their machine")
	c.when(spec.RemoteAccess != nil && spec.RemoteAccess.Public,
		"spec.remoteAccess.public: opens SSH of every machine to 0.0.0.0/0")
	return admission.Warnings(c)
}

// deprecated are the fields that a launch template says better.
func (c *collected) deprecated(spec *awsv1.AWSManagedMachinePoolSpec) {
	const instead = "spec.%s: is deprecated without spec.awsLaunchTemplate and will not be supported in a later version; %s"
	c.when(spec.AMIType != nil, instead, "amiType", "name the image in spec.awsLaunchTemplate, or leave it to EKS")
	c.when(spec.AMIVersion != nil, instead, "amiVersion", "name the image in spec.awsLaunchTemplate.ami, or leave it to EKS")
	c.when(spec.InstanceType != nil, instead, "instanceType", "use spec.awsLaunchTemplate.instanceType")
	c.when(spec.DiskSize != nil, instead, "diskSize", "use spec.awsLaunchTemplate.rootVolume.size")
}

// template are the warnings of a launch template, the same for both kinds.
func (c *collected) template(t *awsv1.AWSLaunchTemplate) {
	c.when(t.VersionNumber != nil,
		"spec.awsLaunchTemplate.versionNumber: has no effect: machines are launched from the newest version of the pool's own template (spec.awsLaunchTemplate.existing brings a version of another)")
}

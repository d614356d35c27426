// Package warnings warns about AWSMachinePools and AWSManagedMachinePools at admission.
package warnings

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/webhook/checks"
)

// The paths that are served.
const (
	AWSMachinePoolPath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepool"
	AWSManagedMachinePoolPath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepool"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepool,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmachinepools,versions=v1beta2,name=warnings.awsmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepool,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmanagedmachinepools,versions=v1beta2,name=warnings.awsmanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1

// OfAWSMachinePool warns about AWSMachinePools.
func OfAWSMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.WarningWebhook(scheme, machinePool, func(p *awsv1.AWSMachinePool) any {
		spec := p.Spec.DeepCopy()
		spec.ProviderID, spec.ProviderIDList = "", nil
		return spec
	})
}

// OfAWSManagedMachinePool warns about AWSManagedMachinePools.
func OfAWSManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.WarningWebhook(scheme, managed, func(p *awsv1.AWSManagedMachinePool) any {
		spec := p.Spec.DeepCopy()
		spec.ProviderID, spec.ProviderIDList = "", nil
		return spec
	})
}

// collected are warnings whose condition holds.
type collected struct{ checks.Warnings }

// machinePool are the warnings of an AWSMachinePool.
func machinePool(p *awsv1.AWSMachinePool) admission.Warnings {
	var c collected
	spec := &p.Spec
	c.rollout(spec)
	c.template(&spec.AWSLaunchTemplate)
	return admission.Warnings(c.Warnings)
}

// rollout are the warnings of the fields of a rollout.
func (c *collected) rollout(spec *awsv1.AWSMachinePoolSpec) {
	preferences := spec.RefreshPreferences
	switch {
	case preferences == nil || spec.Strategy != nil && spec.Strategy.Type == awsv1.StrategyInstanceRefresh:
	case spec.Strategy != nil:
		c.When(true, "spec.refreshPreferences: has no effect with spec.strategy.type RollingUpdate: its limits are those of "+
			"spec.strategy.rollingUpdate")
	default:
		var unused []string
		for field, set := range refreshOnly(preferences) {
			if set {
				unused = append(unused, field)
			}
		}
		slices.Sort(unused)
		c.When(len(unused) > 0, "spec.refreshPreferences: %s: without effect, because no instance refresh replaces machines unless "+
			"spec.strategy.type is InstanceRefresh; a rollout stops at the first new machine that does not join", strings.Join(unused, ", "))
	}
}

// refreshOnly reports which of the preferences that have a meaning in an instance refresh alone are set.
func refreshOnly(preferences *awsv1.RefreshPreferences) map[string]bool {
	return map[string]bool{
		"checkpointPercentages":     len(preferences.CheckpointPercentages) > 0,
		"bakeTime":                  preferences.BakeTime != nil,
		"autoRollback":              preferences.AutoRollback,
		"alarmSpecification":        preferences.AlarmSpecification != nil,
		"scaleInProtectedInstances": preferences.ScaleInProtectedInstances != "",
		"standbyInstances":          preferences.StandbyInstances != "",
	}
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
	c.When(spec.AMIType != nil && strings.HasPrefix(string(*spec.AMIType), "AL2_"),
		"spec.amiType: EKS publishes no image of Amazon Linux 2 for Kubernetes 1.33 and later; AL2023_x86_64_STANDARD or "+
			"AL2023_ARM_64_STANDARD follows it")
	c.When(len(spec.AWSLifecycleHooks) > 0,
		"spec.lifecycleHooks: has no effect: the group behind a node group is EKS's, with hooks of its own")
	c.When(spec.UpdateConfig != nil && spec.UpdateConfig.Force,
		"spec.updateConfig.force: pods that a disruption budget keeps from being evicted for fifteen minutes are lost with their machine")
	c.When(spec.RemoteAccess != nil && spec.RemoteAccess.Public,
		"spec.remoteAccess.public: opens SSH of every machine to 0.0.0.0/0")
	return admission.Warnings(c.Warnings)
}

// deprecated are the fields that a launch template says better.
func (c *collected) deprecated(spec *awsv1.AWSManagedMachinePoolSpec) {
	const instead = "spec.%s: is deprecated without spec.awsLaunchTemplate and will not be supported in a later version; %s"
	c.When(spec.AMIType != nil, instead, "amiType", "name the image in spec.awsLaunchTemplate, or leave it to EKS")
	c.When(spec.AMIVersion != nil, instead, "amiVersion", "name the image in spec.awsLaunchTemplate.ami, or leave it to EKS")
	c.When(spec.InstanceType != nil, instead, "instanceType", "use spec.awsLaunchTemplate.instanceType")
	c.When(spec.DiskSize != nil, instead, "diskSize", "use spec.awsLaunchTemplate.rootVolume.size")
}

// template are the warnings of a launch template, the same for both kinds.
func (c *collected) template(t *awsv1.AWSLaunchTemplate) {
	c.When(t.VersionNumber != nil,
		"spec.awsLaunchTemplate.versionNumber: has no effect: machines are launched from the newest version of the pool's own template "+
			"(spec.awsLaunchTemplate.existing brings a version of another)")
}

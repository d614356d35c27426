package world

import (
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/test/explore/oracle"
)

// infra is a pool's infrastructure object, of one of the kinds: the others are nil.
type infra struct {
	client.Object
	// group is it as an AWSMachinePool, managed as an AWSManagedMachinePool.
	group   *awsv1.AWSMachinePool
	managed *awsv1.AWSManagedMachinePool
	// azure is it as an AzureMachinePool.
	azure *azurev1.AzureMachinePool
	// agents is it as an agent pool of AKS.
	agents *agentPool
}

// newInfra is an object of the scenario's kind with nothing in it.
func (s Scenario) newInfra() *infra {
	if s.onAKS() {
		return newAgentPool(s.AgentPool)
	}
	if s.onAzure() {
		o := &azurev1.AzureMachinePool{}
		return &infra{Object: o, azure: o}
	}
	if s.Managed {
		o := &awsv1.AWSManagedMachinePool{}
		return &infra{Object: o, managed: o}
	}
	o := &awsv1.AWSMachinePool{}
	return &infra{Object: o, group: o}
}

// kind is the name of the object's kind.
func (s Scenario) kind() string {
	if s.onAKS() {
		return string(s.AgentPool)
	}
	if s.onAzure() {
		return azurev1.AzureMachinePoolKind
	}
	if s.Managed {
		return awsv1.AWSManagedMachinePoolKind
	}
	return awsv1.AWSMachinePoolKind
}

// template is what machines are launched as; nil where the cloud itself says.
func (o *infra) template() *awsv1.AWSLaunchTemplate {
	if o.azure != nil || o.agents != nil {
		return nil
	}
	if o.managed != nil {
		return o.managed.Spec.AWSLaunchTemplate
	}
	return &o.group.Spec.AWSLaunchTemplate
}

// setTemplate replaces what machines are launched as, where the object says it.
func (o *infra) setTemplate(t awsv1.AWSLaunchTemplate) {
	if is := o.template(); is != nil {
		t.VersionsToKeep = is.VersionsToKeep
		*is = t
	}
}

// keep is how many versions of distinct content the template keeps.
func (o *infra) keep() int { return o.template().Keep() }

// bounds are those of the number of machines. A bound that is not set is as far as the replicas go.
func (o *infra) bounds() (least, most int32) {
	if o.agents != nil {
		return o.agents.bounds()
	}
	if o.azure != nil {
		return 0, plenty
	}
	if o.managed == nil {
		return o.group.Spec.MinSize, o.group.Spec.MaxSize
	}
	s := ptr.Deref(o.managed.Spec.Scaling, awsv1.ManagedMachinePoolScaling{})
	return ptr.Deref(s.MinSize, 0), ptr.Deref(s.MaxSize, plenty)
}

// bound sets the bounds.
func (o *infra) bound(least, most int32) {
	if o.agents != nil {
		o.agents.bound(least, most)
		return
	}
	if o.azure != nil {
		return // scale sets have none
	}
	if o.managed == nil {
		o.group.Spec.MinSize, o.group.Spec.MaxSize = least, most
		return
	}
	o.managed.Spec.Scaling = &awsv1.ManagedMachinePoolScaling{MinSize: &least, MaxSize: &most}
}

// status is what every kind's status tells.
func (o *infra) status() *common.Status {
	if o.agents != nil {
		return o.agents.status()
	}
	if o.azure != nil {
		return &o.azure.Status.Status
	}
	if o.managed != nil {
		return &o.managed.Status.Status
	}
	return &o.group.Status.Status
}

// strategy is how machines are replaced by our hand; nil where the cloud replaces them.
func (o *infra) strategy() *common.Strategy {
	if o.azure != nil {
		return &o.azure.Spec.Strategy
	}
	if o.managed != nil || o.agents != nil {
		return nil
	}
	return o.group.Spec.Strategy
}

// rolls reports whether machines of another template than the wanted one are to be replaced, as far as the object says.
func (o *infra) rolls() bool {
	if o.managed != nil || o.azure != nil || o.agents != nil {
		return true
	}
	p := o.group.Spec.RefreshPreferences
	return o.group.Spec.Strategy != nil || p == nil || !p.Disable
}

// unavailable is how many machines of a managed pool may be missing.
func (o *infra) unavailable() oracle.Share {
	switch c := o.managed.Spec.UpdateConfig; {
	case c == nil:
	case c.MaxUnavailable != nil:
		return oracle.Share{N: *c.MaxUnavailable}
	case c.MaxUnavailablePercentage != nil:
		return oracle.Share{N: *c.MaxUnavailablePercentage, Percent: true}
	}
	return oracle.Share{N: 1}
}

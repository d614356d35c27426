package world

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

// infra is a pool's infrastructure object.
type infra struct {
	client.Object
	// group is it as an AWSMachinePool.
	group *awsv1.AWSMachinePool
}

// newInfra is an object of the scenario's kind with nothing in it.
func (s Scenario) newInfra() *infra {
	o := &awsv1.AWSMachinePool{}
	return &infra{Object: o, group: o}
}

// kind is the name of the object's kind.
func (s Scenario) kind() string { return awsv1.AWSMachinePoolKind }

// template is what machines are launched as.
func (o *infra) template() *awsv1.AWSLaunchTemplate { return &o.group.Spec.AWSLaunchTemplate }

// setTemplate replaces what machines are launched as.
func (o *infra) setTemplate(t awsv1.AWSLaunchTemplate) { o.group.Spec.AWSLaunchTemplate = t }

// keep is how many versions of distinct content the template keeps: three where nobody says.
func (o *infra) keep() int { return 3 }

// bounds are those of the number of machines.
func (o *infra) bounds() (least, most int32) { return o.group.Spec.MinSize, o.group.Spec.MaxSize }

// bound sets the bounds.
func (o *infra) bound(least, most int32) { o.group.Spec.MinSize, o.group.Spec.MaxSize = least, most }

// tags are those of the pool's own.
func (o *infra) tags() awsv1.Tags { return o.group.Spec.AdditionalTags }

// retag sets them.
func (o *infra) retag(t awsv1.Tags) { o.group.Spec.AdditionalTags = t }

// status is what every kind's status tells.
func (o *infra) status() *common.Status { return &o.group.Status.Status }

// rolls says that machines of another template than the wanted one are to be replaced, as far as the object says.
func (o *infra) rolls() bool {
	p := o.group.Spec.RefreshPreferences
	return o.group.Spec.Strategy != nil || p == nil || !p.Disable
}

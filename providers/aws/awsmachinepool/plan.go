package awsmachinepool

import (
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/preview"
)

// An instance refresh that says nothing keeps to these percentages of the group's size.
const (
	minHealthyPercent = 90
	maxHealthyPercent = 100
)

// health returns the bounds of an instance refresh under spec.refreshPreferences.
func health(o *awsv1.AWSMachinePool) preview.Health {
	h := preview.Health{MinPercent: minHealthyPercent, MaxPercent: maxHealthyPercent}
	if preferences := o.Spec.RefreshPreferences; preferences != nil {
		h.MinPercent = int(ptr.Deref(preferences.MinHealthyPercentage, minHealthyPercent))
		h.MaxPercent = int(ptr.Deref(preferences.MaxHealthyPercentage, maxHealthyPercent))
	}
	return h
}

package azuremachinepool

import (
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/providers/azure/azurestatus"
)

// Report writes the fields that the ecosystem knows.
func (Adapter) Report(o *azurev1.AzureMachinePool, r report.Report, out engine.Outcome) {
	o.Status.ProvisioningState = azurestatus.ProvisioningState(r, out.Observed.Group)
	o.Status.Image = image(o, out.Observed.ResolvedLookups)
	o.Status.LongRunningOperationStates = azurestatus.Futures(out.Observed.Operations)
}

// conditions returns those that the ecosystem knows scale sets by.
func conditions(_ *azurev1.AzureMachinePool, r report.Report, out engine.Outcome) []report.Condition {
	return azurestatus.Conditions(r, out.Observed.Group)
}

// image returns the image of new machines: the specified one, or else the one found for the Kubernetes version.
func image(o *azurev1.AzureMachinePool, remembered map[string]string) *azurev1.Image {
	if o.Spec.Template.Image != nil {
		return o.Spec.Template.Image.DeepCopy()
	}
	if found := azurev1.ImageRemembered(remembered); found != nil {
		return found
	}
	return o.Status.Image // the last known image stays until the look-up has a result
}

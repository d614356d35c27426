// Package admission admits the kinds of Oracle Cloud: it warns of what has no effect or does harm, and refuses what one object does not
// show, such as a version that the MachinePool does not have. Its webhooks are installed with the controllers of the kinds.
package admission

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/webhook/checks"
)

// The paths that are served, in the form of the ecosystem's.
const (
	ValidatePath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimachinepool"
	TemplatePath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimachinepooltemplate"
	ManagedValidatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimanagedmachinepool"
	ManagedTemplatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimanagedmachinepooltemplate"
	VirtualValidatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocivirtualmachinepool"
	VirtualTemplatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocivirtualmachinepooltemplate"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=ocimachinepools,versions=v1beta2,name=validation.ocimachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=ocimachinepooltemplates,versions=v1beta2,name=validation.ocimachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimanagedmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=ocimanagedmachinepools,versions=v1beta2,name=validation.ocimanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocimanagedmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=ocimanagedmachinepooltemplates,versions=v1beta2,name=validation.ocimanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocivirtualmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=ocivirtualmachinepools,versions=v1beta2,name=validation.ocivirtualmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-ocivirtualmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=ocivirtualmachinepooltemplates,versions=v1beta2,name=validation.ocivirtualmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// Validator warns about OCIMachinePools.
func Validator(scheme *runtime.Scheme) *admission.Webhook {
	return checks.WarningWebhook(scheme, warnings, func(p *ociv1.OCIMachinePool) any { return userSpec(p) })
}

// ManagedValidator warns about OCIManagedMachinePools, and refuses new ones whose version differs from that of their MachinePool. The
// reader finds that.
func ManagedValidator(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
	return admission.WithValidator[*ociv1.OCIManagedMachinePool](scheme, &managedValidator{reader: reader})
}

// VirtualValidator warns about OCIVirtualMachinePools. The reader finds their MachinePools.
func VirtualValidator(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
	return admission.WithValidator[*ociv1.OCIVirtualMachinePool](scheme, &virtualValidator{reader: reader})
}

// OfOCIMachinePool keeps OCIMachinePoolTemplates as they are.
func OfOCIMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, ociv1.GroupVersion.WithKind(ociv1.OCIMachinePoolTemplateKind).GroupKind(),
		func(t *ociv1.OCIMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}

// OfOCIManagedMachinePool keeps OCIManagedMachinePoolTemplates as they are.
func OfOCIManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, ociv1.GroupVersion.WithKind(ociv1.OCIManagedMachinePoolTemplateKind).GroupKind(),
		func(t *ociv1.OCIManagedMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}

// OfOCIVirtualMachinePool keeps OCIVirtualMachinePoolTemplates as they are.
func OfOCIVirtualMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, ociv1.GroupVersion.WithKind(ociv1.OCIVirtualMachinePoolTemplateKind).GroupKind(),
		func(t *ociv1.OCIVirtualMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}

// userSpec returns the specification without the fields that controllers write.
func userSpec(p *ociv1.OCIMachinePool) *ociv1.OCIMachinePoolSpec {
	spec := p.Spec.DeepCopy()
	spec.ProviderID, spec.OCID, spec.ProviderIDList, spec.InstanceConfiguration.InstanceConfigurationID = nil, nil, nil, nil
	return spec
}

// warnings returns the texts for settings of instances without effect and for harmful ones.
func warnings(p *ociv1.OCIMachinePool) admission.Warnings {
	const at = "spec.instanceConfiguration."
	c := &p.Spec.InstanceConfiguration
	var list checks.Warnings
	list.When(c.ShapeConfig != nil && !flexible(c.Shape), at+"shapeConfig: has no effect with shape %s, which has one size", c.Shape)
	list.When(set(c.DedicatedVMHostID), at+"dedicatedVmHostId: OCI launches no instance pool on a dedicated host; remove it")
	list.When(c.PreemptibleInstanceConfig != nil && set(c.CapacityReservationID),
		at+"capacityReservationId: OCI launches no preemptible instances in a reservation; remove it or preemptibleInstanceConfig")
	_, data := c.Metadata["user_data"]
	list.When(data, at+"metadata.user_data: has no effect: instances get the bootstrap data of the MachinePool")
	if vnic := c.InstanceVnicConfiguration; vnic != nil {
		const at = at + "instanceVnicConfiguration."
		list.When(set(vnic.SubnetID) && vnic.SubnetName != "", at+"subnetName: has no effect beside subnetId")
		list.When(len(vnic.NSGIDs) > 0 && len(vnic.NSGNames) > 0, at+"nsgNames: has no effect beside nsgIds")
		list.When(set(vnic.NSGID), at+"nsgId: is deprecated; use nsgIds")
	}
	return admission.Warnings(list)
}

// flexible reports whether instances of a shape have a size of their own.
func flexible(shape string) bool { return strings.HasSuffix(shape, ".Flex") }

func set(text *string) bool { return text != nil && *text != "" }

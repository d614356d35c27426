package admission

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
)

type validator struct{}

// ValidateCreate warns of a new pool.
func (validator) ValidateCreate(_ context.Context, p *gcpv1.GCPMachinePool) (admission.Warnings, error) {
	return warnings(&p.Spec), nil
}

// ValidateUpdate warns of a change by a user. Controllers are not warned.
func (validator) ValidateUpdate(_ context.Context, old, p *gcpv1.GCPMachinePool) (admission.Warnings, error) {
	if !p.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(userSpec(old), userSpec(p)) {
		return nil, nil
	}
	return warnings(&p.Spec), nil
}

// ValidateDelete lets every deletion pass.
func (validator) ValidateDelete(context.Context, *gcpv1.GCPMachinePool) (admission.Warnings, error) {
	return nil, nil
}

// userSpec returns the specification without the fields that controllers write.
func userSpec(p *gcpv1.GCPMachinePool) *gcpv1.GCPMachinePoolSpec {
	spec := p.Spec.DeepCopy()
	spec.ProviderID, spec.ProviderIDList = "", nil
	return spec
}

// warning is a text that is returned to the user if a condition holds.
type warning struct {
	holds bool
	text  string
}

// active returns the texts of the warnings that hold.
func active(list []warning) (texts admission.Warnings) {
	for _, w := range list {
		if w.holds {
			texts = append(texts, w.text)
		}
	}
	return texts
}

// warnings returns the texts for settings without effect and for harmful ones.
func warnings(spec *gcpv1.GCPMachinePoolSpec) admission.Warnings {
	list := []warning{
		{set(spec.Image) && set(spec.ImageFamily), "spec.imageFamily: has no effect beside spec.image"},
		{spec.Preemptible && spec.Spot(), "spec.preemptible: has no effect when spec.provisioningModel is Spot"},
		{spec.Preemptible && !spec.Spot(), "spec.preemptible: instances are stopped after 24 hours at the latest; use spec.provisioningModel " +
			"Spot"},
	}
	list = append(list, keyWarning("spec.rootDiskEncryptionKey", spec.RootDiskEncryptionKey))
	for i := range spec.AdditionalDisks {
		disk, at := &spec.AdditionalDisks[i], fmt.Sprintf("spec.additionalDisks[%d]", i)
		list = append(list, keyWarning(at+".encryptionKey", disk.EncryptionKey), warning{
			disk.Type() == gcpv1.DiskTypeLocalSSD && disk.Size != nil && *disk.Size != gcpv1.LocalSSDSize,
			at + fmt.Sprintf(".size: has no effect: every local SSD has %d gigabytes", gcpv1.LocalSSDSize),
		})
	}
	return active(list)
}

// keyWarning is of a key that the specification holds.
func keyWarning(at string, key *gcpv1.CustomerEncryptionKey) warning {
	return warning{key != nil && key.KeyType == gcpv1.KeySupplied,
		at + ".keyType: Compute Engine keeps no supplied keys in instance templates, so that the group makes no instances with it; use Managed"}
}

func set(text *string) bool { return text != nil && *text != "" }

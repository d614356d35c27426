package v1beta1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/api/oci/v1beta2"
)

var (
	_ conversion.Convertible = &OCIMachinePool{}
	_ conversion.Convertible = &OCIManagedMachinePool{}
	_ conversion.Convertible = &OCIManagedMachinePoolTemplate{}
)

// version is the version of this package, for messages.
const version = "v1beta1"

// newerFields holds the fields that exist only in v1beta2, with the names that they have there.
type newerFields struct {
	// Spec is that of a pool.
	Spec newerSpec `json:"spec,omitzero"`
	// EncryptionAbsent is true if isPvEncryptionInTransitEnabled is absent. The default of v1beta1 is true.
	EncryptionAbsent bool `json:"isPvEncryptionInTransitEnabledAbsent,omitempty"`
}

type newerSpec struct {
	NodePoolCyclingDetails *v1beta2.NodePoolCyclingDetails `json:"nodePoolCyclingDetails,omitempty"`
	// Template is that of a template of pools.
	Template newerTemplate `json:"template,omitzero"`
}

type newerTemplate struct {
	Spec struct {
		NodePoolCyclingDetails *v1beta2.NodePoolCyclingDetails `json:"nodePoolCyclingDetails,omitempty"`
	} `json:"spec,omitzero"`
}

// ConvertTo converts this object to the stored version, with the fields that an earlier conversion stored in the annotation.
func (p *OCIMachinePool) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta2.OCIMachinePool)
	if !ok {
		return fmt.Errorf("converting OCIMachinePool %s: want a v1beta2 OCIMachinePool to write to, found %T", p.Name, hub)
	}
	from := p.DeepCopy()
	kept, err := common.UnmarshalConversionData[newerFields](&from.ObjectMeta, version)
	if err != nil {
		return err
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec = v1beta2.OCIMachinePoolSpec{
		ProviderID:            from.Spec.ProviderID,
		OCID:                  from.Spec.OCID,
		PlacementDetails:      from.Spec.PlacementDetails,
		InstanceConfiguration: v1beta2.InstanceConfiguration(from.Spec.InstanceConfiguration),
		ProviderIDList:        from.Spec.ProviderIDList,
		Strategy:              from.Spec.Strategy,
	}
	if enabled := to.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled; kept.EncryptionAbsent && enabled != nil && !*enabled {
		to.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled = nil
	}
	to.Status = from.Status
	return nil
}

// ConvertFrom converts this object from the stored version. An absent isPvEncryptionInTransitEnabled becomes false, its default there,
// because the API server would set an absent one to true, the default of v1beta1.
func (p *OCIMachinePool) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1beta2.OCIMachinePool)
	if !ok {
		return fmt.Errorf("converting OCIMachinePool %s: want a v1beta2 OCIMachinePool to read from, found %T", p.Name, hub)
	}
	from = from.DeepCopy()
	p.ObjectMeta = from.ObjectMeta
	p.Spec = OCIMachinePoolSpec{
		ProviderID:            from.Spec.ProviderID,
		OCID:                  from.Spec.OCID,
		PlacementDetails:      from.Spec.PlacementDetails,
		InstanceConfiguration: InstanceConfiguration(from.Spec.InstanceConfiguration),
		ProviderIDList:        from.Spec.ProviderIDList,
		Strategy:              from.Spec.Strategy,
	}
	absent := p.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled == nil
	if absent {
		p.Spec.InstanceConfiguration.IsPvEncryptionInTransitEnabled = new(bool)
	}
	p.Status = from.Status
	return common.MarshalConversionData(&p.ObjectMeta, version, newerFields{EncryptionAbsent: absent})
}

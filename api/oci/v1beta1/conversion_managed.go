package v1beta1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/api/oci/v1beta2"
)

// ConvertTo converts this object to the stored version, with the fields that an earlier conversion stored in the annotation.
func (p *OCIManagedMachinePool) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta2.OCIManagedMachinePool)
	if !ok {
		return fmt.Errorf("converting OCIManagedMachinePool %s: want a v1beta2 OCIManagedMachinePool to write to, found %T", p.Name, hub)
	}
	from := p.DeepCopy()
	kept, err := common.UnmarshalConversionData[newerFields](&from.ObjectMeta, version)
	if err != nil {
		return err
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec = managedSpecTo(&from.Spec, kept.Spec.NodePoolCyclingDetails)
	to.Status = from.Status
	return nil
}

// ConvertFrom converts this object from the stored version. Fields that v1beta1 lacks are stored in an annotation.
func (p *OCIManagedMachinePool) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1beta2.OCIManagedMachinePool)
	if !ok {
		return fmt.Errorf("converting OCIManagedMachinePool %s: want a v1beta2 OCIManagedMachinePool to read from, found %T", p.Name, hub)
	}
	from = from.DeepCopy()
	p.ObjectMeta = from.ObjectMeta
	p.Spec = managedSpecFrom(&from.Spec)
	p.Status = from.Status
	return common.MarshalConversionData(&p.ObjectMeta, version,
		newerFields{Spec: newerSpec{NodePoolCyclingDetails: from.Spec.NodePoolCyclingDetails}})
}

// ConvertTo converts this object to the stored version, with the fields that an earlier conversion stored in the annotation.
func (t *OCIManagedMachinePoolTemplate) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta2.OCIManagedMachinePoolTemplate)
	if !ok {
		return fmt.Errorf("converting OCIManagedMachinePoolTemplate %s: want a v1beta2 OCIManagedMachinePoolTemplate to write to, found %T",
			t.Name, hub)
	}
	from := t.DeepCopy()
	kept, err := common.UnmarshalConversionData[newerFields](&from.ObjectMeta, version)
	if err != nil {
		return err
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec.Template.ObjectMeta = from.Spec.Template.ObjectMeta
	to.Spec.Template.Spec = managedSpecTo(&from.Spec.Template.Spec, kept.Spec.Template.Spec.NodePoolCyclingDetails)
	return nil
}

// ConvertFrom converts this object from the stored version. Fields that v1beta1 lacks are stored in an annotation.
func (t *OCIManagedMachinePoolTemplate) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1beta2.OCIManagedMachinePoolTemplate)
	if !ok {
		return fmt.Errorf("converting OCIManagedMachinePoolTemplate %s: want a v1beta2 OCIManagedMachinePoolTemplate to read from, found %T",
			t.Name, hub)
	}
	from = from.DeepCopy()
	t.ObjectMeta = from.ObjectMeta
	t.Spec.Template.ObjectMeta = from.Spec.Template.ObjectMeta
	t.Spec.Template.Spec = managedSpecFrom(&from.Spec.Template.Spec)
	var kept newerFields
	kept.Spec.Template.Spec.NodePoolCyclingDetails = from.Spec.Template.Spec.NodePoolCyclingDetails
	return common.MarshalConversionData(&t.ObjectMeta, version, kept)
}

// managedSpecTo returns the specification in v1beta2, with the field that v1beta1 lacks.
func managedSpecTo(s *OCIManagedMachinePoolSpec, cycling *v1beta2.NodePoolCyclingDetails) v1beta2.OCIManagedMachinePoolSpec {
	return v1beta2.OCIManagedMachinePoolSpec{
		ProviderID:                   s.ProviderID,
		Version:                      s.Version,
		ID:                           s.ID,
		NodePoolNodeConfig:           s.NodePoolNodeConfig,
		NodeEvictionNodePoolSettings: s.NodeEvictionNodePoolSettings,
		NodeShape:                    s.NodeShape,
		NodeShapeConfig:              s.NodeShapeConfig,
		NodeSourceViaImage:           s.NodeSourceViaImage,
		SSHPublicKey:                 s.SSHPublicKey,
		NodeMetadata:                 s.NodeMetadata,
		InitialNodeLabels:            s.InitialNodeLabels,
		NodePoolCyclingDetails:       cycling,
		ProviderIDList:               s.ProviderIDList,
		Strategy:                     s.Strategy,
	}
}

func managedSpecFrom(s *v1beta2.OCIManagedMachinePoolSpec) OCIManagedMachinePoolSpec {
	return OCIManagedMachinePoolSpec{
		ProviderID:                   s.ProviderID,
		Version:                      s.Version,
		ID:                           s.ID,
		NodePoolNodeConfig:           s.NodePoolNodeConfig,
		NodeEvictionNodePoolSettings: s.NodeEvictionNodePoolSettings,
		NodeShape:                    s.NodeShape,
		NodeShapeConfig:              s.NodeShapeConfig,
		NodeSourceViaImage:           s.NodeSourceViaImage,
		SSHPublicKey:                 s.SSHPublicKey,
		NodeMetadata:                 s.NodeMetadata,
		InitialNodeLabels:            s.InitialNodeLabels,
		ProviderIDList:               s.ProviderIDList,
		Strategy:                     s.Strategy,
	}
}

package v1alpha1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/api/scaleway/v1alpha2"
)

var _ conversion.Convertible = &ScalewayManagedMachinePool{}

// version is the version of this package, for messages.
const version = "v1alpha1"

// newerFields holds the fields that exist only in v1alpha2, with the names that they have there.
type newerFields struct {
	Spec newerSpec `json:"spec,omitzero"`
}

type newerSpec struct {
	ProviderID    string           `json:"providerID,omitempty"`
	Taints        []v1alpha2.Taint `json:"taints,omitempty"`
	StartupTaints []v1alpha2.Taint `json:"startupTaints,omitempty"`
}

// ConvertTo writes this object into the stored version, with what an earlier reading of it as v1alpha1 kept aside.
func (p *ScalewayManagedMachinePool) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1alpha2.ScalewayManagedMachinePool)
	if !ok {
		return fmt.Errorf("converting ScalewayManagedMachinePool %s: want a v1alpha2 ScalewayManagedMachinePool to write to, found %T", p.Name,
			hub)
	}
	from := p.DeepCopy()
	kept, err := common.UnmarshalConversionData[newerFields](&from.ObjectMeta, version)
	if err != nil {
		return err
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec = specTo(&from.Spec)
	to.Spec.ProviderID, to.Spec.Taints, to.Spec.StartupTaints = kept.Spec.ProviderID, kept.Spec.Taints, kept.Spec.StartupTaints
	to.Status.Status = from.Status.Status
	return nil
}

// ConvertFrom reads this object out of the stored version. What has no field here is kept aside in an annotation.
func (p *ScalewayManagedMachinePool) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1alpha2.ScalewayManagedMachinePool)
	if !ok {
		return fmt.Errorf("converting ScalewayManagedMachinePool %s: want a v1alpha2 ScalewayManagedMachinePool to read from, found %T", p.Name,
			hub)
	}
	from = from.DeepCopy()
	p.ObjectMeta = from.ObjectMeta
	p.Spec = specFrom(&from.Spec)
	p.Status.Status = from.Status.Status
	return common.MarshalConversionData(&p.ObjectMeta, version, newerFields{Spec: newerSpec{
		ProviderID: from.Spec.ProviderID, Taints: from.Spec.Taints, StartupTaints: from.Spec.StartupTaints,
	}})
}

func specTo(s *ScalewayManagedMachinePoolSpec) v1alpha2.ScalewayManagedMachinePoolSpec {
	return v1alpha2.ScalewayManagedMachinePoolSpec{
		ProviderIDList:   s.ProviderIDList,
		NodeType:         s.NodeType,
		Zone:             v1alpha2.Zone(s.Zone),
		PlacementGroupID: v1alpha2.UUID(value(s.PlacementGroupID)),
		Scaling:          (*v1alpha2.Scaling)(s.Scaling),
		Autohealing:      s.Autohealing,
		AdditionalTags:   s.AdditionalTags,
		KubeletArgs:      s.KubeletArgs,
		UpgradePolicy:    (*v1alpha2.UpgradePolicy)(s.UpgradePolicy),
		RootVolumeType:   v1alpha2.VolumeType(value(s.RootVolumeType)),
		RootVolumeSizeGB: value(s.RootVolumeSizeGB),
		PublicIPDisabled: s.PublicIPDisabled,
		SecurityGroupID:  v1alpha2.UUID(value(s.SecurityGroupID)),
		Labels:           s.Labels,
	}
}

func specFrom(s *v1alpha2.ScalewayManagedMachinePoolSpec) ScalewayManagedMachinePoolSpec {
	return ScalewayManagedMachinePoolSpec{
		ProviderIDList:   s.ProviderIDList,
		NodeType:         s.NodeType,
		Zone:             string(s.Zone),
		PlacementGroupID: pointer(string(s.PlacementGroupID)),
		Scaling:          (*ScalingSpec)(s.Scaling),
		Autohealing:      s.Autohealing,
		AdditionalTags:   s.AdditionalTags,
		KubeletArgs:      s.KubeletArgs,
		UpgradePolicy:    (*UpgradePolicySpec)(s.UpgradePolicy),
		RootVolumeType:   pointer(string(s.RootVolumeType)),
		RootVolumeSizeGB: pointer(s.RootVolumeSizeGB),
		PublicIPDisabled: s.PublicIPDisabled,
		SecurityGroupID:  pointer(string(s.SecurityGroupID)),
		Labels:           s.Labels,
	}
}

// value returns what p points to; the zero value for nil.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// pointer returns a pointer to v; nil for the zero value, which v1alpha2 has for an absent field.
func pointer[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

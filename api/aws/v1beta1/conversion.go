package v1beta1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

var _ conversion.Convertible = &AWSMachinePool{}

// ConvertTo writes this object into the stored version, with what an earlier reading of it as v1beta1 kept aside.
func (p *AWSMachinePool) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta2.AWSMachinePool)
	if !ok {
		return fmt.Errorf("converting AWSMachinePool %s: want a v1beta2 AWSMachinePool to write to, found %T", p.Name, hub)
	}
	from := p.DeepCopy()
	if err := from.Spec.Subnets.check(); err != nil {
		return err
	}
	kept, err := common.UnmarshalConversionData[newerFields](&from.ObjectMeta, version)
	if err != nil {
		return err
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec = specTo(&from.Spec)
	to.Status = statusTo(&from.Status)
	kept.restore(to)
	return nil
}

// ConvertFrom reads this object out of the stored version. What has no field here is kept aside in an annotation.
func (p *AWSMachinePool) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1beta2.AWSMachinePool)
	if !ok {
		return fmt.Errorf("converting AWSMachinePool %s: want a v1beta2 AWSMachinePool to read from, found %T", p.Name, hub)
	}
	from = from.DeepCopy()
	p.ObjectMeta = from.ObjectMeta
	p.Spec = specFrom(&from.Spec)
	p.Status = statusFrom(&from.Status)
	return common.MarshalConversionData(&p.ObjectMeta, version, newerFieldsOf(from))
}

func specTo(s *AWSMachinePoolSpec) v1beta2.AWSMachinePoolSpec {
	spec := v1beta2.AWSMachinePoolSpec{
		ProviderID:           s.ProviderID,
		MinSize:              s.MinSize,
		MaxSize:              s.MaxSize,
		AvailabilityZones:    s.AvailabilityZones,
		AdditionalTags:       s.AdditionalTags,
		AWSLaunchTemplate:    templateTo(&s.AWSLaunchTemplate),
		MixedInstancesPolicy: s.MixedInstancesPolicy,
		ProviderIDList:       s.ProviderIDList,
		DefaultCoolDown:      s.DefaultCoolDown,
		CapacityRebalance:    s.CapacityRebalance,
		Strategy:             s.Strategy,
	}
	for _, subnet := range s.Subnets {
		spec.Subnets = append(spec.Subnets, v1beta2.AWSResourceReference(subnet))
	}
	if r := s.RefreshPreferences; r != nil {
		spec.RefreshPreferences = &v1beta2.RefreshPreferences{
			Strategy:             r.Strategy,
			InstanceWarmup:       r.InstanceWarmup,
			MinHealthyPercentage: r.MinHealthyPercentage,
			RefreshChecks:        r.RefreshChecks,
		}
	}
	return spec
}

func specFrom(s *v1beta2.AWSMachinePoolSpec) AWSMachinePoolSpec {
	spec := AWSMachinePoolSpec{
		ProviderID:           s.ProviderID,
		MinSize:              s.MinSize,
		MaxSize:              s.MaxSize,
		AvailabilityZones:    s.AvailabilityZones,
		AdditionalTags:       s.AdditionalTags,
		AWSLaunchTemplate:    templateFrom(&s.AWSLaunchTemplate),
		MixedInstancesPolicy: s.MixedInstancesPolicy,
		ProviderIDList:       s.ProviderIDList,
		DefaultCoolDown:      s.DefaultCoolDown,
		CapacityRebalance:    s.CapacityRebalance,
		Strategy:             s.Strategy,
	}
	for _, subnet := range s.Subnets {
		spec.Subnets = append(spec.Subnets, SubnetReference(subnet))
	}
	if r := s.RefreshPreferences; r != nil {
		spec.RefreshPreferences = &RefreshPreferences{
			Strategy:             r.Strategy,
			InstanceWarmup:       r.InstanceWarmup,
			MinHealthyPercentage: r.MinHealthyPercentage,
			RefreshChecks:        r.RefreshChecks,
		}
	}
	return spec
}

func templateTo(t *AWSLaunchTemplate) v1beta2.AWSLaunchTemplate {
	return v1beta2.AWSLaunchTemplate{
		Name:                     t.Name,
		IamInstanceProfile:       t.IamInstanceProfile,
		AMI:                      t.AMI,
		ImageLookupFormat:        t.ImageLookupFormat,
		ImageLookupOrg:           t.ImageLookupOrg,
		ImageLookupBaseOS:        t.ImageLookupBaseOS,
		InstanceType:             t.InstanceType,
		RootVolume:               t.RootVolume,
		SSHKeyName:               t.SSHKeyName,
		VersionNumber:            t.VersionNumber,
		AdditionalSecurityGroups: t.AdditionalSecurityGroups,
		SpotMarketOptions:        t.SpotMarketOptions,
		Placement:                t.Placement,
		NetworkInterfaces:        t.NetworkInterfaces,
		Existing:                 t.Existing,
		VersionsToKeep:           t.VersionsToKeep,
	}
}

func templateFrom(t *v1beta2.AWSLaunchTemplate) AWSLaunchTemplate {
	return AWSLaunchTemplate{
		Name:                     t.Name,
		IamInstanceProfile:       t.IamInstanceProfile,
		AMI:                      t.AMI,
		ImageLookupFormat:        t.ImageLookupFormat,
		ImageLookupOrg:           t.ImageLookupOrg,
		ImageLookupBaseOS:        t.ImageLookupBaseOS,
		InstanceType:             t.InstanceType,
		RootVolume:               t.RootVolume,
		SSHKeyName:               t.SSHKeyName,
		VersionNumber:            t.VersionNumber,
		AdditionalSecurityGroups: t.AdditionalSecurityGroups,
		SpotMarketOptions:        t.SpotMarketOptions,
		Placement:                t.Placement,
		NetworkInterfaces:        t.NetworkInterfaces,
		Existing:                 t.Existing,
		VersionsToKeep:           t.VersionsToKeep,
	}
}

func statusTo(s *AWSMachinePoolStatus) v1beta2.AWSMachinePoolStatus {
	return v1beta2.AWSMachinePoolStatus{
		Status:                s.Status,
		LaunchTemplateID:      s.LaunchTemplateID,
		LaunchTemplateVersion: s.LaunchTemplateVersion,
		FailureReason:         s.FailureReason,
		FailureMessage:        s.FailureMessage,
		ASGStatus:             s.ASGStatus,
	}
}

func statusFrom(s *v1beta2.AWSMachinePoolStatus) AWSMachinePoolStatus {
	return AWSMachinePoolStatus{
		Status:                s.Status,
		LaunchTemplateID:      s.LaunchTemplateID,
		LaunchTemplateVersion: s.LaunchTemplateVersion,
		FailureReason:         s.FailureReason,
		FailureMessage:        s.FailureMessage,
		ASGStatus:             s.ASGStatus,
	}
}

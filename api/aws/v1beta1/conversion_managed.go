package v1beta1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

var _ conversion.Convertible = &AWSManagedMachinePool{}

// newerManaged holds the fields of a managed pool that exist only in v1beta2, with the names that they have there.
type newerManaged struct {
	Spec newerManagedSpec `json:"spec,omitzero"`
}

type newerManagedSpec struct {
	AvailabilityZoneSubnetType *v1beta2.AZSubnetType      `json:"availabilityZoneSubnetType,omitempty"`
	RolePath                   string                     `json:"rolePath,omitempty"`
	RolePermissionsBoundary    string                     `json:"rolePermissionsBoundary,omitempty"`
	AWSLaunchTemplate          newerTemplate              `json:"awsLaunchTemplate,omitzero"`
	AWSLifecycleHooks          []v1beta2.AWSLifecycleHook `json:"lifecycleHooks,omitempty"`
	NodeRepairConfig           *v1beta2.NodeRepairConfig  `json:"nodeRepairConfig,omitempty"`
}

func newerManagedOf(from *v1beta2.AWSManagedMachinePool) newerManaged {
	spec := &from.Spec
	a := newerManaged{Spec: newerManagedSpec{
		AvailabilityZoneSubnetType: spec.AvailabilityZoneSubnetType,
		RolePath:                   spec.RolePath,
		RolePermissionsBoundary:    spec.RolePermissionsBoundary,
		AWSLifecycleHooks:          spec.AWSLifecycleHooks,
		NodeRepairConfig:           spec.NodeRepairConfig,
	}}
	if spec.AWSLaunchTemplate != nil {
		a.Spec.AWSLaunchTemplate = newerTemplateOf(spec.AWSLaunchTemplate)
	}
	return a
}

// restore writes back what was kept aside. Of a launch template that v1beta1 took away nothing is left.
func (a newerManaged) restore(to *v1beta2.AWSManagedMachinePool) {
	spec := &to.Spec
	spec.AvailabilityZoneSubnetType = a.Spec.AvailabilityZoneSubnetType
	spec.RolePath = a.Spec.RolePath
	spec.RolePermissionsBoundary = a.Spec.RolePermissionsBoundary
	spec.AWSLifecycleHooks = a.Spec.AWSLifecycleHooks
	spec.NodeRepairConfig = a.Spec.NodeRepairConfig
	if spec.AWSLaunchTemplate != nil {
		a.Spec.AWSLaunchTemplate.restore(spec.AWSLaunchTemplate)
	}
}

// ConvertTo writes this object into the stored version, with what an earlier reading of it as v1beta1 kept aside.
func (p *AWSManagedMachinePool) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta2.AWSManagedMachinePool)
	if !ok {
		return fmt.Errorf("converting AWSManagedMachinePool %s: want a v1beta2 AWSManagedMachinePool to write to, found %T", p.Name, hub)
	}
	from := p.DeepCopy()
	kept, err := common.UnmarshalConversionData[newerManaged](&from.ObjectMeta, version)
	if err != nil {
		return err
	}
	to.ObjectMeta = from.ObjectMeta
	to.Spec = managedSpecTo(&from.Spec)
	to.Status = v1beta2.AWSManagedMachinePoolStatus(from.Status)
	kept.restore(to)
	return nil
}

// ConvertFrom reads this object out of the stored version. What has no field here is kept aside in an annotation.
func (p *AWSManagedMachinePool) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1beta2.AWSManagedMachinePool)
	if !ok {
		return fmt.Errorf("converting AWSManagedMachinePool %s: want a v1beta2 AWSManagedMachinePool to read from, found %T", p.Name, hub)
	}
	from = from.DeepCopy()
	p.ObjectMeta = from.ObjectMeta
	p.Spec = managedSpecFrom(&from.Spec)
	p.Status = AWSManagedMachinePoolStatus(from.Status)
	return common.MarshalConversionData(&p.ObjectMeta, version, newerManagedOf(from))
}

func managedSpecTo(s *AWSManagedMachinePoolSpec) v1beta2.AWSManagedMachinePoolSpec {
	spec := v1beta2.AWSManagedMachinePoolSpec{
		ProviderID:             s.ProviderID,
		EKSNodegroupName:       s.EKSNodegroupName,
		AvailabilityZones:      s.AvailabilityZones,
		SubnetIDs:              s.SubnetIDs,
		AdditionalTags:         s.AdditionalTags,
		RoleAdditionalPolicies: s.RoleAdditionalPolicies,
		RoleName:               s.RoleName,
		AMIVersion:             s.AMIVersion,
		AMIType:                s.AMIType,
		Labels:                 s.Labels,
		Taints:                 s.Taints,
		DiskSize:               s.DiskSize,
		InstanceType:           s.InstanceType,
		InstanceTypes:          s.InstanceTypes,
		Scaling:                s.Scaling,
		RemoteAccess:           s.RemoteAccess,
		ProviderIDList:         s.ProviderIDList,
		CapacityType:           s.CapacityType,
		UpdateConfig:           (*v1beta2.UpdateConfig)(s.UpdateConfig),
	}
	if s.AWSLaunchTemplate != nil {
		template := templateTo(s.AWSLaunchTemplate)
		spec.AWSLaunchTemplate = &template
	}
	return spec
}

func managedSpecFrom(s *v1beta2.AWSManagedMachinePoolSpec) AWSManagedMachinePoolSpec {
	spec := AWSManagedMachinePoolSpec{
		ProviderID:             s.ProviderID,
		EKSNodegroupName:       s.EKSNodegroupName,
		AvailabilityZones:      s.AvailabilityZones,
		SubnetIDs:              s.SubnetIDs,
		AdditionalTags:         s.AdditionalTags,
		RoleAdditionalPolicies: s.RoleAdditionalPolicies,
		RoleName:               s.RoleName,
		AMIVersion:             s.AMIVersion,
		AMIType:                s.AMIType,
		Labels:                 s.Labels,
		Taints:                 s.Taints,
		DiskSize:               s.DiskSize,
		InstanceType:           s.InstanceType,
		InstanceTypes:          s.InstanceTypes,
		Scaling:                s.Scaling,
		RemoteAccess:           s.RemoteAccess,
		ProviderIDList:         s.ProviderIDList,
		CapacityType:           s.CapacityType,
		UpdateConfig:           (*UpdateConfig)(s.UpdateConfig),
	}
	if s.AWSLaunchTemplate != nil {
		template := templateFrom(s.AWSLaunchTemplate)
		spec.AWSLaunchTemplate = &template
	}
	return spec
}

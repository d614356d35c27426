package v1beta1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *GCPMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the group in the specification.
func (p *GCPMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ID of the group to the specification.
func (p *GCPMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the instances in the specification.
func (p *GCPMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the instances to the specification.
func (p *GCPMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *GCPMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *GCPMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *GCPManagedMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the node pool in the specification.
func (p *GCPManagedMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ID of the node pool to the specification.
func (p *GCPManagedMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the nodes in the specification.
func (p *GCPManagedMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the nodes to the specification.
func (p *GCPManagedMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *GCPManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *GCPManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// NodePoolName returns the name of the node pool in GKE.
func (p *GCPManagedMachinePool) NodePoolName() string { return cmp.Or(p.Spec.NodePoolName, p.Name) }

// Machine returns the machine type of nodes, whichever field names it; empty leaves it to GKE.
func (s *GCPManagedMachinePoolSpec) Machine() string {
	for _, name := range []*string{s.InstanceType, s.MachineType} {
		if name != nil && *name != "" {
			return *name
		}
	}
	return ""
}

// DiskSize returns the size of the boot disk in gigabytes, whichever field names it; 0 leaves it to GKE.
func (s *GCPManagedMachinePoolSpec) DiskSize() int64 {
	switch {
	case s.DiskSizeGB != nil:
		return *s.DiskSizeGB
	case s.DiskSizeGb != nil:
		return int64(*s.DiskSizeGb)
	}
	return 0
}

// RootSize returns the size of the boot disk in gigabytes.
func (s *GCPMachinePoolSpec) RootSize() int64 { return cmp.Or(s.RootDeviceSize, DefaultDiskSize) }

// RootType returns the type of the boot disk.
func (s *GCPMachinePoolSpec) RootType() DiskType { return diskType(s.RootDeviceType) }

// Type returns the type of the disk.
func (d *AttachedDisk) Type() DiskType { return diskType(d.DeviceType) }

// SizeGB returns the size of the disk in gigabytes.
func (d *AttachedDisk) SizeGB() int64 {
	switch {
	case d.Type() == DiskTypeLocalSSD:
		return LocalSSDSize
	case d.Size == nil:
		return DefaultDiskSize
	}
	return *d.Size
}

func diskType(t *DiskType) DiskType {
	if t == nil {
		return DiskTypeStandard
	}
	return *t
}

// Spot reports whether instances are Spot instances.
func (s *GCPMachinePoolSpec) Spot() bool {
	return s.ProvisioningModel != nil && *s.ProvisioningModel == ProvisioningSpot
}

// Confidential returns the technology of confidential computing; ConfidentialDisabled for none.
func (s *GCPMachinePoolSpec) Confidential() ConfidentialComputePolicy {
	return s.ConfidentialCompute.technology()
}

// Confidential returns the technology of confidential computing; ConfidentialDisabled for none.
func (s *GCPManagedMachinePoolSpec) Confidential() ConfidentialComputePolicy {
	return s.ConfidentialCompute.technology()
}

// technology returns the policy that selects the technology explicitly.
func (p *ConfidentialComputePolicy) technology() ConfidentialComputePolicy {
	switch {
	case p == nil:
		return ConfidentialDisabled
	case *p == ConfidentialEnabled:
		return ConfidentialSEV
	}
	return *p
}

package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *ScalewayManagedMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the pool in the specification.
func (p *ScalewayManagedMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ID of the pool to the specification.
func (p *ScalewayManagedMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the nodes in the specification.
func (p *ScalewayManagedMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the nodes to the specification.
func (p *ScalewayManagedMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *ScalewayManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *ScalewayManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// External reports whether the pool's machines run outside of Scaleway and join by themselves: Kosmos neither sizes nor launches them.
func (s *ScalewayManagedMachinePoolSpec) External() bool { return s.NodeType == NodeTypeExternal }

// Autohealed reports whether Kapsule replaces nodes that are not ready.
func (s *ScalewayManagedMachinePoolSpec) Autohealed() bool {
	return s.Autohealing != nil && *s.Autohealing
}

// Autoscaled reports whether Kapsule's autoscaler sizes the pool.
func (s *ScalewayManagedMachinePoolSpec) Autoscaled() bool {
	return !s.External() && s.Scaling != nil && s.Scaling.Autoscaling != nil && *s.Scaling.Autoscaling
}

// Upgrade returns how many nodes are added in an upgrade, and how many may be missing: as the specification has it, and else one is added
// and none is missing. At least one of the two is positive.
func (s *ScalewayManagedMachinePoolSpec) Upgrade() (surge, unavailable int32) {
	p := s.UpgradePolicy
	switch {
	case p == nil || p.MaxSurge == nil && p.MaxUnavailable == nil:
		return 1, 0
	case p.MaxSurge == nil:
		if *p.MaxUnavailable == 0 {
			return 1, 0
		}
		return 0, *p.MaxUnavailable
	case p.MaxUnavailable == nil:
		if *p.MaxSurge == 0 {
			return 0, 1
		}
		return *p.MaxSurge, 0
	}
	return *p.MaxSurge, *p.MaxUnavailable
}

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *AzureMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the scale set in spec.providerID.
func (p *AzureMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ID of the scale set into the specification.
func (p *AzureMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the virtual machines in spec.providerIDList.
func (p *AzureMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the list of provider IDs of the virtual machines into the specification.
func (p *AzureMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions gives the conditions to helpers that read them.
func (p *AzureMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (p *AzureMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetConditions gives the conditions to helpers that read them.
func (m *AzureMachinePoolMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (m *AzureMachinePoolMachine) SetConditions(conditions []metav1.Condition) {
	m.Status.Conditions = conditions
}

// Flexible reports whether the scale set's virtual machines are like any other.
func (s *AzureMachinePoolSpec) Flexible() bool {
	return s.OrchestrationMode == FlexibleOrchestrationMode
}

// Windows reports whether virtual machines run Windows.
func (s *AzureMachinePoolSpec) Windows() bool { return s.Template.OSDisk.OSType == WindowsOS }

// RoleName returns the name of the role assignment, wherever it stands; empty leaves it to the driver.
func (s *AzureMachinePoolSpec) RoleName() string {
	if role := s.SystemAssignedIdentityRole; role != nil && role.Name != "" {
		return role.Name
	}
	return s.RoleAssignmentName
}

// Interfaces returns the network interfaces that virtual machines have, whichever fields say so: at least one, with at least one
// address each. A SubnetName that is empty is the cluster's subnet for nodes.
func (t *AzureMachinePoolMachineTemplate) Interfaces() []NetworkInterface {
	if len(t.NetworkInterfaces) == 0 {
		return []NetworkInterface{{SubnetName: t.SubnetName, PrivateIPConfigs: 1, AcceleratedNetworking: t.AcceleratedNetworking}}
	}
	list := make([]NetworkInterface, len(t.NetworkInterfaces))
	for i, one := range t.NetworkInterfaces {
		one.PrivateIPConfigs = max(1, one.PrivateIPConfigs)
		list[i] = one
	}
	return list
}

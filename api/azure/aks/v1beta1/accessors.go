package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// AgentPoolName returns the name of the agent pool in AKS.
func (p *AzureManagedMachinePool) AgentPoolName() string {
	if p.Spec.Name != nil {
		return *p.Spec.Name
	}
	return p.Name
}

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *AzureManagedMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the agent pool in the specification.
func (p *AzureManagedMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ID of the agent pool to the specification.
func (p *AzureManagedMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the nodes in the specification.
func (p *AzureManagedMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the nodes to the specification.
func (p *AzureManagedMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *AzureManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *AzureManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *AzureASOManagedMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the agent pool in the specification.
func (p *AzureASOManagedMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ID of the agent pool to the specification.
func (p *AzureASOManagedMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the nodes in the specification.
func (p *AzureASOManagedMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the nodes to the specification.
func (p *AzureASOManagedMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *AzureASOManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *AzureASOManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

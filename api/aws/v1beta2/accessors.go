package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *AWSMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ARN of the group in spec.providerID.
func (p *AWSMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ARN of the group into the specification.
func (p *AWSMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the instances in spec.providerIDList.
func (p *AWSMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the list of provider IDs of the instances into the specification.
func (p *AWSMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions gives the conditions to helpers that read them.
func (p *AWSMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (p *AWSMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *AWSManagedMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ARN of the node group in spec.providerID.
func (p *AWSManagedMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ARN of the node group into the specification.
func (p *AWSManagedMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList returns the provider IDs of the instances in spec.providerIDList.
func (p *AWSManagedMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the list of provider IDs of the instances into the specification.
func (p *AWSManagedMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions gives the conditions to helpers that read them.
func (p *AWSManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (p *AWSManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

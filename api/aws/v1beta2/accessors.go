package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// GetCommonStatus is the part of the status that every kind shares; what is written to it is written to the object.
func (p *AWSMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID is the ARN of the group, as it stands in the specification.
func (p *AWSMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ARN of the group into the specification.
func (p *AWSMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList is the list of provider IDs of the instances, as it stands in the specification.
func (p *AWSMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the list of provider IDs of the instances into the specification.
func (p *AWSMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions gives the conditions to helpers that read them.
func (p *AWSMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (p *AWSMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetCommonStatus is the part of the status that every kind shares; what is written to it is written to the object.
func (p *AWSManagedMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID is the ARN of the node group, as it stands in the specification.
func (p *AWSManagedMachinePool) GetProviderID() string { return p.Spec.ProviderID }

// SetProviderID writes the ARN of the node group into the specification.
func (p *AWSManagedMachinePool) SetProviderID(id string) { p.Spec.ProviderID = id }

// GetProviderIDList is the list of provider IDs of the instances, as it stands in the specification.
func (p *AWSManagedMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the list of provider IDs of the instances into the specification.
func (p *AWSManagedMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions gives the conditions to helpers that read them.
func (p *AWSManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions takes the conditions from helpers that write them.
func (p *AWSManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

package v1beta2

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
)

// The defaults of the ecosystem's provider for pools of OKE.
const (
	// DefaultPodNetworkPart is the name of the subnet and of the network security group of pods.
	DefaultPodNetworkPart = "pod"
	// DefaultPodShape is the shape of the pods of virtual nodes.
	DefaultPodShape = "Pod.Standard.E4.Flex"
)

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *OCIMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the instance pool in the specification.
func (p *OCIMachinePool) GetProviderID() string { return value(p.Spec.ProviderID) }

// SetProviderID writes the ID of the instance pool to the specification.
func (p *OCIMachinePool) SetProviderID(id string) {
	p.Spec.ProviderID, p.Spec.OCID = pointer(id), pointer(OCIDOf(id))
}

// GetProviderIDList returns the provider IDs of the instances in the specification.
func (p *OCIMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the instances to the specification.
func (p *OCIMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *OCIMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *OCIMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *OCIManagedMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the node pool in the specification.
func (p *OCIManagedMachinePool) GetProviderID() string { return value(p.Spec.ProviderID) }

// SetProviderID writes the ID of the node pool to the specification.
func (p *OCIManagedMachinePool) SetProviderID(id string) {
	p.Spec.ProviderID, p.Spec.ID = pointer(id), pointer(OCIDOf(id))
}

// GetProviderIDList returns the provider IDs of the nodes in the specification.
func (p *OCIManagedMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the nodes to the specification.
func (p *OCIManagedMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *OCIManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *OCIManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetCommonStatus returns the part of the status that all kinds share. Writes to it change the object.
func (p *OCIVirtualMachinePool) GetCommonStatus() *common.Status { return &p.Status.Status }

// GetProviderID returns the ID of the virtual node pool in the specification.
func (p *OCIVirtualMachinePool) GetProviderID() string { return value(p.Spec.ProviderID) }

// SetProviderID writes the ID of the virtual node pool to the specification.
func (p *OCIVirtualMachinePool) SetProviderID(id string) {
	p.Spec.ProviderID, p.Spec.ID = pointer(id), pointer(OCIDOf(id))
}

// GetProviderIDList returns the provider IDs of the virtual nodes in the specification.
func (p *OCIVirtualMachinePool) GetProviderIDList() []string { return p.Spec.ProviderIDList }

// SetProviderIDList writes the provider IDs of the virtual nodes to the specification.
func (p *OCIVirtualMachinePool) SetProviderIDList(ids []string) { p.Spec.ProviderIDList = ids }

// GetConditions returns the conditions.
func (p *OCIVirtualMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *OCIVirtualMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetConditions returns the conditions.
func (m *OCIMachinePoolMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions.
func (m *OCIMachinePoolMachine) SetConditions(conditions []metav1.Condition) {
	m.Status.Conditions = conditions
}

// Cycled reports whether the specification lets OKE replace outdated nodes.
func (s *OCIManagedMachinePoolSpec) Cycled() bool {
	return s.NodePoolCyclingDetails != nil && value(s.NodePoolCyclingDetails.IsNodeCyclingEnabled)
}

// Image returns the OCID of the image of nodes; empty if the driver selects it.
func (s *OCIManagedMachinePoolSpec) Image() string {
	if s.NodeSourceViaImage == nil {
		return ""
	}
	return value(s.NodeSourceViaImage.ImageID)
}

// PodNetwork returns the specified network of pods, or else the default for the CNI plugins of the cluster.
func (s *OCIManagedMachinePoolSpec) PodNetwork(plugins []CNIType) NodePoolPodNetworkOptionDetails {
	if s.NodePoolNodeConfig != nil && s.NodePoolNodeConfig.NodePoolPodNetworkOptionDetails != nil {
		return *s.NodePoolNodeConfig.NodePoolPodNetworkOptionDetails
	}
	if len(plugins) > 0 && !slices.Contains(plugins, CNINative) {
		return NodePoolPodNetworkOptionDetails{CNIType: plugins[0]}
	}
	return NodePoolPodNetworkOptionDetails{CNIType: CNINative, VCNIPNativePodNetworkOptions: VCNIPNativePodNetworkOptions{
		SubnetNames: []string{DefaultPodNetworkPart}, NSGNames: SecurityGroupNames{DefaultPodNetworkPart},
	}}
}

// Pods returns the shape and the network of pods, with defaults for absent fields.
func (s *OCIVirtualMachinePoolSpec) Pods() PodConfig {
	pods := s.PodConfiguration
	if pods.NSGNames == nil {
		pods.NSGNames = SecurityGroupNames{DefaultPodNetworkPart}
	}
	if pods.SubnetName == nil {
		pods.SubnetName = pointer(DefaultPodNetworkPart)
	}
	if pods.Shape == nil {
		pods.Shape = pointer(DefaultPodShape)
	}
	return pods
}

// OCIDOf returns the OCID in a provider ID of a pool, which is the OCID with or without a scheme.
func OCIDOf(providerID string) string { return strings.TrimPrefix(providerID, providerIDScheme) }

// SameVersion reports whether two Kubernetes versions, with or without the leading v, are equal or one of them is empty.
func SameVersion(a, b string) bool {
	return a == "" || b == "" || strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v")
}

// value returns what p points to; the zero value for nil.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// pointer returns a pointer to the text; nil for an empty one.
func pointer(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

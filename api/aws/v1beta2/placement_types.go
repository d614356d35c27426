package v1beta2

// Tenancy restricts the sharing of an instance's hardware.
// +kubebuilder:validation:Enum=default;dedicated;host
type Tenancy string

// The tenancies of instances.
const (
	TenancyDefault   Tenancy = "default"
	TenancyDedicated Tenancy = "dedicated"
	TenancyHost      Tenancy = "host"
)

// Placement selects the location of instances in the cloud's data centres.
// +kubebuilder:validation:XValidation:rule="!has(self.groupName) || !has(self.groupId)",fieldPath=".groupId",reason=FieldValueForbidden,message="can't be set together with groupName: name the placement group by one of the two"
// +kubebuilder:validation:XValidation:rule="!has(self.partitionNumber) || has(self.groupName) || has(self.groupId)",fieldPath=".partitionNumber",reason=FieldValueInvalid,message="needs groupName or groupId: it is a partition of a placement group"
// +kubebuilder:validation:XValidation:rule="!has(self.hostId) || (has(self.tenancy) && self.tenancy == 'host')",fieldPath=".hostId",reason=FieldValueInvalid,message="needs tenancy to be host"
// +kubebuilder:validation:XValidation:rule="!has(self.affinity) || (has(self.tenancy) && self.tenancy == 'host')",fieldPath=".affinity",reason=FieldValueInvalid,message="needs tenancy to be host"
// +kubebuilder:validation:XValidation:rule="!has(self.hostResourceGroupArn) || !has(self.tenancy) || self.tenancy == 'host'",fieldPath=".hostResourceGroupArn",reason=FieldValueInvalid,message="needs tenancy to be host or absent"
// +kubebuilder:validation:XValidation:rule="!has(self.hostResourceGroupArn) || !has(self.hostId)",fieldPath=".hostResourceGroupArn",reason=FieldValueForbidden,message="can't be set together with hostId: a host resource group chooses the host"
type Placement struct {
	// GroupName is the name of the placement group that instances are launched into.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	GroupName *string `json:"groupName,omitempty"`

	// GroupID is the ID of the placement group, which a group that another account shares needs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	GroupID *string `json:"groupId,omitempty"`

	// PartitionNumber is the partition of the placement group, whose strategy must be partition.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=7
	PartitionNumber *int32 `json:"partitionNumber,omitempty"`

	// Tenancy is default for shared hardware, dedicated for single-tenant hardware, host for a dedicated host.
	// +optional
	Tenancy *Tenancy `json:"tenancy,omitempty"`

	// HostID is the dedicated host that instances are launched on. It needs tenancy host.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	HostID *string `json:"hostId,omitempty"`

	// Affinity is host for instances that return to the same dedicated host after a restart, or default. It needs tenancy host.
	// +optional
	// +kubebuilder:validation:Enum=default;host
	Affinity *string `json:"affinity,omitempty"`

	// HostResourceGroupArn is the host resource group that instances are launched into.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	HostResourceGroupArn *string `json:"hostResourceGroupArn,omitempty"`
}

// InterfaceType is the kind of a network interface.
// +kubebuilder:validation:Enum=interface;efa;efa-only
type InterfaceType string

// The kinds of network interfaces.
const (
	InterfaceTypeInterface InterfaceType = "interface"
	InterfaceTypeEFA       InterfaceType = "efa"
	InterfaceTypeEFAOnly   InterfaceType = "efa-only"
)

// NetworkInterface is one network interface that instances are launched with. Its subnet is always one of the group's: a
// template that names one could not be launched in several zones, and no managed node group takes it.
// +kubebuilder:validation:XValidation:rule="!has(self.interfaceType) || self.interfaceType != 'efa-only' || (!has(self.associatePublicIpAddress) && !has(self.ipv6AddressCount) && !has(self.ipv4PrefixCount) && !has(self.ipv6PrefixCount) && !has(self.secondaryPrivateIpAddressCount) && !has(self.primaryIpv6))",fieldPath=".interfaceType",reason=FieldValueInvalid,message="efa-only interfaces have no addresses: set none of the fields about addresses and prefixes"
// +kubebuilder:validation:XValidation:rule="!has(self.ipv4PrefixCount) || !has(self.secondaryPrivateIpAddressCount)",fieldPath=".ipv4PrefixCount",reason=FieldValueForbidden,message="can't be set together with secondaryPrivateIpAddressCount"
// +kubebuilder:validation:XValidation:rule="!has(self.ipv6PrefixCount) || !has(self.ipv6AddressCount)",fieldPath=".ipv6PrefixCount",reason=FieldValueForbidden,message="can't be set together with ipv6AddressCount"
type NetworkInterface struct {
	// DeviceIndex is the interface's place at the instance, zero for the first.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	DeviceIndex int32 `json:"deviceIndex"`

	// NetworkCardIndex is the network card that the interface is on, for instance types that have several. Absent, it is the
	// first, zero.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	NetworkCardIndex *int32 `json:"networkCardIndex,omitempty"`

	// InterfaceType is interface (the default), efa or efa-only.
	// +optional
	InterfaceType *InterfaceType `json:"interfaceType,omitempty"`

	// Description of the interface.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Description *string `json:"description,omitempty"`

	// AssociatePublicIPAddress is true if the interface gets a public IPv4 address. The default is that of the subnet.
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIpAddress,omitempty"`

	// DeleteOnTermination is true if the interface is deleted with its instance. The default is true.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`

	// SecurityGroups of the interface, each by its ID or by filters. Absent, it gets those that every instance of the pool
	// gets.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	SecurityGroups []AWSResourceReference `json:"securityGroups,omitempty"`

	// SecondaryPrivateIPAddressCount is the number of additional private IPv4 addresses of the interface.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	SecondaryPrivateIPAddressCount *int32 `json:"secondaryPrivateIpAddressCount,omitempty"`

	// IPv4PrefixCount is the number of IPv4 prefixes of the interface.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	IPv4PrefixCount *int32 `json:"ipv4PrefixCount,omitempty"`

	// IPv6AddressCount is the number of IPv6 addresses of the interface.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	IPv6AddressCount *int32 `json:"ipv6AddressCount,omitempty"`

	// IPv6PrefixCount is the number of IPv6 prefixes of the interface.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	IPv6PrefixCount *int32 `json:"ipv6PrefixCount,omitempty"`

	// PrimaryIPv6 is true if the interface's first IPv6 address stays its primary one.
	// +optional
	PrimaryIPv6 *bool `json:"primaryIpv6,omitempty"`
}

// ExistingLaunchTemplate names one version of a launch template that another owner keeps. It is only read.
// +kubebuilder:validation:XValidation:rule="has(self.id) != has(self.name)",reason=FieldValueInvalid,message="exactly one of id and name must be set"
type ExistingLaunchTemplate struct {
	// ID of the launch template.
	// +optional
	// +kubebuilder:validation:Pattern=`^lt-[0-9a-zA-Z]+$`
	// +kubebuilder:validation:MaxLength=64
	ID *string `json:"id,omitempty"`

	// Name of the launch template.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9().\-/_]{3,128}$`
	// +kubebuilder:validation:MaxLength=128
	Name *string `json:"name,omitempty"`

	// Version is the number of the version from which instances are launched. $Latest and $Default are not allowed, because their meaning can
	// change without a change of the pool.
	// +required
	// +kubebuilder:validation:Minimum=1
	Version int64 `json:"version"`
}

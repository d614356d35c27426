package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AZSubnetType selects subnets of an availability zone.
// +kubebuilder:validation:Enum=public;private;all
type AZSubnetType string

// The kinds of subnets of an availability zone.
const (
	AZSubnetTypePublic  AZSubnetType = "public"
	AZSubnetTypePrivate AZSubnetType = "private"
	AZSubnetTypeAll     AZSubnetType = "all"
)

// AWSResourceReference names a resource of the cloud by its ID or finds it by filters, never both.
// +kubebuilder:validation:XValidation:rule="!(has(self.id) && has(self.filters) && size(self.filters) > 0)",reason=FieldValueInvalid,message="id and filters exclude each other: set one of the two"
// +kubebuilder:validation:XValidation:rule="has(self.id) || (has(self.filters) && size(self.filters) > 0)",reason=FieldValueInvalid,message="one of id and filters must be set"
type AWSResourceReference struct {
	// ID of the resource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ID *string `json:"id,omitempty"`

	// Filters that all must match.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Filters []Filter `json:"filters,omitempty"`
}

// Filter is one condition of a look-up in the cloud.
type Filter struct {
	// Name of the filter in the cloud's words, for example tag:Name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`

	// Values of which one must match.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	Values []string `json:"values"`
}

// Tags are keys and values that are put on cloud objects. A cloud object takes 50: the others are left to the controller and to EKS.
// +kubebuilder:validation:MaxProperties=36
// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) >= 1 && size(k) <= 128)",reason=FieldValueInvalid,message="every key must have 1 to 128 characters"
// +kubebuilder:validation:XValidation:rule="self.all(k, size(self[k]) <= 256)",reason=FieldValueInvalid,message="every value must have at most 256 characters"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('aws:') && !k.startsWith('AWS:'))",reason=FieldValueInvalid,message="no key may begin with aws: (the cloud keeps these for itself)"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('muster.dev/'))",reason=FieldValueInvalid,message="no key may begin with muster.dev/ (these say who owns a cloud object)"
type Tags map[string]string

// OnDemandAllocationStrategy selects how instance types are chosen for on-demand capacity.
// +kubebuilder:validation:Enum=prioritized;lowest-price
type OnDemandAllocationStrategy string

// The strategies for on-demand capacity.
const (
	OnDemandAllocationStrategyPrioritized OnDemandAllocationStrategy = "prioritized"
	OnDemandAllocationStrategyLowestPrice OnDemandAllocationStrategy = "lowest-price"
)

// SpotAllocationStrategy selects how instance types are chosen for spot capacity.
// +kubebuilder:validation:Enum=lowest-price;capacity-optimized;capacity-optimized-prioritized;price-capacity-optimized
type SpotAllocationStrategy string

// The strategies for spot capacity.
const (
	SpotAllocationStrategyLowestPrice                  SpotAllocationStrategy = "lowest-price"
	SpotAllocationStrategyCapacityOptimized            SpotAllocationStrategy = "capacity-optimized"
	SpotAllocationStrategyCapacityOptimizedPrioritized SpotAllocationStrategy = "capacity-optimized-prioritized"
	SpotAllocationStrategyPriceCapacityOptimized       SpotAllocationStrategy = "price-capacity-optimized"
)

// MixedInstancesPolicy lets a group launch several instance types.
type MixedInstancesPolicy struct {
	// InstancesDistribution shares the capacity out between on-demand and spot.
	// +optional
	InstancesDistribution *InstancesDistribution `json:"instancesDistribution,omitempty"`

	// Overrides are the instance types, in order of preference.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=40
	Overrides []Overrides `json:"overrides,omitempty"`
}

// InstancesDistribution shares a group's capacity out between on-demand and spot.
type InstancesDistribution struct {
	// OnDemandAllocationStrategy selects how instance types are chosen for on-demand capacity.
	// +optional
	// +kubebuilder:default=prioritized
	OnDemandAllocationStrategy OnDemandAllocationStrategy `json:"onDemandAllocationStrategy,omitempty"`

	// SpotAllocationStrategy selects how instance types are chosen for spot capacity.
	// +optional
	// +kubebuilder:default=lowest-price
	SpotAllocationStrategy SpotAllocationStrategy `json:"spotAllocationStrategy,omitempty"`

	// OnDemandBaseCapacity is the number of instances that are on-demand before OnDemandPercentageAboveBaseCapacity applies.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	OnDemandBaseCapacity *int64 `json:"onDemandBaseCapacity,omitempty"`

	// OnDemandPercentageAboveBaseCapacity is the share of the further instances that is on-demand.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	OnDemandPercentageAboveBaseCapacity *int64 `json:"onDemandPercentageAboveBaseCapacity,omitempty"`
}

// Overrides replace fields of the launch template for one instance type.
type Overrides struct {
	// InstanceType that may be launched.
	// +required
	// +kubebuilder:validation:MinLength=1
	InstanceType string `json:"instanceType"`
}

// SuspendProcessesTypes are the processes of a group that are kept suspended.
type SuspendProcessesTypes struct {
	// All suspends every process that is not set to false in Processes.
	// +optional
	All bool `json:"all,omitempty"`

	// Processes one by one.
	// +optional
	Processes *Processes `json:"processes,omitempty"`
}

// Processes of a group: true suspends one.
type Processes struct {
	// Launch of instances.
	// +optional
	Launch *bool `json:"launch,omitempty"`
	// Terminate: termination of instances.
	// +optional
	Terminate *bool `json:"terminate,omitempty"`
	// AddToLoadBalancer: registration with load balancers.
	// +optional
	AddToLoadBalancer *bool `json:"addToLoadBalancer,omitempty"`
	// AlarmNotification: scaling by alarms.
	// +optional
	AlarmNotification *bool `json:"alarmNotification,omitempty"`
	// AZRebalance: balancing over the zones.
	// +optional
	AZRebalance *bool `json:"azRebalance,omitempty"`
	// HealthCheck: health checks of instances.
	// +optional
	HealthCheck *bool `json:"healthCheck,omitempty"`
	// InstanceRefresh: rollouts by the cloud.
	// +optional
	InstanceRefresh *bool `json:"instanceRefresh,omitempty"`
	// ReplaceUnhealthy: replacement of unhealthy instances.
	// +optional
	ReplaceUnhealthy *bool `json:"replaceUnhealthy,omitempty"`
	// ScheduledActions: scaling by the clock.
	// +optional
	ScheduledActions *bool `json:"scheduledActions,omitempty"`
}

// Suspended returns the cloud's names of the processes to keep suspended, in a fixed order.
func (s *SuspendProcessesTypes) Suspended() []string {
	if s == nil {
		return nil
	}
	p := s.Processes
	if p == nil {
		p = &Processes{}
	}
	var names []string
	for _, process := range []struct {
		name string
		set  *bool
	}{
		{"AZRebalance", p.AZRebalance},
		{"AddToLoadBalancer", p.AddToLoadBalancer},
		{"AlarmNotification", p.AlarmNotification},
		{"HealthCheck", p.HealthCheck},
		{"InstanceRefresh", p.InstanceRefresh},
		{"Launch", p.Launch},
		{"ReplaceUnhealthy", p.ReplaceUnhealthy},
		{"ScheduledActions", p.ScheduledActions},
		{"Terminate", p.Terminate},
	} {
		if process.set == nil && s.All || process.set != nil && *process.set {
			names = append(names, process.name)
		}
	}
	return names
}

// LifecycleTransition is the moment in an instance's life at which a hook holds it.
// +kubebuilder:validation:Enum="autoscaling:EC2_INSTANCE_LAUNCHING";"autoscaling:EC2_INSTANCE_TERMINATING"
type LifecycleTransition string

// The moments at which a hook can hold an instance.
const (
	LifecycleTransitionInstanceLaunching   LifecycleTransition = "autoscaling:EC2_INSTANCE_LAUNCHING"
	LifecycleTransitionInstanceTerminating LifecycleTransition = "autoscaling:EC2_INSTANCE_TERMINATING"
)

// LifecycleHookDefaultResult is the result of a hook that no client completes in time.
// +kubebuilder:validation:Enum=CONTINUE;ABANDON
type LifecycleHookDefaultResult string

// The results of a hook.
const (
	LifecycleHookDefaultResultContinue LifecycleHookDefaultResult = "CONTINUE"
	LifecycleHookDefaultResultAbandon  LifecycleHookDefaultResult = "ABANDON"
)

// AWSLifecycleHook holds instances of a group for a while when they are launched or terminated.
// +kubebuilder:validation:XValidation:rule="has(self.roleARN) == has(self.notificationTargetARN)",reason=FieldValueInvalid,message="roleARN and notificationTargetARN need each other: set both or none"
type AWSLifecycleHook struct {
	// Name of the hook, unique within the group.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9\-_/]+$`
	Name string `json:"name"`

	// NotificationTargetARN is the queue or topic that is notified. It needs RoleARN.
	// +optional
	NotificationTargetARN *string `json:"notificationTargetARN,omitempty"`

	// RoleARN is the role with which the group notifies the target. It needs NotificationTargetARN.
	// +optional
	RoleARN *string `json:"roleARN,omitempty"`

	// LifecycleTransition at which instances are held.
	// +required
	LifecycleTransition LifecycleTransition `json:"lifecycleTransition"`

	// HeartbeatTimeout is the time for which an instance is held. The default of the cloud is one hour.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^-?([0-9]{1,6}(\.[0-9]+)?(h|m|s))+$|^0$`
	// +kubebuilder:validation:XValidation:rule="self >= duration('30s') && self <= duration('172800s')",reason=FieldValueInvalid,message="must be between 30s and 48h0m0s (172800 seconds)"
	HeartbeatTimeout *metav1.Duration `json:"heartbeatTimeout,omitempty"`

	// DefaultResult is the result after that time; the default is ABANDON.
	// +optional
	DefaultResult *LifecycleHookDefaultResult `json:"defaultResult,omitempty"`

	// NotificationMetadata is sent along to the target.
	// +optional
	NotificationMetadata *string `json:"notificationMetadata,omitempty"`
}

// IgnitionStorageTypeOption is where the Ignition data of a machine is kept.
// +kubebuilder:validation:Enum=ClusterObjectStore;UnencryptedUserData
type IgnitionStorageTypeOption string

// The places for Ignition data.
const (
	IgnitionStorageTypeOptionClusterObjectStore  IgnitionStorageTypeOption = "ClusterObjectStore"
	IgnitionStorageTypeOptionUnencryptedUserData IgnitionStorageTypeOption = "UnencryptedUserData"
)

// Ignition configures how machines with Ignition get their bootstrap data.
// +kubebuilder:validation:XValidation:rule="!has(self.proxy) || !has(self.version) || !(self.version in ['2.3', '3.0'])",fieldPath=".proxy",reason=FieldValueForbidden,message="needs ignition.version 3.1 or newer",messageExpression="'needs ignition.version 3.1 or newer, found ' + self.version"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(self.version) || !(self.version in ['2.3', '3.0'])",fieldPath=".tls",reason=FieldValueForbidden,message="needs ignition.version 3.1 or newer",messageExpression="'needs ignition.version 3.1 or newer, found ' + self.version"
type Ignition struct {
	// Version of the Ignition configuration that is made.
	// +optional
	// +kubebuilder:default="2.3"
	// +kubebuilder:validation:Enum="2.3";"3.0";"3.1";"3.2";"3.3";"3.4"
	Version string `json:"version,omitempty"`

	// StorageType is where the data is kept.
	// +optional
	// +kubebuilder:default=ClusterObjectStore
	StorageType IgnitionStorageTypeOption `json:"storageType,omitempty"`

	// Proxy that Ignition fetches through. It needs version 3.1 or newer.
	// +optional
	Proxy *IgnitionProxy `json:"proxy,omitempty"`

	// TLS configures the certificate authorities that Ignition trusts for downloads. It needs version 3.1 or newer.
	// +optional
	TLS *IgnitionTLS `json:"tls,omitempty"`
}

// IgnitionCASource is an address of a certificate authority's certificate: http, https, tftp, s3, arn, gs or data.
// +kubebuilder:validation:MaxLength=65536
type IgnitionCASource string

// IgnitionTLS configures the certificate authorities that Ignition trusts for downloads.
type IgnitionTLS struct {
	// CASources are addresses of further certificate authorities' certificates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	CASources []IgnitionCASource `json:"certificateAuthorities,omitempty"`
}

// IgnitionNoProxy is a host, domain or address range that is reached without proxy.
// +kubebuilder:validation:MaxLength=2048
type IgnitionNoProxy string

// IgnitionProxy is the proxy that Ignition fetches through.
type IgnitionProxy struct {
	// HTTPProxy for http addresses.
	// +optional
	HTTPProxy *string `json:"httpProxy,omitempty"`

	// HTTPSProxy for https addresses.
	// +optional
	HTTPSProxy *string `json:"httpsProxy,omitempty"`

	// NoProxy are the exceptions.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	NoProxy []IgnitionNoProxy `json:"noProxy,omitempty"`
}

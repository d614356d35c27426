package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AZSubnetType says which subnets of an availability zone are meant.
// +kubebuilder:validation:Enum=public;private;all
type AZSubnetType string

// The kinds of subnets of an availability zone.
const (
	AZSubnetTypePublic  AZSubnetType = "public"
	AZSubnetTypePrivate AZSubnetType = "private"
	AZSubnetTypeAll     AZSubnetType = "all"
)

// AWSResourceReference names a resource of the cloud by its ID or finds it by filters, never both.
type AWSResourceReference struct {
	// ID of the resource.
	// +optional
	ID *string `json:"id,omitempty"`

	// Filters that all must match.
	// +optional
	// +listType=atomic
	Filters []Filter `json:"filters,omitempty"`
}

// Filter is one condition of a look-up in the cloud.
type Filter struct {
	// Name of the filter in the cloud's words, for example tag:Name.
	// +required
	Name string `json:"name"`

	// Values of which one must match.
	// +required
	// +listType=atomic
	Values []string `json:"values"`
}

// Tags are keys and values that are put on cloud objects.
type Tags map[string]string

// OnDemandAllocationStrategy is how instance types are chosen for on-demand capacity.
// +kubebuilder:validation:Enum=prioritized;lowest-price
type OnDemandAllocationStrategy string

// The strategies for on-demand capacity.
const (
	OnDemandAllocationStrategyPrioritized OnDemandAllocationStrategy = "prioritized"
	OnDemandAllocationStrategyLowestPrice OnDemandAllocationStrategy = "lowest-price"
)

// SpotAllocationStrategy is how instance types are chosen for spot capacity.
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
	Overrides []Overrides `json:"overrides,omitempty"`
}

// InstancesDistribution shares a group's capacity out between on-demand and spot.
type InstancesDistribution struct {
	// OnDemandAllocationStrategy is how instance types are chosen for on-demand capacity.
	// +optional
	// +kubebuilder:default=prioritized
	OnDemandAllocationStrategy OnDemandAllocationStrategy `json:"onDemandAllocationStrategy,omitempty"`

	// SpotAllocationStrategy is how instance types are chosen for spot capacity.
	// +optional
	// +kubebuilder:default=lowest-price
	SpotAllocationStrategy SpotAllocationStrategy `json:"spotAllocationStrategy,omitempty"`

	// OnDemandBaseCapacity is how many of the first instances are on-demand.
	// +optional
	// +kubebuilder:default=0
	OnDemandBaseCapacity *int64 `json:"onDemandBaseCapacity,omitempty"`

	// OnDemandPercentageAboveBaseCapacity is the share of the further instances that is on-demand.
	// +optional
	// +kubebuilder:default=100
	OnDemandPercentageAboveBaseCapacity *int64 `json:"onDemandPercentageAboveBaseCapacity,omitempty"`
}

// Overrides replace fields of the launch template for one instance type.
type Overrides struct {
	// InstanceType that may be launched.
	// +required
	InstanceType string `json:"instanceType"`
}

// RefreshPreferences are for rollouts by the cloud's instance refresh.
type RefreshPreferences struct {
	// Disable keeps a changed launch template from replacing instances that exist.
	// +optional
	Disable bool `json:"disable,omitempty"`

	// Strategy of the refresh in the cloud's words, for example Rolling.
	// +optional
	Strategy *string `json:"strategy,omitempty"`

	// InstanceWarmup is the time in seconds until a new instance counts as ready.
	// +optional
	InstanceWarmup *int64 `json:"instanceWarmup,omitempty"`

	// MinHealthyPercentage of the desired capacity that must stay in service.
	// +optional
	MinHealthyPercentage *int64 `json:"minHealthyPercentage,omitempty"`

	// MaxHealthyPercentage of the desired capacity that may be in service or pending.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=200
	MaxHealthyPercentage *int64 `json:"maxHealthyPercentage,omitempty"`
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

// Suspended are the cloud's names of the processes to keep suspended, in a fixed order.
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

// LifecycleHookDefaultResult is what happens when nobody completes a hook in time.
// +kubebuilder:validation:Enum=CONTINUE;ABANDON
type LifecycleHookDefaultResult string

// The results of a hook.
const (
	LifecycleHookDefaultResultContinue LifecycleHookDefaultResult = "CONTINUE"
	LifecycleHookDefaultResultAbandon  LifecycleHookDefaultResult = "ABANDON"
)

// AWSLifecycleHook holds instances of a group for a while when they are launched or terminated.
type AWSLifecycleHook struct {
	// Name of the hook, unique within the group.
	// +required
	Name string `json:"name"`

	// NotificationTargetARN is the queue or topic that is told. It needs RoleARN.
	// +optional
	NotificationTargetARN *string `json:"notificationTargetARN,omitempty"`

	// RoleARN is the role that the group tells the target with. It needs NotificationTargetARN.
	// +optional
	RoleARN *string `json:"roleARN,omitempty"`

	// LifecycleTransition at which instances are held.
	// +required
	LifecycleTransition LifecycleTransition `json:"lifecycleTransition"`

	// HeartbeatTimeout is how long an instance is held; absent, the cloud's own hour.
	// +optional
	HeartbeatTimeout *metav1.Duration `json:"heartbeatTimeout,omitempty"`

	// DefaultResult is what happens after that time; absent, ABANDON.
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

// Ignition is how machines that boot with Ignition get their data.
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

	// TLS is what Ignition trusts when it fetches. It needs version 3.1 or newer.
	// +optional
	TLS *IgnitionTLS `json:"tls,omitempty"`
}

// IgnitionCASource is an address of a certificate authority's certificate: http, https, tftp, s3, arn, gs or data.
// +kubebuilder:validation:MaxLength=65536
type IgnitionCASource string

// IgnitionTLS is what Ignition trusts when it fetches.
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

package v1beta1

// TargetShape selects the distribution of the instances of a regional group over zones.
// +kubebuilder:validation:Enum=Even;Balanced;Any;AnySingleZone
type TargetShape string

// The shapes of regional groups.
const (
	// ShapeEven has as many instances in each zone.
	ShapeEven TargetShape = "Even"
	// ShapeBalanced spreads instances as evenly as the capacity of zones allows.
	ShapeBalanced TargetShape = "Balanced"
	// ShapeAny takes the zones with capacity.
	ShapeAny TargetShape = "Any"
	// ShapeAnySingleZone takes one zone with capacity for all.
	ShapeAnySingleZone TargetShape = "AnySingleZone"
)

// DistributionPolicy is where a group has its instances.
// +kubebuilder:validation:XValidation:rule="has(self.zones) == has(oldSelf.zones) && (!has(self.zones) || (size(self.zones) == size(oldSelf.zones) && self.zones.all(z, z in oldSelf.zones)))",fieldPath=".zones",reason=FieldValueForbidden,message="can't be changed once it is set: Compute Engine can't move a group to other zones; create another pool"
type DistributionPolicy struct {
	// Zones of the group. Absent, they are the failure domains of the MachinePool, or else those of the cluster. A group of one zone is zonal,
	// any other is regional. They can't be changed later.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Zones []string `json:"zones,omitempty"`

	// TargetShape selects the distribution of the instances of a regional group over zones: Even, Balanced, Any or AnySingleZone. The default
	// is Even.
	// +optional
	TargetShape TargetShape `json:"targetShape,omitempty"`
}

// AutoHealing has Compute Engine recreate instances that fail a health check.
type AutoHealing struct {
	// HealthCheck is the name of a global health check of the project, or the URL of any.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	HealthCheck string `json:"healthCheck"`

	// InitialDelaySec is the time before the health of a new instance counts, in seconds. The default is 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	InitialDelaySec int32 `json:"initialDelaySec,omitempty"`
}

// FailureAction selects the reaction of Compute Engine to a failed instance.
// +kubebuilder:validation:Enum=Repair;DoNothing
type FailureAction string

// The actions on failed instances.
const (
	// ActionRepair recreates an instance that failed.
	ActionRepair FailureAction = "Repair"
	// ActionDoNothing leaves an instance that failed as it is.
	ActionDoNothing FailureAction = "DoNothing"
)

// InstanceLifecyclePolicy configures how Compute Engine repairs the instances of a group. Absent fields have the defaults of Compute
// Engine.
type InstanceLifecyclePolicy struct {
	// DefaultActionOnFailure is Repair, which recreates an instance that failed under its name, or DoNothing. Absent, it is Repair.
	// +optional
	DefaultActionOnFailure FailureAction `json:"defaultActionOnFailure,omitempty"`

	// ForceUpdateOnRepair is true if a repaired instance is recreated from the group's current template instead of the one it had. The default
	// is false.
	// +optional
	ForceUpdateOnRepair *bool `json:"forceUpdateOnRepair,omitempty"`
}

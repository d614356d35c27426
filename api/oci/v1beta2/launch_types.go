package v1beta2

// LaunchOptions select the emulation of devices and the firmware. The default of each is that of the image.
type LaunchOptions struct {
	// BootVolumeType is the emulation of the boot volume.
	// +optional
	BootVolumeType VolumeEmulation `json:"bootVolumeType,omitempty"`

	// Firmware of instances: BIOS or UEFI_64.
	// +optional
	// +kubebuilder:validation:Enum=BIOS;UEFI_64;""
	Firmware string `json:"firmware,omitempty"`

	// NetworkType is the emulation of the network interface: E1000, VFIO (hardware-assisted) or PARAVIRTUALIZED.
	// +optional
	// +kubebuilder:validation:Enum=E1000;VFIO;PARAVIRTUALIZED;""
	NetworkType string `json:"networkType,omitempty"`

	// RemoteDataVolumeType is the emulation of other volumes.
	// +optional
	RemoteDataVolumeType VolumeEmulation `json:"remoteDataVolumeType,omitempty"`

	// IsConsistentVolumeNamingEnabled is true if the names of devices stay the same across reboots.
	// +optional
	IsConsistentVolumeNamingEnabled *bool `json:"isConsistentVolumeNamingEnabled,omitempty"`
}

// VolumeEmulation is the emulation of a volume: ISCSI, SCSI, IDE, VFIO (hardware-assisted) or PARAVIRTUALIZED.
// +kubebuilder:validation:Enum=ISCSI;SCSI;IDE;VFIO;PARAVIRTUALIZED;""
type VolumeEmulation string

// InstanceOptions are settings of the metadata service.
type InstanceOptions struct {
	// AreLegacyIMDSEndpointsDisabled is true if version 1 of the metadata service is disabled.
	// +optional
	AreLegacyIMDSEndpointsDisabled *bool `json:"areLegacyImdsEndpointsDisabled,omitempty"`
}

// LaunchInstanceAvailabilityConfig configures instances during and after maintenance of their hosts.
type LaunchInstanceAvailabilityConfig struct {
	// IsLiveMigrationPreferred is true if running instances are migrated to another host, and false if they are rebooted there. By default
	// Oracle decides.
	// +optional
	IsLiveMigrationPreferred *bool `json:"isLiveMigrationPreferred,omitempty"`

	// RecoveryAction selects the state of an instance after maintenance: RESTORE_INSTANCE restores the previous state, STOP_INSTANCE stops
	// the instance. The default is RESTORE_INSTANCE.
	// +optional
	// +kubebuilder:validation:Enum=RESTORE_INSTANCE;STOP_INSTANCE;""
	RecoveryAction string `json:"recoveryAction,omitempty"`
}

// PreemptibleInstanceConfig makes instances preemptible.
type PreemptibleInstanceConfig struct {
	// TerminatePreemptionAction configures the termination of an instance when OCI needs its capacity.
	// +optional
	TerminatePreemptionAction *TerminatePreemptionAction `json:"terminatePreemptionAction,omitempty"`
}

// TerminatePreemptionAction configures the termination of an instance when OCI needs its capacity.
type TerminatePreemptionAction struct {
	// PreserveBootVolume is true if the boot volume is kept. The default is false.
	// +optional
	PreserveBootVolume *bool `json:"preserveBootVolume,omitempty"`
}

// LaunchInstanceAgentConfig are settings of the Oracle Cloud Agent.
type LaunchInstanceAgentConfig struct {
	// IsMonitoringDisabled is true if the plugins for monitoring are disabled, regardless of pluginsConfigs.
	// +optional
	IsMonitoringDisabled *bool `json:"isMonitoringDisabled,omitempty"`

	// IsManagementDisabled is true if the plugins for management are disabled, regardless of pluginsConfigs.
	// +optional
	IsManagementDisabled *bool `json:"isManagementDisabled,omitempty"`

	// AreAllPluginsDisabled is true if all plugins are disabled.
	// +optional
	AreAllPluginsDisabled *bool `json:"areAllPluginsDisabled,omitempty"`

	// PluginsConfig are settings of single plugins.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	PluginsConfig []InstanceAgentPluginConfig `json:"pluginsConfigs,omitempty"`
}

// InstanceAgentPluginConfig are settings of one plugin of the Oracle Cloud Agent.
type InstanceAgentPluginConfig struct {
	// Name of the plugin, for example Compute Instance Monitoring.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Name *string `json:"name,omitempty"`

	// DesiredState of the plugin: ENABLED or DISABLED.
	// +optional
	// +kubebuilder:validation:Enum=ENABLED;DISABLED;""
	DesiredState string `json:"desiredState,omitempty"`
}

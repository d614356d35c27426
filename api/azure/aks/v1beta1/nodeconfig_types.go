package v1beta1

// KubeletConfig is the set of kubelet settings that AKS lets users choose (Customize node configuration for AKS node pools). AKS changes
// none of them on a pool that exists.
// +kubebuilder:validation:XValidation:rule="!has(self.imageGcHighThreshold) || !has(self.imageGcLowThreshold) || self.imageGcLowThreshold <= self.imageGcHighThreshold",fieldPath=".imageGcLowThreshold",reason=FieldValueInvalid,message="must not be greater than imageGcHighThreshold"
type KubeletConfig struct {
	// CPUManagerPolicy selects how the kubelet assigns CPUs to containers: none or static.
	// +optional
	// +kubebuilder:validation:Enum=none;static
	CPUManagerPolicy *string `json:"cpuManagerPolicy,omitempty"`

	// CPUCfsQuota is true if CPU limits of containers are enforced with CFS quotas.
	// +optional
	CPUCfsQuota *bool `json:"cpuCfsQuota,omitempty"`

	// CPUCfsQuotaPeriod is the period of CFS quotas in milliseconds with the unit, for example 100ms.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+ms$')",reason=FieldValueInvalid,message="must be a number of milliseconds with the suffix ms, for example 100ms"
	CPUCfsQuotaPeriod *string `json:"cpuCfsQuotaPeriod,omitempty"`

	// ImageGcHighThreshold is the disk usage in percent above which images are always collected.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ImageGcHighThreshold *int32 `json:"imageGcHighThreshold,omitempty"`

	// ImageGcLowThreshold is the disk usage in percent below which images are never collected. It must not be greater than
	// imageGcHighThreshold.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ImageGcLowThreshold *int32 `json:"imageGcLowThreshold,omitempty"`

	// TopologyManagerPolicy selects how the kubelet aligns resources with NUMA nodes: none, best-effort, restricted or single-numa-node.
	// +optional
	// +kubebuilder:validation:Enum=none;best-effort;restricted;single-numa-node
	TopologyManagerPolicy *string `json:"topologyManagerPolicy,omitempty"`

	// AllowedUnsafeSysctls are the unsafe sysctls, or patterns of them that end in *, which pods may set: kernel.shm*, kernel.msg*,
	// kernel.sem, fs.mqueue.* and net.*.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.all(s, s.matches('^(kernel\\\\.(shm.+|msg.+|sem)|fs\\\\.mqueue\\\\..+|net\\\\..+)$'))",reason=FieldValueInvalid,message="every sysctl must match kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* or net.*"
	AllowedUnsafeSysctls []string `json:"allowedUnsafeSysctls,omitempty"`

	// FailSwapOn is true if the kubelet does not start on a node with swap. AKS takes true where it is absent.
	// +optional
	FailSwapOn *bool `json:"failSwapOn,omitempty"`

	// ContainerLogMaxSizeMB is the size of a container's log file at which it is rotated, in megabytes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ContainerLogMaxSizeMB *int32 `json:"containerLogMaxSizeMB,omitempty"`

	// ContainerLogMaxFiles is the largest number of log files of a container.
	// +optional
	// +kubebuilder:validation:Minimum=2
	ContainerLogMaxFiles *int32 `json:"containerLogMaxFiles,omitempty"`

	// PodMaxPids is the largest number of processes of a pod; -1 sets no limit.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	PodMaxPids *int32 `json:"podMaxPids,omitempty"`
}

// LinuxOSConfig is the set of operating system settings that AKS lets users choose on Linux. AKS changes none of them on a pool that
// exists.
type LinuxOSConfig struct {
	// SwapFileSizeMB is the size of the swap file on each node, in megabytes. It needs kubeletConfig.failSwapOn to be false.
	// +optional
	// +kubebuilder:validation:Minimum=1
	SwapFileSizeMB *int32 `json:"swapFileSizeMB,omitempty"`

	// Sysctls are the kernel settings.
	// +optional
	Sysctls *SysctlConfig `json:"sysctls,omitempty"`

	// TransparentHugePageDefrag selects how the kernel makes huge pages available: always, defer, defer+madvise, madvise or never.
	// +optional
	// +kubebuilder:validation:Enum=always;defer;defer+madvise;madvise;never
	TransparentHugePageDefrag *string `json:"transparentHugePageDefrag,omitempty"`

	// TransparentHugePageEnabled is when the kernel uses huge pages: always, madvise or never.
	// +optional
	// +kubebuilder:validation:Enum=always;madvise;never
	TransparentHugePageEnabled *string `json:"transparentHugePageEnabled,omitempty"`
}

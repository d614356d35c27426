package v1beta2

// PlatformConfigType names a platform of processors.
// +kubebuilder:validation:Enum=AMD_ROME_BM_GPU;AMD_ROME_BM;INTEL_ICELAKE_BM;AMD_VM;INTEL_VM;INTEL_SKYLAKE_BM;AMD_MILAN_BM;""
type PlatformConfigType string

// The platforms.
const (
	PlatformAMDRomeBareMetalGPU      PlatformConfigType = "AMD_ROME_BM_GPU"
	PlatformAMDRomeBareMetal         PlatformConfigType = "AMD_ROME_BM"
	PlatformIntelIcelakeBareMetal    PlatformConfigType = "INTEL_ICELAKE_BM"
	PlatformAMDVirtualMachine        PlatformConfigType = "AMD_VM"
	PlatformIntelVirtualMachine      PlatformConfigType = "INTEL_VM"
	PlatformIntelSkylakeBareMetal    PlatformConfigType = "INTEL_SKYLAKE_BM"
	PlatformAMDMilanBareMetalMachine PlatformConfigType = "AMD_MILAN_BM"
)

// PlatformConfig are settings of the processor's platform. platformConfigType selects which of the other fields is used.
type PlatformConfig struct {
	// PlatformConfigType is the platform of the shape.
	// +optional
	PlatformConfigType PlatformConfigType `json:"platformConfigType,omitempty"`

	// AMDMilanBM are settings of AMD_MILAN_BM, for example of BM.Standard.E4.128.
	// +optional
	AMDMilanBM *AMDPlatformConfig `json:"amdMilanBmPlatformConfig,omitempty"`

	// AMDRomeBM are settings of AMD_ROME_BM, for example of BM.Standard.E3.128.
	// +optional
	AMDRomeBM *AMDPlatformConfig `json:"amdRomeBmPlatformConfig,omitempty"`

	// IntelSkylakeBM are settings of INTEL_SKYLAKE_BM, for example of BM.Standard2.52.
	// +optional
	IntelSkylakeBM *BootPlatformConfig `json:"intelSkylakeBmPlatformConfig,omitempty"`

	// IntelIcelakeBM are settings of INTEL_ICELAKE_BM, for example of BM.Standard3.64.
	// +optional
	IntelIcelakeBM *IntelIcelakePlatformConfig `json:"intelIcelakeBmPlatformConfig,omitempty"`

	// AMDRomeBMGPU are settings of AMD_ROME_BM_GPU, for example of BM.GPU4.8.
	// +optional
	AMDRomeBMGPU *AMDGPUPlatformConfig `json:"amdRomeBmGpuPlatformConfig,omitempty"`

	// IntelVM are settings of INTEL_VM.
	// +optional
	IntelVM *BootPlatformConfig `json:"intelVmPlatformConfig,omitempty"`

	// AMDVM are settings of AMD_VM.
	// +optional
	AMDVM *BootPlatformConfig `json:"amdVmPlatformConfig,omitempty"`
}

// BootPlatformConfig are the settings that all platforms have.
type BootPlatformConfig struct {
	// IsSecureBootEnabled is true if instances boot only signed boot loaders and operating systems.
	// +optional
	IsSecureBootEnabled *bool `json:"isSecureBootEnabled,omitempty"`

	// IsTrustedPlatformModuleEnabled is true if instances have a Trusted Platform Module.
	// +optional
	IsTrustedPlatformModuleEnabled *bool `json:"isTrustedPlatformModuleEnabled,omitempty"`

	// IsMeasuredBootEnabled is true if the boot is measured.
	// +optional
	IsMeasuredBootEnabled *bool `json:"isMeasuredBootEnabled,omitempty"`

	// IsMemoryEncryptionEnabled is true for confidential instances, whose memory is encrypted.
	// +optional
	IsMemoryEncryptionEnabled *bool `json:"isMemoryEncryptionEnabled,omitempty"`
}

// ThreadsPlatformConfig are settings of all bare metal platforms except Intel Skylake.
type ThreadsPlatformConfig struct {
	BootPlatformConfig `json:",inline"`

	// IsSymmetricMultiThreadingEnabled is true if each core runs two threads. The default is true.
	// +optional
	IsSymmetricMultiThreadingEnabled *bool `json:"isSymmetricMultiThreadingEnabled,omitempty"`

	// IsInputOutputMemoryManagementUnitEnabled is true if the input-output memory management unit is enabled.
	// +optional
	IsInputOutputMemoryManagementUnitEnabled *bool `json:"isInputOutputMemoryManagementUnitEnabled,omitempty"`
}

// IntelIcelakePlatformConfig are settings of Intel Ice Lake.
type IntelIcelakePlatformConfig struct {
	ThreadsPlatformConfig `json:",inline"`

	// PercentageOfCoresEnabled is the percentage of enabled cores: 25, 50, 75 or 100. The default is 100.
	// +optional
	PercentageOfCoresEnabled *CoresPercentage `json:"percentageOfCoresEnabled,omitempty"`

	// NumaNodesPerSocket is the number of NUMA nodes of a socket: NPS1 or NPS2. The default is NPS1.
	// +optional
	// +kubebuilder:validation:Enum=NPS1;NPS2;""
	NumaNodesPerSocket string `json:"numaNodesPerSocket,omitempty"`
}

// AMDGPUPlatformConfig are settings of AMD Rome with GPUs.
type AMDGPUPlatformConfig struct {
	ThreadsPlatformConfig `json:",inline"`

	// IsAccessControlServiceEnabled is true if devices are isolated from each other, which the pass-through of devices requires.
	// +optional
	IsAccessControlServiceEnabled *bool `json:"isAccessControlServiceEnabled,omitempty"`

	// AreVirtualInstructionsEnabled is true if instructions for virtualization are available.
	// +optional
	AreVirtualInstructionsEnabled *bool `json:"areVirtualInstructionsEnabled,omitempty"`

	// NumaNodesPerSocket is the number of NUMA nodes of a socket: NPS0, NPS1, NPS2 or NPS4.
	// +optional
	// +kubebuilder:validation:Enum=NPS0;NPS1;NPS2;NPS4;""
	NumaNodesPerSocket string `json:"numaNodesPerSocket,omitempty"`
}

// AMDPlatformConfig are settings of AMD Milan and AMD Rome.
type AMDPlatformConfig struct {
	AMDGPUPlatformConfig `json:",inline"`

	// PercentageOfCoresEnabled is the percentage of enabled cores: 25, 50, 75 or 100. The default is 100.
	// +optional
	PercentageOfCoresEnabled *CoresPercentage `json:"percentageOfCoresEnabled,omitempty"`
}

// CoresPercentage is a percentage of the cores of a machine.
// +kubebuilder:validation:Minimum=25
// +kubebuilder:validation:Maximum=100
// +kubebuilder:validation:MultipleOf=25
type CoresPercentage int

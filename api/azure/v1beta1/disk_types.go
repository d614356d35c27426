package v1beta1

// OSType is a family of operating systems.
// +kubebuilder:validation:Enum=Linux;Windows
type OSType string

// The families of operating systems.
const (
	LinuxOS   OSType = "Linux"
	WindowsOS OSType = "Windows"
)

// CachingType selects how the host caches a disk.
// +kubebuilder:validation:Enum=None;ReadOnly;ReadWrite
type CachingType string

// The ways of caching.
const (
	CachingNone      CachingType = "None"
	CachingReadOnly  CachingType = "ReadOnly"
	CachingReadWrite CachingType = "ReadWrite"
)

// OSDisk is the disk that the operating system is on.
// +kubebuilder:validation:XValidation:rule="!has(self.managedDisk) || (has(self.managedDisk.storageAccountType) && size(self.managedDisk.storageAccountType) > 0)",fieldPath=".managedDisk.storageAccountType",reason=FieldValueRequired,message="the Storage Account Type for Managed Disk cannot be empty"
// +kubebuilder:validation:XValidation:rule="!has(self.managedDisk) || !has(self.managedDisk.storageAccountType) || self.managedDisk.storageAccountType != 'UltraSSD_LRS'",fieldPath=".managedDisk.storageAccountType",reason=FieldValueInvalid,message="UltraSSD_LRS can only be used with data disks, it cannot be used with OS Disks"
// +kubebuilder:validation:XValidation:rule="!has(self.managedDisk) || !has(self.managedDisk.storageAccountType) || self.managedDisk.storageAccountType != 'PremiumV2_LRS'",fieldPath=".managedDisk.storageAccountType",reason=FieldValueInvalid,message="PremiumV2_LRS can only be used with data disks, it cannot be used with OS Disks"
// +kubebuilder:validation:XValidation:rule="!has(self.diffDiskSettings) || !has(self.managedDisk) || !has(self.managedDisk.diskEncryptionSet)",fieldPath=".managedDisk.diskEncryptionSet",reason=FieldValueInvalid,message="diskEncryptionSet is not supported when diffDiskSettings.option is 'Local'"
// +kubebuilder:validation:XValidation:rule="!has(self.diffDiskSettings) || !has(self.cachingType) || self.cachingType == 'ReadOnly'",fieldPath=".cachingType",reason=FieldValueInvalid,message="must be ReadOnly or absent when diffDiskSettings are set: Azure caches a disk that is the host's own in no other way"
type OSDisk struct {
	// OSType is the operating system: Linux or Windows. It can't be changed later.
	// +optional
	// +kubebuilder:default=Linux
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",reason=FieldValueForbidden,message="can't be changed once the pool exists: Azure can't change the operating system of a scale set; create another pool"
	OSType OSType `json:"osType"`

	// DiskSizeGB is the size of the disk in GiB; absent, it is that of the image.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 2048",reason=FieldValueInvalid,message="the Disk size should be a value between 1 and 2048"
	DiskSizeGB *int32 `json:"diskSizeGB,omitempty"`

	// ManagedDisk describes the storage of the disk.
	// +optional
	ManagedDisk *ManagedDiskParameters `json:"managedDisk,omitempty"`

	// DiffDiskSettings have the disk be the host's own: fast, and lost with the virtual machine.
	// +optional
	DiffDiskSettings *DiffDiskSettings `json:"diffDiskSettings,omitempty"`

	// CachingType selects how the host caches the disk. The default is None, and ReadOnly for a disk with diffDiskSettings.
	// +optional
	CachingType CachingType `json:"cachingType,omitempty"`
}

// DataDisk is a further disk.
// +kubebuilder:validation:XValidation:rule="!has(self.managedDisk) || (has(self.managedDisk.storageAccountType) && size(self.managedDisk.storageAccountType) > 0)",fieldPath=".managedDisk.storageAccountType",reason=FieldValueRequired,message="the Storage Account Type for Managed Disk cannot be empty"
// +kubebuilder:validation:XValidation:rule="!has(self.managedDisk) || !has(self.managedDisk.securityProfile)",fieldPath=".managedDisk.securityProfile",reason=FieldValueForbidden,message="can only be set on the OS disk"
// +kubebuilder:validation:XValidation:rule="!has(self.managedDisk) || !has(self.managedDisk.storageAccountType) || !(self.managedDisk.storageAccountType in ['UltraSSD_LRS', 'PremiumV2_LRS']) || !has(self.cachingType) || self.cachingType == 'None'",fieldPath=".cachingType",reason=FieldValueInvalid,message="must be None or absent for a disk of type UltraSSD_LRS or PremiumV2_LRS: Azure does not cache these"
type DataDisk struct {
	// NameSuffix is the suffix of the disk's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	NameSuffix string `json:"nameSuffix"`

	// DiskSizeGB is the size of the disk in GiB.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	DiskSizeGB int32 `json:"diskSizeGB"`

	// ManagedDisk describes the storage of the disk.
	// +optional
	ManagedDisk *ManagedDiskParameters `json:"managedDisk,omitempty"`

	// Lun is the number by which the virtual machine knows the disk; absent, it is the lowest that is free.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 0 && self <= 63",reason=FieldValueInvalid,message="logical unit number must be between 0 and 63"
	Lun *int32 `json:"lun,omitempty"`

	// CachingType selects how the host caches the disk. The default is None.
	// +optional
	CachingType CachingType `json:"cachingType,omitempty"`
}

// ManagedDiskParameters describe the storage of a disk.
type ManagedDiskParameters struct {
	// StorageAccountType is the kind of storage.
	// +optional
	// +kubebuilder:validation:Enum=Standard_LRS;StandardSSD_LRS;StandardSSD_ZRS;Premium_LRS;Premium_ZRS;PremiumV2_LRS;UltraSSD_LRS
	StorageAccountType string `json:"storageAccountType,omitempty"`

	// DiskEncryptionSet has the disk be encrypted with a key of the customer's.
	// +optional
	DiskEncryptionSet *DiskEncryptionSetParameters `json:"diskEncryptionSet,omitempty"`

	// SecurityProfile configures the encryption of the disk of a confidential virtual machine.
	// +optional
	SecurityProfile *VMDiskSecurityProfile `json:"securityProfile,omitempty"`
}

// DiskEncryptionSetParameters names a disk encryption set.
type DiskEncryptionSetParameters struct {
	// ID of the disk encryption set, in the same subscription.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ID string `json:"id,omitempty"`
}

// SecurityEncryptionType selects the encrypted parts of a confidential virtual machine.
// +kubebuilder:validation:Enum=VMGuestStateOnly;DiskWithVMGuestState
type SecurityEncryptionType string

// The encrypted parts of a confidential virtual machine: the guest's state, or also the disk.
const (
	SecurityEncryptionTypeVMGuestStateOnly     SecurityEncryptionType = "VMGuestStateOnly"
	SecurityEncryptionTypeDiskWithVMGuestState SecurityEncryptionType = "DiskWithVMGuestState"
)

// VMDiskSecurityProfile configures the encryption of the disk of a confidential virtual machine.
// +kubebuilder:validation:XValidation:rule="!has(self.diskEncryptionSet) || (has(self.securityEncryptionType) && self.securityEncryptionType == 'DiskWithVMGuestState')",fieldPath=".diskEncryptionSet",reason=FieldValueInvalid,message="needs securityEncryptionType to be DiskWithVMGuestState"
type VMDiskSecurityProfile struct {
	// DiskEncryptionSet is the customer's own key for disk and guest state.
	// +optional
	DiskEncryptionSet *DiskEncryptionSetParameters `json:"diskEncryptionSet,omitempty"`

	// SecurityEncryptionType selects the encrypted parts.
	// +optional
	SecurityEncryptionType SecurityEncryptionType `json:"securityEncryptionType,omitempty"`
}

// DiffDiskSettings have a disk be the host's own.
type DiffDiskSettings struct {
	// Option is Local.
	// +required
	// +kubebuilder:validation:Enum=Local
	Option string `json:"option"`

	// Placement is where on the host the disk is; absent, Azure chooses.
	// +optional
	Placement *DiffDiskPlacement `json:"placement,omitempty"`
}

// DiffDiskPlacement is where on the host a disk is.
// +kubebuilder:validation:Enum=CacheDisk;NvmeDisk;ResourceDisk
type DiffDiskPlacement string

// The places on a host.
const (
	DiffDiskPlacementCacheDisk    DiffDiskPlacement = "CacheDisk"
	DiffDiskPlacementNvmeDisk     DiffDiskPlacement = "NvmeDisk"
	DiffDiskPlacementResourceDisk DiffDiskPlacement = "ResourceDisk"
)

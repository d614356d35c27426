package v1beta1

// AzureMachinePoolMachineTemplate describes the virtual machines of a pool.
// +kubebuilder:validation:XValidation:rule="!has(self.networkInterfaces) || size(self.networkInterfaces) == 0 || !has(self.subnetName) || size(self.subnetName) == 0",fieldPath=".networkInterfaces",reason=FieldValueForbidden,message="cannot set both NetworkInterfaces and machine SubnetName: name the subnet in networkInterfaces"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.disableVMBootstrapExtension) || (has(self.disableVMBootstrapExtension) && self.disableVMBootstrapExtension == oldSelf.disableVMBootstrapExtension)",fieldPath=".disableVMBootstrapExtension",reason=FieldValueForbidden,message="can't be changed once it is set"
// +kubebuilder:validation:XValidation:rule="!has(self.osDisk.managedDisk) || !has(self.osDisk.managedDisk.securityProfile) || !has(self.osDisk.managedDisk.securityProfile.securityEncryptionType) || (has(self.securityProfile) && has(self.securityProfile.securityType) && self.securityProfile.securityType == 'ConfidentialVM')",fieldPath=".securityProfile.securityType",reason=FieldValueInvalid,message="SecurityType should be set to 'ConfidentialVM' when securityEncryptionType is defined"
// +kubebuilder:validation:XValidation:rule="!has(self.securityProfile) || !has(self.securityProfile.securityType) || self.securityProfile.securityType != 'ConfidentialVM' || (has(self.osDisk.managedDisk) && has(self.osDisk.managedDisk.securityProfile) && has(self.osDisk.managedDisk.securityProfile.securityEncryptionType))",fieldPath=".osDisk.managedDisk.securityProfile",reason=FieldValueRequired,message="securityEncryptionType must be set when securityProfile.securityType is ConfidentialVM: Azure makes no confidential virtual machine without it"
// +kubebuilder:validation:XValidation:rule="!has(self.osDisk.managedDisk) || !has(self.osDisk.managedDisk.securityProfile) || !has(self.osDisk.managedDisk.securityProfile.securityEncryptionType) || (has(self.securityProfile) && has(self.securityProfile.uefiSettings) && has(self.securityProfile.uefiSettings.vTpmEnabled) && self.securityProfile.uefiSettings.vTpmEnabled)",fieldPath=".securityProfile.uefiSettings.vTpmEnabled",reason=FieldValueInvalid,message="VTpmEnabled should be set to true when securityEncryptionType is defined"
// +kubebuilder:validation:XValidation:rule="!has(self.osDisk.managedDisk) || !has(self.osDisk.managedDisk.securityProfile) || !has(self.osDisk.managedDisk.securityProfile.securityEncryptionType) || self.osDisk.managedDisk.securityProfile.securityEncryptionType != 'DiskWithVMGuestState' || (has(self.securityProfile) && has(self.securityProfile.uefiSettings) && has(self.securityProfile.uefiSettings.secureBootEnabled) && self.securityProfile.uefiSettings.secureBootEnabled)",fieldPath=".securityProfile.uefiSettings.secureBootEnabled",reason=FieldValueInvalid,message="SecureBootEnabled should be set to true when securityEncryptionType is set to 'DiskWithVMGuestState'"
// +kubebuilder:validation:XValidation:rule="!has(self.osDisk.managedDisk) || !has(self.osDisk.managedDisk.securityProfile) || !has(self.osDisk.managedDisk.securityProfile.securityEncryptionType) || self.osDisk.managedDisk.securityProfile.securityEncryptionType != 'DiskWithVMGuestState' || !has(self.securityProfile) || !has(self.securityProfile.encryptionAtHost) || !self.securityProfile.encryptionAtHost",fieldPath=".securityProfile.encryptionAtHost",reason=FieldValueInvalid,message="EncryptionAtHost cannot be set to 'true' when securityEncryptionType is set to 'DiskWithVMGuestState'"
// +kubebuilder:validation:XValidation:rule="!has(self.spotVMOptions) || !has(self.spotVMOptions.evictionPolicy) || self.spotVMOptions.evictionPolicy != 'Deallocate' || !has(self.osDisk.diffDiskSettings)",fieldPath=".spotVMOptions.evictionPolicy",reason=FieldValueInvalid,message="Deallocate can't be used with osDisk.diffDiskSettings: a virtual machine whose disk is the host's own can't be stopped and kept; set Delete"
// +kubebuilder:validation:XValidation:rule="!has(self.additionalCapabilities) || !has(self.additionalCapabilities.ultraSSDEnabled) || self.additionalCapabilities.ultraSSDEnabled || !has(self.dataDisks) || self.dataDisks.all(d, !has(d.managedDisk) || !has(d.managedDisk.storageAccountType) || d.managedDisk.storageAccountType != 'UltraSSD_LRS')",fieldPath=".additionalCapabilities.ultraSSDEnabled",reason=FieldValueInvalid,message="must not be false when one of dataDisks is UltraSSD_LRS"
type AzureMachinePoolMachineTemplate struct {
	// VMSize is the size of virtual machines, for example Standard_D2s_v3.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	VMSize string `json:"vmSize"`

	// Image is the image of virtual machines. The default is the image that the ecosystem publishes for the MachinePool's Kubernetes version.
	// +optional
	// +nullable
	Image *Image `json:"image,omitempty"`

	// OSDisk is the disk that the operating system is on.
	// +required
	OSDisk OSDisk `json:"osDisk"`

	// DataDisks are further disks.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(d, self.exists_one(e, e.nameSuffix == d.nameSuffix))",reason=FieldValueInvalid,message="no two disks may have the same nameSuffix"
	// +kubebuilder:validation:XValidation:rule="self.all(d, !has(d.lun) || self.exists_one(e, has(e.lun) && e.lun == d.lun))",reason=FieldValueInvalid,message="no two disks may have the same lun"
	DataDisks []DataDisk `json:"dataDisks,omitempty"`

	// SSHPublicKey is a public key that opens virtual machines by SSH, as a line of an authorized_keys file, encoded in
	// base64. Absent, a key is generated whose private half is discarded. It is for Linux only.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9+/\\\\r\\\\n]*=?[\\\\r\\\\n]*=?[\\\\r\\\\n]*$')",reason=FieldValueInvalid,message="the SSH public key is not properly base64 encoded"
	SSHPublicKey string `json:"sshPublicKey,omitempty"`

	// AcceleratedNetworking is deprecated in favour of networkInterfaces[0].acceleratedNetworking. It has no effect together with
	// networkInterfaces.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`

	// AdditionalCapabilities are optional capabilities of virtual machines.
	// +optional
	AdditionalCapabilities *AdditionalCapabilities `json:"additionalCapabilities,omitempty"`

	// Diagnostics configure how Azure stores the console output of virtual machines.
	// +optional
	// +kubebuilder:default={boot: {storageAccountType: Managed}}
	Diagnostics *Diagnostics `json:"diagnostics,omitempty"`

	// TerminateNotificationTimeout is for how many minutes Azure holds a virtual machine that it is about to delete, so that
	// something inside can finish; absent, it does not.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 5",reason=FieldValueInvalid,message="minimum timeout 5 is allowed for TerminateNotificationTimeout"
	// +kubebuilder:validation:XValidation:rule="self <= 15",reason=FieldValueInvalid,message="maximum timeout 15 is allowed for TerminateNotificationTimeout"
	TerminateNotificationTimeout *int `json:"terminateNotificationTimeout,omitempty"`

	// SecurityProfile configures the security of virtual machines.
	// +optional
	SecurityProfile *SecurityProfile `json:"securityProfile,omitempty"`

	// SpotVMOptions has virtual machines run on capacity that Azure may take back.
	// +optional
	SpotVMOptions *SpotVMOptions `json:"spotVMOptions,omitempty"`

	// SubnetName is the deprecated place of networkInterfaces[0].subnetName.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	SubnetName string `json:"subnetName,omitempty"`

	// VMExtensions are extensions of virtual machines. A change of them reaches virtual machines that exist.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(e, self.exists_one(f, f.name == e.name))",reason=FieldValueInvalid,message="no two extensions may have the same name"
	VMExtensions []VMExtension `json:"vmExtensions,omitempty"`

	// DisableVMBootstrapExtension, if false, adds the ecosystem's extension that reports to Azure when a virtual machine has joined. Once set
	// it can't be changed.
	// +optional
	DisableVMBootstrapExtension *bool `json:"disableVMBootstrapExtension,omitempty"`

	// NetworkInterfaces of virtual machines, the first of which is the primary one. Absent, there is one in the cluster's
	// subnet for nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`
}

// NetworkInterface of virtual machines.
type NetworkInterface struct {
	// SubnetName is the subnet, by its name in the cluster's network; absent, it is the cluster's subnet for nodes.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	SubnetName string `json:"subnetName,omitempty"`

	// PrivateIPConfigs is the number of private addresses of the interface.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Maximum=256
	// +kubebuilder:validation:XValidation:rule="self >= 1",reason=FieldValueInvalid,message="number of privateIPConfigs per interface must be at least 1"
	PrivateIPConfigs int `json:"privateIPConfigs,omitempty"`

	// AcceleratedNetworking lets the interface bypass the host's switch; absent, it does where the size of the virtual machine
	// can.
	// +optional
	// +nullable
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`
}

// AdditionalCapabilities are optional capabilities of virtual machines.
type AdditionalCapabilities struct {
	// UltraSSDEnabled lets disks of type UltraSSD_LRS be attached; absent, it is as dataDisks need it.
	// +optional
	UltraSSDEnabled *bool `json:"ultraSSDEnabled,omitempty"`
}

// Diagnostics configure how Azure stores the console output of virtual machines.
type Diagnostics struct {
	// Boot is about the console's output.
	// +optional
	// +kubebuilder:default={storageAccountType: Managed}
	Boot *BootDiagnostics `json:"boot,omitempty"`
}

// BootDiagnosticsStorageAccountType is where the console's output is kept.
// +kubebuilder:validation:Enum=Managed;UserManaged;Disabled
type BootDiagnosticsStorageAccountType string

// The places where the console's output is kept: nowhere, in storage of Azure's, or in the user's.
const (
	DisabledDiagnosticsStorage    BootDiagnosticsStorageAccountType = "Disabled"
	ManagedDiagnosticsStorage     BootDiagnosticsStorageAccountType = "Managed"
	UserManagedDiagnosticsStorage BootDiagnosticsStorageAccountType = "UserManaged"
)

// BootDiagnostics is where the console's output is kept.
// +kubebuilder:validation:XValidation:rule="self.storageAccountType != 'UserManaged' || has(self.userManaged)",fieldPath=".userManaged",reason=FieldValueRequired,message="userManaged must be specified when storageAccountType is 'UserManaged'"
// +kubebuilder:validation:XValidation:rule="self.storageAccountType != 'Managed' || !has(self.userManaged)",fieldPath=".userManaged",reason=FieldValueInvalid,message="StorageAccountURI cannot be set when storageAccountType is 'Managed'"
// +kubebuilder:validation:XValidation:rule="self.storageAccountType != 'Disabled' || !has(self.userManaged)",fieldPath=".userManaged",reason=FieldValueInvalid,message="StorageAccountURI cannot be set when storageAccountType is 'Disabled'"
type BootDiagnostics struct {
	// StorageAccountType is Managed, UserManaged or Disabled.
	// +required
	StorageAccountType BootDiagnosticsStorageAccountType `json:"storageAccountType"`

	// UserManaged is the user's storage account.
	// +optional
	UserManaged *UserManagedBootDiagnostics `json:"userManaged,omitempty"`
}

// UserManagedBootDiagnostics names a storage account of the user's.
type UserManagedBootDiagnostics struct {
	// StorageAccountURI is the address of the storage account, for example https://mystorage.blob.core.windows.net/.
	// +required
	// +kubebuilder:validation:Pattern=`^https://`
	// +kubebuilder:validation:MaxLength=1024
	StorageAccountURI string `json:"storageAccountURI"`
}

// VMExtension is an extension of virtual machines.
type VMExtension struct {
	// Name of the extension.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// Publisher of the extension's handler.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Publisher string `json:"publisher"`

	// Version of the extension's handler.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version"`

	// Settings of the extension that hold no secrets.
	// +optional
	Settings map[string]string `json:"settings,omitempty"`

	// ProtectedSettings of the extension, which Azure never shows.
	// +optional
	ProtectedSettings map[string]string `json:"protectedSettings,omitempty"`
}

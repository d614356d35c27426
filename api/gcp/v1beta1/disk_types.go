package v1beta1

// DiskType is the type of a disk, by its name in the cloud.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
type DiskType string

// The disk types that code depends on.
const (
	DiskTypeStandard          DiskType = "pd-standard"
	DiskTypeSSD               DiskType = "pd-ssd"
	DiskTypeBalanced          DiskType = "pd-balanced"
	DiskTypeHyperdiskBalanced DiskType = "hyperdisk-balanced"
	DiskTypeLocalSSD          DiskType = "local-ssd"
)

const (
	// DefaultDiskSize is the size of disks in gigabytes whose size is absent.
	DefaultDiskSize = 30
	// LocalSSDSize is the size in gigabytes of every local SSD.
	LocalSSDSize = 375
)

// AttachedDisk is an additional disk of instances. It is created and deleted with the instance.
// +kubebuilder:validation:XValidation:rule="!has(self.deviceType) || self.deviceType != 'local-ssd' || !has(self.encryptionKey)",fieldPath=".encryptionKey",reason=FieldValueForbidden,message="can't be set when deviceType is local-ssd: Compute Engine encrypts local SSDs with keys of its own"
type AttachedDisk struct {
	// DeviceType is the type of the disk: pd-standard, pd-ssd, pd-balanced, hyperdisk-balanced or another that the machine type supports, or
	// local-ssd for a disk on the host. Absent, it is pd-standard.
	// +optional
	DeviceType *DiskType `json:"deviceType,omitempty"`

	// Size of the disk in gigabytes; absent, it is 30. A local SSD always has 375.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	Size *int64 `json:"size,omitempty"`

	// EncryptionKey is the user's key that the disk is encrypted with; absent, Google keeps the key.
	// +optional
	EncryptionKey *CustomerEncryptionKey `json:"encryptionKey,omitempty"`
}

// KeyType is where an encryption key comes from.
// +kubebuilder:validation:Enum=Managed;Supplied
type KeyType string

// The sources of encryption keys.
const (
	// KeyManaged is a key of Cloud Key Management Service.
	KeyManaged KeyType = "Managed"
	// KeySupplied is a key that the specification itself holds.
	KeySupplied KeyType = "Supplied"
)

// CustomerEncryptionKey is a user's key that a disk is encrypted with.
// +kubebuilder:validation:XValidation:rule="self.keyType != 'Managed' || has(self.managedKey)",fieldPath=".managedKey",reason=FieldValueRequired,message="must be set when keyType is Managed"
// +kubebuilder:validation:XValidation:rule="self.keyType != 'Supplied' || has(self.suppliedKey)",fieldPath=".suppliedKey",reason=FieldValueRequired,message="must be set when keyType is Supplied"
// +kubebuilder:validation:XValidation:rule="!has(self.managedKey) || self.keyType == 'Managed'",fieldPath=".managedKey",reason=FieldValueForbidden,message="can't be set when keyType is Supplied"
// +kubebuilder:validation:XValidation:rule="!has(self.suppliedKey) || self.keyType == 'Supplied'",fieldPath=".suppliedKey",reason=FieldValueForbidden,message="can't be set when keyType is Managed"
type CustomerEncryptionKey struct {
	// KeyType is Managed for a key of Cloud Key Management Service, or Supplied for one that the specification holds.
	// +required
	KeyType KeyType `json:"keyType"`

	// KMSKeyServiceAccount is the service account that uses the key, for example name@project.iam.gserviceaccount.com; absent, it is that of
	// Compute Engine.
	// +optional
	// +kubebuilder:validation:MaxLength=85
	// +kubebuilder:validation:Pattern=`^[-_.A-Za-z0-9]+@[-_.:A-Za-z0-9]+\.gserviceaccount\.com$`
	KMSKeyServiceAccount *string `json:"kmsKeyServiceAccount,omitempty"`

	// ManagedKey names the key of Cloud Key Management Service.
	// +optional
	ManagedKey *ManagedKey `json:"managedKey,omitempty"`

	// SuppliedKey is the key itself.
	// +optional
	SuppliedKey *SuppliedKey `json:"suppliedKey,omitempty"`
}

// ManagedKey names a key of Cloud Key Management Service.
type ManagedKey struct {
	// KMSKeyName is the name of the key: projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^projects/[-_.:A-Za-z0-9]+/locations/[-_A-Za-z0-9]+/keyRings/[-_A-Za-z0-9]+/cryptoKeys/[-_A-Za-z0-9]+(/cryptoKeyVersions/[0-9]+)?$`
	KMSKeyName string `json:"kmsKeyName"`
}

// SuppliedKey is a key that the specification holds, in one of two forms.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type SuppliedKey struct {
	// RawKey is the 256-bit key.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	RawKey []byte `json:"rawKey,omitempty"`

	// RSAEncryptedKey is the 256-bit key, encrypted with the public RSA key that Google publishes for it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RSAEncryptedKey []byte `json:"rsaEncryptedKey,omitempty"`
}

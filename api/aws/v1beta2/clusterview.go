package v1beta2

import "time"

// ClusterView holds the fields that pools read from their infrastructure cluster (AWSCluster, AWSManagedControlPlane). Other controllers
// own these kinds, and Muster never writes them.
type ClusterView struct {
	// Name of the infrastructure cluster object, for messages.
	Name string
	// Region that the cluster is in.
	Region string
	// Partition of the cloud, for example aws-cn; empty means that it follows from the region.
	Partition string
	// VPCID of the cluster's network.
	VPCID string
	// Subnets of the cluster's network, as its status or specification has them.
	Subnets []SubnetView
	// NodeSecurityGroups that every node of the cluster gets, by ID.
	NodeSecurityGroups []string
	// AdditionalTags that every cloud object of the cluster gets.
	AdditionalTags Tags
	// SSHKeyName is the cluster's key pair: a name, the empty string for none, or nil if the field is absent.
	SSHKeyName *string
	// ImageLookupFormat, ImageLookupOrg and ImageLookupBaseOS are the cluster's words on images, for pools that have none.
	ImageLookupFormat, ImageLookupOrg, ImageLookupBaseOS string
	// EKS is true if the control plane is Amazon's own.
	EKS bool
	// EKSClusterName is the control plane's name in EKS; empty while it has none.
	EKSClusterName string
	// ControlPlaneVersion is the Kubernetes version that the control plane runs, or that it is to run if it does not report one, with the
	// leading v and as many parts as the object has. It is empty if unknown.
	ControlPlaneVersion string
	// ControlPlaneReady is true if nodes can join Amazon's own control plane.
	ControlPlaneReady bool
	// Bucket is where data for machines is kept that their user data has no room for; nil where the cluster has none.
	Bucket *BucketView
	// Identity is the identity for API calls on behalf of the cluster; nil means the controller's own credentials. ClusterViewOf does not set
	// it, because only a client that can read the objects behind the cluster's identityRef can.
	Identity *IdentityView
}

// BucketView holds the settings of the cluster's bucket (AWSCluster's spec.s3Bucket).
type BucketView struct {
	// Name of the bucket.
	Name string
	// PresignedURLDuration is the validity of the URLs from which machines download their bootstrap data. If it is zero, they download it with
	// the permissions of their own instance profile.
	PresignedURLDuration time.Duration
	// BestEffortDelete is true if failing to delete an object may be passed over (bestEffortDeleteObjects).
	BestEffortDelete bool
}

// SubnetView holds the fields that are read from one subnet of the cluster.
type SubnetView struct {
	// ID of the subnet in the cloud; empty for one that does not exist yet.
	ID string
	// AvailabilityZone that it lies in, and that zone's type: availability-zone, local-zone, wavelength-zone or empty.
	AvailabilityZone, ZoneType string
	// IsPublic is true if it has a route to an internet gateway.
	IsPublic bool
	// CNI is true if it lies in a secondary address range, for pods rather than machines.
	CNI bool
}

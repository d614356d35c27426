package v1beta2

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

const (
	// managedControlPlaneKind is the infrastructure cluster of clusters whose control plane is Amazon's own.
	managedControlPlaneKind = "AWSManagedControlPlane"

	// subnetIDPrefix begins every ID of a subnet that exists. Without it, an ID is the name of one that is yet to be made.
	subnetIDPrefix = "subnet-"

	// associationTag with the value secondary marks subnets that are for pods.
	associationTag       = "sigs.k8s.io/cluster-api-provider-aws/association"
	associationSecondary = "secondary"
)

// Roles of security groups in the status of an infrastructure cluster.
const (
	roleNode              = "node"
	roleLoadBalancer      = "lb"
	roleEKSNodeAdditional = "node-eks-additional"
)

// clusterFields are the fields of AWSCluster and AWSManagedControlPlane that are read. Both versions of both kinds have
// them at the same paths.
type clusterFields struct {
	Spec struct {
		Region            string        `json:"region,omitempty"`
		Partition         string        `json:"partition,omitempty"`
		SSHKeyName        *string       `json:"sshKeyName,omitempty"`
		AdditionalTags    Tags          `json:"additionalTags,omitempty"`
		ImageLookupFormat string        `json:"imageLookupFormat,omitempty"`
		ImageLookupOrg    string        `json:"imageLookupOrg,omitempty"`
		ImageLookupBaseOS string        `json:"imageLookupBaseOS,omitempty"`
		Network           networkFields `json:"network,omitempty"`
		EKSClusterName    string        `json:"eksClusterName,omitempty"`
		Version           string        `json:"version,omitempty"`
		Bucket            *bucketFields `json:"s3Bucket,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready   bool   `json:"ready,omitempty"`
		Version string `json:"version,omitempty"`
		Network struct {
			SecurityGroups map[string]securityGroupFields `json:"securityGroups,omitempty"`
		} `json:"networkStatus,omitempty"`
	} `json:"status,omitempty"`
}

type networkFields struct {
	VPC struct {
		ID string `json:"id,omitempty"`
	} `json:"vpc,omitempty"`
	Subnets                []subnetFields    `json:"subnets,omitempty"`
	SecurityGroupOverrides map[string]string `json:"securityGroupOverrides,omitempty"`
}

type bucketFields struct {
	Name                 string           `json:"name,omitempty"`
	PresignedURLDuration *metav1.Duration `json:"presignedURLDuration,omitempty"`
	BestEffortDelete     *bool            `json:"bestEffortDeleteObjects,omitempty"`
}

type subnetFields struct {
	ID               string            `json:"id,omitempty"`
	ResourceID       string            `json:"resourceID,omitempty"`
	AvailabilityZone string            `json:"availabilityZone,omitempty"`
	ZoneType         string            `json:"zoneType,omitempty"`
	IsPublic         bool              `json:"isPublic,omitempty"`
	Tags             map[string]string `json:"tags,omitempty"`
}

type securityGroupFields struct {
	ID string `json:"id,omitempty"`
}

// ClusterViewOf reads an AWSCluster or AWSManagedControlPlane of any served version. Fields that are not there yet stay
// empty; it is an error only when one that is read has another type than it should.
func ClusterViewOf(u *unstructured.Unstructured) (ClusterView, error) {
	var fields clusterFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return ClusterView{}, err
	}
	eks := u.GetKind() == managedControlPlaneKind
	view := ClusterView{
		Name:               u.GetName(),
		Region:             fields.Spec.Region,
		Partition:          fields.Spec.Partition,
		VPCID:              fields.Spec.Network.VPC.ID,
		NodeSecurityGroups: nodeSecurityGroups(&fields, eks),
		AdditionalTags:     fields.Spec.AdditionalTags,
		SSHKeyName:         fields.Spec.SSHKeyName,
		ImageLookupFormat:  fields.Spec.ImageLookupFormat,
		ImageLookupOrg:     fields.Spec.ImageLookupOrg,
		ImageLookupBaseOS:  fields.Spec.ImageLookupBaseOS,
		EKS:                eks,
		Bucket:             fields.Spec.Bucket.view(),
	}
	if eks {
		view.EKSClusterName = fields.Spec.EKSClusterName
		view.ControlPlaneVersion = withV(cmp.Or(fields.Status.Version, fields.Spec.Version))
		view.ControlPlaneReady = fields.Status.Ready
	}
	for _, subnet := range fields.Spec.Network.Subnets {
		view.Subnets = append(view.Subnets, subnet.view())
	}
	return view, nil
}

// view is nil for a cluster without a bucket, and for one whose bucket has no name.
func (b *bucketFields) view() *BucketView {
	if b == nil || b.Name == "" {
		return nil
	}
	view := &BucketView{Name: b.Name, BestEffortDelete: b.BestEffortDelete != nil && *b.BestEffortDelete}
	if b.PresignedURLDuration != nil {
		view.PresignedURLDuration = b.PresignedURLDuration.Duration
	}
	return view
}

// withV returns a version with the leading v that Kubernetes writes and EKS does not.
func withV(version string) string {
	if version == "" || version[0] == 'v' {
		return version
	}
	return "v" + version
}

func (s subnetFields) view() SubnetView {
	id := s.ResourceID
	if id == "" && strings.HasPrefix(s.ID, subnetIDPrefix) {
		id = s.ID
	}
	return SubnetView{
		ID:               id,
		AvailabilityZone: s.AvailabilityZone,
		ZoneType:         s.ZoneType,
		IsPublic:         s.IsPublic,
		CNI:              s.Tags[associationTag] == associationSecondary,
	}
}

// nodeSecurityGroups returns the groups that every node of the cluster gets: its own, and with a control plane on machines
// the one that load balancers open, with Amazon's the additional one. A group that is not there is left out: clusters that
// are managed elsewhere may have just one.
func nodeSecurityGroups(fields *clusterFields, eks bool) []string {
	roles := []string{roleNode, roleLoadBalancer}
	if eks {
		roles = []string{roleNode, roleEKSNodeAdditional}
	}
	var ids []string
	for _, role := range roles {
		id := fields.Status.Network.SecurityGroups[role].ID
		if id == "" {
			id = fields.Spec.Network.SecurityGroupOverrides[role]
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

package launch

import (
	"slices"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// found holds the look-ups for a launch template.
type found struct {
	// image is zero where the machines' own service supplies it.
	image image
	// groups are the security groups that every instance gets beside the cluster's; interfaces those of each network interface
	// that has groups of its own.
	groups     []string
	interfaces map[int][]string
}

// launchData translates the pool's launch template into what EC2 is sent, user data aside. Everything that the
// specification can say is sent; nothing is filled in that it does not say.
func launchData(s Source, f found) (*ec2types.RequestLaunchTemplateData, error) {
	spec := s.Spec
	data := &ec2types.RequestLaunchTemplateData{
		InstanceType:                     ec2types.InstanceType(spec.InstanceType),
		KeyName:                          keyName(spec, s.Cluster),
		IamInstanceProfile:               instanceProfile(spec.IamInstanceProfile),
		MetadataOptions:                  metadataOptions(spec.InstanceMetadataOptions),
		PrivateDnsNameOptions:            privateDNS(spec.PrivateDNSName),
		Placement:                        placement(spec.Placement),
		CapacityReservationSpecification: capacityReservation(spec),
		TagSpecifications:                templateTags(s.Tags),
	}
	if f.image.id != "" {
		data.ImageId = &f.image.id
	}
	if e := spec.EnclaveOptions; e != nil && e.Enabled != nil && *e.Enabled {
		data.EnclaveOptions = &ec2types.LaunchTemplateEnclaveOptionsRequest{Enabled: e.Enabled}
	}
	groups := s.groups(f.groups)
	if data.NetworkInterfaces = interfaces(spec.NetworkInterfaces, groups, f.interfaces); data.NetworkInterfaces == nil {
		data.SecurityGroupIds = groups
	}
	var err error
	if data.InstanceMarketOptions, err = marketOptions(spec); err != nil {
		return nil, err
	}
	if data.BlockDeviceMappings, err = s.volumes(f.image); err != nil {
		return nil, err
	}
	if s.Managed {
		return data, notManaged(data)
	}
	return data, nil
}

// groups are the security groups of the instances: the cluster's and the pool's, each once and in one order, for the order of a
// list that means a set must make no new template. A node group of EKS gets the cluster's by itself as long as its template names
// none at all; a template with network interfaces has to name them.
func (s Source) groups(own []string) []string {
	if s.Managed && len(own) == 0 && len(s.Spec.NetworkInterfaces) == 0 {
		return nil
	}
	return session.Unique(slices.Concat(s.Cluster.NodeSecurityGroups, own))
}

// notManaged refuses what EKS refuses in the template of a node group.
func notManaged(data *ec2types.RequestLaunchTemplateData) error {
	if data.IamInstanceProfile != nil {
		return cloud.Invalidf(fieldProfile, "EKS gives the instances of a node group their profile itself, by the node group's role: set the "+
			"role instead")
	}
	if m := data.InstanceMarketOptions; m != nil && m.MarketType == ec2types.MarketTypeSpot {
		return cloud.Invalidf(Field+".marketType",
			"EKS takes no spot options in the template of a node group: set spec.capacityType to spot instead")
	}
	return nil
}

// keyName is the pool's key pair, none when it is the empty word, and the cluster's when the pool says nothing.
func keyName(spec *awsv1.AWSLaunchTemplate, cluster awsv1.ClusterView) *string {
	name := spec.SSHKeyName
	if name == nil {
		name = cluster.SSHKeyName
	}
	if name == nil || *name == "" {
		return nil
	}
	return name
}

func instanceProfile(name string) *ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest {
	switch {
	case name == "":
		return nil
	case strings.HasPrefix(name, "arn:"):
		return &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Arn: &name}
	default:
		return &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: &name}
	}
}

func metadataOptions(o *awsv1.InstanceMetadataOptions) *ec2types.LaunchTemplateInstanceMetadataOptionsRequest {
	if o == nil || *o == (awsv1.InstanceMetadataOptions{}) {
		return nil
	}
	sent := &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
		HttpEndpoint:         ec2types.LaunchTemplateInstanceMetadataEndpointState(o.HTTPEndpoint),
		HttpProtocolIpv6:     ec2types.LaunchTemplateInstanceMetadataProtocolIpv6(o.HTTPProtocolIPv6),
		HttpTokens:           ec2types.LaunchTemplateHttpTokensState(o.HTTPTokens),
		InstanceMetadataTags: ec2types.LaunchTemplateInstanceMetadataTagsState(o.InstanceMetadataTags),
	}
	if o.HTTPPutResponseHopLimit != 0 {
		sent.HttpPutResponseHopLimit = new(int32(o.HTTPPutResponseHopLimit))
	}
	return sent
}

func privateDNS(o *awsv1.PrivateDNSName) *ec2types.LaunchTemplatePrivateDnsNameOptionsRequest {
	if o == nil || *o == (awsv1.PrivateDNSName{}) {
		return nil
	}
	sent := &ec2types.LaunchTemplatePrivateDnsNameOptionsRequest{
		EnableResourceNameDnsAAAARecord: o.EnableResourceNameDNSAAAARecord,
		EnableResourceNameDnsARecord:    o.EnableResourceNameDNSARecord,
	}
	if o.HostnameType != nil {
		sent.HostnameType = ec2types.HostnameType(*o.HostnameType)
	}
	return sent
}

// marketOptions says how the machines are paid for. Without a market type it follows from the spot options.
func marketOptions(spec *awsv1.AWSLaunchTemplate) (*ec2types.LaunchTemplateInstanceMarketOptionsRequest, error) {
	market := spec.MarketType
	if market == "" && spec.SpotMarketOptions != nil {
		market = awsv1.MarketTypeSpot
	}
	switch market {
	case "", awsv1.MarketTypeOnDemand:
		return nil, nil
	case awsv1.MarketTypeSpot:
		sent := &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeSpot}
		if o := spec.SpotMarketOptions; o != nil && o.MaxPrice != nil && *o.MaxPrice != "" {
			sent.SpotOptions = &ec2types.LaunchTemplateSpotMarketOptionsRequest{MaxPrice: o.MaxPrice}
		}
		return sent, nil
	case awsv1.MarketTypeCapacityBlock:
		if spec.CapacityReservationID == nil {
			return nil, cloud.Invalidf(fieldReservation, "marketType CapacityBlock needs the ID of the capacity block's reservation")
		}
		return &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeCapacityBlock}, nil
	default:
		return nil, cloud.Invalidf(Field+".marketType", "no market type %q; use OnDemand, Spot or CapacityBlock", market)
	}
}

// reservationPreferences are the cloud's words for the API's.
var reservationPreferences = map[awsv1.CapacityReservationPreference]ec2types.CapacityReservationPreference{
	awsv1.CapacityReservationPreferenceNone: ec2types.CapacityReservationPreferenceNone,
	awsv1.CapacityReservationPreferenceOnly: ec2types.CapacityReservationPreferenceCapacityReservationsOnly,
	awsv1.CapacityReservationPreferenceOpen: ec2types.CapacityReservationPreferenceOpen,
}

func capacityReservation(spec *awsv1.AWSLaunchTemplate) *ec2types.LaunchTemplateCapacityReservationSpecificationRequest {
	if spec.CapacityReservationID == nil && spec.CapacityReservationPreference == "" {
		return nil
	}
	sent := &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
		CapacityReservationPreference: reservationPreferences[spec.CapacityReservationPreference],
	}
	if spec.CapacityReservationID != nil {
		sent.CapacityReservationTarget = &ec2types.CapacityReservationTarget{CapacityReservationId: spec.CapacityReservationID}
	}
	return sent
}

// rootDevice is the name of the root volume: the pool's, or the image's own.
func (s Source) rootDevice(image image) string {
	if root := s.Spec.RootVolume; root != nil && root.DeviceName != "" {
		return root.DeviceName
	}
	if s.Managed && image.id == "" {
		if strings.HasPrefix(s.Images, windows) {
			return windowsRootDevice
		}
		return DefaultRootDevice
	}
	return image.rootDevice
}

// volumes are the root volume, under the image's own device name unless the pool names one, and the others.
func (s Source) volumes(image image) ([]ec2types.LaunchTemplateBlockDeviceMappingRequest, error) {
	var list []ec2types.LaunchTemplateBlockDeviceMappingRequest
	if root := s.Spec.RootVolume; root != nil {
		device := s.rootDevice(image)
		if device == "" {
			return nil, cloud.Invalidf(fieldRoot+".deviceName", "image %s does not name its root device: name it here", image.id)
		}
		if root.Size < image.rootSize {
			return nil, cloud.Invalidf(fieldRoot+".size", "image %s needs a root volume of %d GiB at least, not %d", image.id, image.rootSize,
				root.Size)
		}
		list = append(list, volume(device, *root))
	}
	for _, v := range s.Spec.NonRootVolumes {
		list = append(list, volume(v.DeviceName, v))
	}
	return list, nil
}

// deletedWithInstance is the default of what belongs to an instance: it is deleted with it unless the user wants it kept.
const deletedWithInstance = true

func volume(device string, v awsv1.Volume) ec2types.LaunchTemplateBlockDeviceMappingRequest {
	sent := &ec2types.LaunchTemplateEbsBlockDeviceRequest{
		DeleteOnTermination:      new(ptr.Deref(v.DeleteOnTermination, deletedWithInstance)),
		VolumeSize:               new(int32(v.Size)),
		VolumeType:               ec2types.VolumeType(v.Type),
		Encrypted:                v.Encrypted,
		SnapshotId:               v.SnapshotID,
		VolumeInitializationRate: v.VolumeInitializationRate,
	}
	if v.IOPS != 0 {
		sent.Iops = new(int32(v.IOPS))
	}
	if v.Throughput != nil {
		sent.Throughput = new(int32(*v.Throughput))
	}
	if v.EncryptionKey != "" {
		sent.Encrypted, sent.KmsKeyId = new(true), &v.EncryptionKey
	}
	return ec2types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: &device, Ebs: sent}
}

// templateTags put the pool's tags on instances and their volumes.
func templateTags(all map[string]string) []ec2types.LaunchTemplateTagSpecificationRequest {
	tags := session.EC2Tags(all)
	return []ec2types.LaunchTemplateTagSpecificationRequest{
		{ResourceType: ec2types.ResourceTypeInstance, Tags: tags},
		{ResourceType: ec2types.ResourceTypeVolume, Tags: tags},
	}
}

package ec2

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// checkIDs refuses what cannot be an ID at all.
func checkIDs(d *ec2.RequestLaunchTemplateData) error {
	if id := shapes.Str(d.ImageId); id != "" && !strings.HasPrefix(id, "ami-") && !strings.HasPrefix(id, "resolve:ssm:") {
		return wire.Refuse("InvalidAMIID.Malformed", `Invalid id: "%s" (expecting "ami-...")`, id)
	}
	for _, id := range d.SecurityGroupIds {
		if !strings.HasPrefix(id, "sg-") {
			return wire.Refuse("InvalidGroupId.Malformed", `Invalid id: "%s" (expecting "sg-...")`, id)
		}
	}
	return nil
}

// ebsTypes are the kinds of volume.
var ebsTypes = []string{"standard", "io1", "io2", "gp2", "gp3", "st1", "sc1"}

func checkDevices(d *ec2.RequestLaunchTemplateData) error {
	for _, device := range d.BlockDeviceMappings {
		if err := checkVolume(shapes.Val(device.Ebs)); err != nil {
			return err
		}
		if err := checkSnapshot(shapes.Val(device.Ebs)); err != nil {
			return err
		}
	}
	return nil
}

func checkVolume(v ec2.LaunchTemplateEbsBlockDeviceRequest) error {
	kind := v.VolumeType
	if err := checkVolumeSize(v); err != nil {
		return err
	}
	provisioned := kind == "io1" || kind == "io2"
	switch {
	case kind != "" && !slices.Contains(ebsTypes, kind):
		return wire.Refuse("InvalidParameterValue", "Value (%s) for parameter volumeType is invalid. Allowed values are %s.", kind,
			strings.Join(ebsTypes, ", "))
	case provisioned && v.Iops == nil:
		return wire.Refuse("MissingParameter", "The parameter iops must be specified for %s volumes.", kind)
	case v.Iops != nil && !provisioned && kind != "gp3":
		return wire.Refuse("InvalidParameterCombination", "The parameter iops is not supported for %s volumes.", kind)
	case v.Throughput != nil && kind != "gp3":
		return wire.Refuse("InvalidParameterCombination", "The parameter throughput is not supported for %s volumes.", kind)
	}
	return nil
}

// volumeSizes are the smallest and the largest size of a volume of a kind, in GiB.
var volumeSizes = map[string][2]int32{
	"standard": {1, 1024}, "io1": {4, 16384}, "io2": {4, 65536}, "gp2": {1, 16384}, "gp3": {1, 65536}, "st1": {125, 16384},
	"sc1": {125, 16384},
}

// checkVolumeSize refuses a size that no volume of its kind has.
func checkVolumeSize(v ec2.LaunchTemplateEbsBlockDeviceRequest) error {
	kind := cmp.Or(v.VolumeType, "gp2")
	bounds, known := volumeSizes[kind]
	switch {
	case v.VolumeSize == nil || !known:
		return nil
	case *v.VolumeSize < bounds[0]:
		return wire.Refuse("InvalidParameterValue", "Volume of %dGiB is too small for volume type %s; minimum is %dGiB.", *v.VolumeSize, kind,
			bounds[0])
	case *v.VolumeSize > bounds[1]:
		return wire.Refuse("InvalidParameterValue", "Volume of %dGiB is too large for volume type %s; maximum is %dGiB.", *v.VolumeSize, kind,
			bounds[1])
	}
	return nil
}

func checkUserData(encoded string) error {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return wire.Refuse("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	}
	if len(raw) > maxUserData {
		return wire.Refuse("InvalidParameterValue", "User data is limited to %d bytes", maxUserData)
	}
	return nil
}

// Words that a template may say; the empty one leaves it to EC2.
var (
	tenancies      = []string{"", "default", "dedicated", "host"}
	affinities     = []string{"", "default", "host"}
	interfaceKinds = []string{"", "interface", "efa", "efa-only"}
	markets        = []string{"", "spot", "capacity-block"}
	preferences    = []string{"", "none", "open", "capacity-reservations-only"}
	switches       = []string{"", "enabled", "disabled"}
	tokenStates    = []string{"", "optional", "required"}
	hostnames      = []string{"", "ip-name", "resource-name"}
)

const (
	// maxHops bounds how far a metadata token may travel, minInitialization and maxInitialization how fast a snapshot is fetched.
	maxHops                              = 64
	minInitialization, maxInitialization = 100, 300
)

// checkEnumerations refuses words that are of no enumeration.
func checkEnumerations(d *ec2.RequestLaunchTemplateData) error {
	p, m, o := shapes.Val(d.Placement), shapes.Val(d.InstanceMarketOptions), shapes.Val(d.MetadataOptions)
	for _, w := range []struct {
		parameter, said string
		known           []string
	}{
		{"tenancy", p.Tenancy, tenancies},
		{"affinity", shapes.Str(p.Affinity), affinities},
		{"marketType", m.MarketType, markets},
		{"capacityReservationPreference", shapes.Val(d.CapacityReservationSpecification).CapacityReservationPreference, preferences},
		{"httpEndpoint", o.HttpEndpoint, switches},
		{"httpProtocolIpv6", o.HttpProtocolIpv6, switches},
		{"instanceMetadataTags", o.InstanceMetadataTags, switches},
		{"httpTokens", o.HttpTokens, tokenStates},
		{"hostnameType", shapes.Val(d.PrivateDnsNameOptions).HostnameType, hostnames},
	} {
		if !slices.Contains(w.known, w.said) {
			return badWord(w.parameter, w.said, w.known)
		}
	}
	if hops := o.HttpPutResponseHopLimit; hops != nil && (*hops < 1 || *hops > maxHops) {
		return wire.Refuse("InvalidParameterValue", "Value (%d) for parameter httpPutResponseHopLimit is invalid. It must be between 1 and %d.",
			*hops, maxHops)
	}
	return nil
}

func badWord(parameter, said string, known []string) error {
	return wire.Refuse("InvalidParameterValue", "Value (%s) for parameter %s is invalid. Allowed values are %s.", said, parameter,
		strings.Join(known[1:], ", "))
}

// checkPlacement refuses what says two things about where instances run.
func checkPlacement(d *ec2.RequestLaunchTemplateData) error {
	p := shapes.Val(d.Placement)
	switch groups := count(p.GroupName, p.GroupId); {
	case groups > 1:
		return wire.Refuse("InvalidParameterCombination", "You cannot specify both GroupName and GroupId in the request.")
	case p.PartitionNumber != nil && groups == 0:
		return wire.Refuse("InvalidParameterCombination", "A partition number requires a placement group.")
	}
	return checkHost(d, p)
}

// count returns the number of texts that are not empty.
func count(texts ...*string) int {
	n := 0
	for _, t := range texts {
		if shapes.Str(t) != "" {
			n++
		}
	}
	return n
}

// checkHost refuses hosts for instances that run on none.
func checkHost(d *ec2.RequestLaunchTemplateData, p ec2.LaunchTemplatePlacementRequest) error {
	switch {
	case shapes.Str(p.HostId) != "" && shapes.Str(p.HostResourceGroupArn) != "":
		return wire.Refuse("InvalidParameterCombination", "You cannot specify both a host and a host resource group.")
	case shapes.Str(p.HostId) != "" && p.Tenancy != "host", shapes.Str(p.Affinity) != "" && p.Tenancy != "host":
		return wire.Refuse("InvalidParameterCombination", "A host and its affinity can be specified with the tenancy host only.")
	case p.Tenancy == "host" && shapes.Val(d.InstanceMarketOptions).MarketType == "spot":
		return wire.Refuse("InvalidParameterCombination", "Spot Instances do not support the tenancy host.")
	}
	return nil
}

// checkMarket refuses reservations and markets that don't go together.
func checkMarket(d *ec2.RequestLaunchTemplateData) error {
	m, c := shapes.Val(d.InstanceMarketOptions), shapes.Val(d.CapacityReservationSpecification)
	target := c.CapacityReservationTarget != nil
	switch {
	case m.SpotOptions != nil && m.MarketType != "spot":
		return wire.Refuse("InvalidParameterCombination", "Spot options can be specified with the market type spot only.")
	case m.MarketType == "capacity-block" && !target:
		return wire.Refuse("InvalidParameterCombination", "The market type capacity-block requires the target of a Capacity Reservation.")
	case target && (c.CapacityReservationPreference == "none" || c.CapacityReservationPreference == "open"):
		return wire.Refuse("InvalidParameterCombination", "You cannot specify a Capacity Reservation target with the preference %s.",
			c.CapacityReservationPreference)
	}
	return nil
}

// checkInterfaces refuses network interfaces that no instance can have.
func checkInterfaces(d *ec2.RequestLaunchTemplateData) error {
	type place struct{ card, device int32 }
	taken := map[place]bool{}
	for _, n := range d.NetworkInterfaces {
		at := place{shapes.Val(n.NetworkCardIndex), shapes.Val(n.DeviceIndex)}
		if taken[at] {
			return wire.Refuse("InvalidParameterCombination", "Each network interface requires a unique device index.")
		}
		taken[at] = true
		if shapes.Val(n.AssociatePublicIpAddress) && len(d.NetworkInterfaces) > 1 {
			return wire.Refuse("InvalidParameterCombination",
				"The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.")
		}
		if err := checkInterface(n); err != nil {
			return err
		}
	}
	if len(d.NetworkInterfaces) > 0 && !taken[place{}] {
		return wire.Refuse("InvalidParameterCombination", "A network interface with device index 0 on network card 0 is required.")
	}
	return nil
}

// checkInterface refuses what no network interface can have.
func checkInterface(n ec2.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest) error {
	addresses := n.AssociatePublicIpAddress != nil || n.Ipv6AddressCount != nil || n.Ipv4PrefixCount != nil
	switch {
	case !slices.Contains(interfaceKinds, shapes.Str(n.InterfaceType)):
		return badWord("interfaceType", shapes.Str(n.InterfaceType), interfaceKinds)
	case n.SecondaryPrivateIpAddressCount != nil && n.Ipv4PrefixCount != nil, n.Ipv6AddressCount != nil && n.Ipv6PrefixCount != nil:
		return wire.Refuse("InvalidParameterCombination", "You cannot specify both addresses and prefixes of one kind for a network interface.")
	case shapes.Str(n.InterfaceType) == "efa-only" && addresses:
		return wire.Refuse("InvalidParameterCombination", "Network interfaces of the type efa-only have no addresses.")
	}
	return nil
}

// checkSnapshot refuses a rate for what is not fetched.
func checkSnapshot(v ec2.LaunchTemplateEbsBlockDeviceRequest) error {
	rate := v.VolumeInitializationRate
	switch {
	case shapes.Str(v.SnapshotId) != "" && !strings.HasPrefix(*v.SnapshotId, "snap-"):
		return wire.Refuse("InvalidSnapshotID.Malformed", `Invalid id: "%s" (expecting "snap-...")`, *v.SnapshotId)
	case rate != nil && shapes.Str(v.SnapshotId) == "":
		return wire.Refuse("InvalidParameterCombination", "The parameter volumeInitializationRate requires a snapshot.")
	case rate != nil && (*rate < minInitialization || *rate > maxInitialization):
		return wire.Refuse("InvalidParameterValue", "Value (%d) for parameter volumeInitializationRate is invalid. It must be between %d and %d.",
			*rate, minInitialization, maxInitialization)
	}
	return nil
}

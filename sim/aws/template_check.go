package aws

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

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
	p, m, o := val(d.Placement), val(d.InstanceMarketOptions), val(d.MetadataOptions)
	for _, w := range []struct {
		parameter, said string
		known           []string
	}{
		{"tenancy", p.Tenancy, tenancies},
		{"affinity", str(p.Affinity), affinities},
		{"marketType", m.MarketType, markets},
		{"capacityReservationPreference", val(d.CapacityReservationSpecification).CapacityReservationPreference, preferences},
		{"httpEndpoint", o.HttpEndpoint, switches},
		{"httpProtocolIpv6", o.HttpProtocolIpv6, switches},
		{"instanceMetadataTags", o.InstanceMetadataTags, switches},
		{"httpTokens", o.HttpTokens, tokenStates},
		{"hostnameType", val(d.PrivateDnsNameOptions).HostnameType, hostnames},
	} {
		if !slices.Contains(w.known, w.said) {
			return badWord(w.parameter, w.said, w.known)
		}
	}
	if hops := o.HttpPutResponseHopLimit; hops != nil && (*hops < 1 || *hops > maxHops) {
		return refuse("InvalidParameterValue", "Value (%d) for parameter httpPutResponseHopLimit is invalid. It must be between 1 and %d.", *hops, maxHops)
	}
	return nil
}

func badWord(parameter, said string, known []string) error {
	return refuse("InvalidParameterValue", "Value (%s) for parameter %s is invalid. Allowed values are %s.", said, parameter, strings.Join(known[1:], ", "))
}

// checkPlacement refuses what says two things about where instances run.
func checkPlacement(d *ec2.RequestLaunchTemplateData) error {
	p := val(d.Placement)
	switch groups := count(p.GroupName, p.GroupId); {
	case groups > 1:
		return refuse("InvalidParameterCombination", "You cannot specify both GroupName and GroupId in the request.")
	case p.PartitionNumber != nil && groups == 0:
		return refuse("InvalidParameterCombination", "A partition number requires a placement group.")
	}
	return checkHost(d, p)
}

// count is how many of the texts are given.
func count(texts ...*string) int {
	n := 0
	for _, t := range texts {
		if str(t) != "" {
			n++
		}
	}
	return n
}

// checkHost refuses hosts for instances that run on none.
func checkHost(d *ec2.RequestLaunchTemplateData, p ec2.LaunchTemplatePlacementRequest) error {
	switch {
	case str(p.HostId) != "" && str(p.HostResourceGroupArn) != "":
		return refuse("InvalidParameterCombination", "You cannot specify both a host and a host resource group.")
	case str(p.HostId) != "" && p.Tenancy != "host", str(p.Affinity) != "" && p.Tenancy != "host":
		return refuse("InvalidParameterCombination", "A host and its affinity can be specified with the tenancy host only.")
	case p.Tenancy == "host" && val(d.InstanceMarketOptions).MarketType == "spot":
		return refuse("InvalidParameterCombination", "Spot Instances do not support the tenancy host.")
	}
	return nil
}

// checkMarket refuses reservations and markets that don't go together.
func checkMarket(d *ec2.RequestLaunchTemplateData) error {
	m, c := val(d.InstanceMarketOptions), val(d.CapacityReservationSpecification)
	target := c.CapacityReservationTarget != nil
	switch {
	case m.SpotOptions != nil && m.MarketType != "spot":
		return refuse("InvalidParameterCombination", "Spot options can be specified with the market type spot only.")
	case m.MarketType == "capacity-block" && !target:
		return refuse("InvalidParameterCombination", "The market type capacity-block requires the target of a Capacity Reservation.")
	case target && (c.CapacityReservationPreference == "none" || c.CapacityReservationPreference == "open"):
		return refuse("InvalidParameterCombination", "You cannot specify a Capacity Reservation target with the preference %s.", c.CapacityReservationPreference)
	}
	return nil
}

// checkInterfaces refuses network interfaces that no instance can have.
func checkInterfaces(d *ec2.RequestLaunchTemplateData) error {
	type place struct{ card, device int32 }
	taken := map[place]bool{}
	for _, n := range d.NetworkInterfaces {
		at := place{val(n.NetworkCardIndex), val(n.DeviceIndex)}
		if taken[at] {
			return refuse("InvalidParameterCombination", "Each network interface requires a unique device index.")
		}
		taken[at] = true
		if val(n.AssociatePublicIpAddress) && len(d.NetworkInterfaces) > 1 {
			return refuse("InvalidParameterCombination", "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.")
		}
		if err := checkInterface(n); err != nil {
			return err
		}
	}
	if len(d.NetworkInterfaces) > 0 && !taken[place{}] {
		return refuse("InvalidParameterCombination", "A network interface with device index 0 on network card 0 is required.")
	}
	return nil
}

// checkInterface refuses what no network interface can have.
func checkInterface(n ec2.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest) error {
	addresses := n.AssociatePublicIpAddress != nil || n.Ipv6AddressCount != nil || n.Ipv4PrefixCount != nil
	switch {
	case !slices.Contains(interfaceKinds, str(n.InterfaceType)):
		return badWord("interfaceType", str(n.InterfaceType), interfaceKinds)
	case n.SecondaryPrivateIpAddressCount != nil && n.Ipv4PrefixCount != nil, n.Ipv6AddressCount != nil && n.Ipv6PrefixCount != nil:
		return refuse("InvalidParameterCombination", "You cannot specify both addresses and prefixes of one kind for a network interface.")
	case str(n.InterfaceType) == "efa-only" && addresses:
		return refuse("InvalidParameterCombination", "Network interfaces of the type efa-only have no addresses.")
	}
	return nil
}

// checkSnapshot refuses a rate for what is not fetched.
func checkSnapshot(v ec2.LaunchTemplateEbsBlockDeviceRequest) error {
	rate := v.VolumeInitializationRate
	switch {
	case str(v.SnapshotId) != "" && !strings.HasPrefix(*v.SnapshotId, "snap-"):
		return refuse("InvalidSnapshotID.Malformed", `Invalid id: "%s" (expecting "snap-...")`, *v.SnapshotId)
	case rate != nil && str(v.SnapshotId) == "":
		return refuse("InvalidParameterCombination", "The parameter volumeInitializationRate requires a snapshot.")
	case rate != nil && (*rate < minInitialization || *rate > maxInitialization):
		return refuse("InvalidParameterValue", "Value (%d) for parameter volumeInitializationRate is invalid. It must be between %d and %d.", *rate, minInitialization, maxInitialization)
	}
	return nil
}

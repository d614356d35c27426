package instancepool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
)

const (
	fieldPlacement      = "spec.placementDetails"
	fieldConfiguration  = "spec.instanceConfiguration"
	fieldFailureDomains = "MachinePool spec.failureDomains"
	faultDomainPrefix   = "FAULT-DOMAIN-"
)

// place is an availability domain in which the pool places instances.
type place struct {
	domain, subnet string
	// faultDomains are those of the domain that are used; none leaves them to OCI.
	faultDomains []string
}

// places returns the desired placement: the domains of the specification, those of the MachinePool, or all of the cluster.
func (t target) places() ([]place, error) {
	subnet, err := t.source().Subnet()
	if err != nil {
		return nil, err
	}
	domains := t.cluster.AvailabilityDomains
	switch {
	case len(domains) == 0:
		return nil, cloud.Invalidf(fieldPlacement, "infrastructure cluster %s names no availability domain of its region yet", t.cluster.Name)
	case len(t.spec.PlacementDetails) > 0:
		domains, err = t.numbered(domains)
	case len(t.FailureDomains) > 0:
		domains, err = t.preferred(domains)
	}
	if err != nil {
		return nil, err
	}
	var out []place
	for _, d := range domains {
		out = append(out, place{domain: d.Name, subnet: subnet, faultDomains: d.FaultDomains})
	}
	return out, nil
}

// numbered returns the domains whose names end with the numbers of the specification.
func (t target) numbered(all []ociv1.AvailabilityDomain) (out []ociv1.AvailabilityDomain, err error) {
	for k, details := range t.spec.PlacementDetails {
		found := slices.IndexFunc(all, func(d ociv1.AvailabilityDomain) bool { return numberOf(d.Name) == details.AvailabilityDomain })
		if found < 0 {
			return nil, cloud.Invalidf(fmt.Sprintf("%s[%d].availabilityDomain", fieldPlacement, k),
				"the region has no availability domain whose name ends with %d: found %s", details.AvailabilityDomain, domainNames(all))
		}
		out = append(out, all[found])
	}
	return out, nil
}

// preferred returns the domains of the MachinePool: an entry is the name or the number of an availability domain, or that of a fault domain
// where the region has one availability domain.
func (t target) preferred(all []ociv1.AvailabilityDomain) (out []ociv1.AvailabilityDomain, err error) {
	var faultDomains []string
	for _, entry := range t.FailureDomains {
		number, _ := strconv.Atoi(entry) // zero for a name, which no domain has as its number
		found := slices.IndexFunc(all, func(d ociv1.AvailabilityDomain) bool {
			return d.Name == entry || len(all) > 1 && number > 0 && numberOf(d.Name) == number
		})
		switch fault := faultDomainPrefix + strings.TrimPrefix(entry, faultDomainPrefix); {
		case found >= 0:
			out = append(out, all[found])
		case len(all) == 1 && slices.Contains(all[0].FaultDomains, fault):
			faultDomains = append(faultDomains, fault)
		default:
			return nil, cloud.Invalidf(fieldFailureDomains, "found %q, which is neither the name nor the number of an availability domain of the "+
				"region: found %s", entry, domainNames(all))
		}
	}
	if len(out) == 0 {
		only := all[0]
		only.FaultDomains = faultDomains
		out = append(out, only)
	}
	return out, nil
}

// numberOf returns the number at the end of the name of an availability domain; zero if there is none.
func numberOf(name string) int {
	number, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return 0
	}
	return number
}

func domainNames(all []ociv1.AvailabilityDomain) string {
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// subnetOf returns the subnet of a placement, in whichever of its two members that is.
func subnetOf(is core.InstancePoolPlacementConfiguration) string {
	if is.PrimaryVnicSubnets != nil {
		return value(is.PrimaryVnicSubnets.SubnetId)
	}
	return value(is.PrimarySubnetId)
}

// samePlaces reports whether the pool places instances as is desired. Other members of its placement are another tool's.
func samePlaces(want []place, is []core.InstancePoolPlacementConfiguration) bool {
	if len(want) != len(is) {
		return false
	}
	for _, p := range want {
		found := slices.IndexFunc(is, func(c core.InstancePoolPlacementConfiguration) bool { return value(c.AvailabilityDomain) == p.domain })
		if found < 0 || subnetOf(is[found]) != p.subnet || !sameSet(p.faultDomains, is[found].FaultDomains) {
			return false
		}
	}
	return true
}

func sameSet(want, is []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(is)))
}

// updated returns the placement of a request that changes the pool: the desired one, with what another tool has added to the domains.
func updated(want []place, is []core.InstancePoolPlacementConfiguration) []core.UpdateInstancePoolPlacementConfigurationDetails {
	var out []core.UpdateInstancePoolPlacementConfigurationDetails
	for _, p := range want {
		next := core.UpdateInstancePoolPlacementConfigurationDetails{AvailabilityDomain: new(p.domain), FaultDomains: p.faultDomains,
			PrimaryVnicSubnets: &core.InstancePoolPlacementPrimarySubnet{SubnetId: new(p.subnet)}}
		for _, c := range is {
			if value(c.AvailabilityDomain) != p.domain {
				continue
			}
			next.SecondaryVnicSubnets = c.SecondaryVnicSubnets
			if subnetOf(c) == p.subnet {
				next.PrimaryVnicSubnets, next.PrimarySubnetId = c.PrimaryVnicSubnets, c.PrimarySubnetId
			}
		}
		out = append(out, next)
	}
	return out
}

// kept returns the placement of a request that leaves it as it is.
func kept(is []core.InstancePoolPlacementConfiguration) []core.UpdateInstancePoolPlacementConfigurationDetails {
	var out []core.UpdateInstancePoolPlacementConfigurationDetails
	for _, c := range is {
		out = append(out, core.UpdateInstancePoolPlacementConfigurationDetails{AvailabilityDomain: c.AvailabilityDomain,
			FaultDomains: c.FaultDomains, PrimarySubnetId: c.PrimarySubnetId, PrimaryVnicSubnets: c.PrimaryVnicSubnets,
			SecondaryVnicSubnets: c.SecondaryVnicSubnets})
	}
	return out
}

// created returns the placement of a request that creates the pool.
func created(want []place) []core.CreateInstancePoolPlacementConfigurationDetails {
	var out []core.CreateInstancePoolPlacementConfigurationDetails
	for _, p := range want {
		out = append(out, core.CreateInstancePoolPlacementConfigurationDetails{AvailabilityDomain: new(p.domain), FaultDomains: p.faultDomains,
			PrimaryVnicSubnets: &core.InstancePoolPlacementPrimarySubnet{SubnetId: new(p.subnet)}})
	}
	return out
}

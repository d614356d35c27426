package instancepool

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
)

func placed(domains int, details []int, preferred ...string) target {
	t := target{spec: &ociv1.OCIMachinePoolSpec{}, cluster: ociv1.ClusterView{Name: "c",
		Subnets: []ociv1.NetworkPart{{Name: "worker", Role: ociv1.RoleWorker, ID: "subnet"}}}}
	for _, name := range []string{"Uocm:PHX-AD-1", "Uocm:PHX-AD-2", "Uocm:PHX-AD-3"}[:domains] {
		t.cluster.AvailabilityDomains = append(t.cluster.AvailabilityDomains, ociv1.AvailabilityDomain{Name: name,
			FaultDomains: []string{"FAULT-DOMAIN-1", "FAULT-DOMAIN-2", "FAULT-DOMAIN-3"}})
	}
	for _, number := range details {
		t.spec.PlacementDetails = append(t.spec.PlacementDetails, ociv1.PlacementDetails{AvailabilityDomain: number})
	}
	t.FailureDomains = preferred
	return t
}

// TestPlaces holds where a pool places instances.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		t      target
		want   string
		field  string
	}{
		{"all domains of the cluster", placed(3, nil), "1/123 2/123 3/123", ""},
		{"those with the numbers of the specification", placed(3, []int{3, 1}), "3/123 1/123", ""},
		{"the specification comes before the MachinePool", placed(3, []int{2}, "1"), "2/123", ""},
		{"the numbers of the MachinePool", placed(3, nil, "1", "3"), "1/123 3/123", ""},
		{"the names of the MachinePool", placed(3, nil, "Uocm:PHX-AD-2"), "2/123", ""},
		{"fault domains in a region with one domain", placed(1, nil, "1", "FAULT-DOMAIN-3"), "1/13", ""},
		{"a domain that the region does not have", placed(1, []int{2}), "", "spec.placementDetails[0].availabilityDomain"},
		{"a name of no domain", placed(3, nil, "zone-a"), "", "MachinePool spec.failureDomains"},
		{"a cluster whose domains are not known yet", placed(0, nil), "", "spec.placementDetails"},
	} {
		places, err := c.t.places()
		var e *cloud.Error
		if c.field != "" && (!errors.As(err, &e) || e.Field != c.field || e.Kind != cloud.Invalid) || c.field == "" && err != nil {
			t.Errorf("%s: want an error about %q, got %v", c.reason, c.field, err)
		}
		var got []string
		for _, p := range places {
			faults := strings.ReplaceAll(strings.Join(p.faultDomains, ""), "FAULT-DOMAIN-", "")
			got = append(got, p.domain[len(p.domain)-1:]+"/"+faults)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: want %s, got %v", c.reason, c.want, got)
		}
	}
}

// TestPlacementKeepsWhatOthersAdd holds that a change of the placement keeps what another tool has added, and an unchanged subnet its form.
func TestPlacementKeepsWhatOthersAdd(t *testing.T) {
	t.Parallel()
	secondary := []core.InstancePoolPlacementSecondaryVnicSubnet{{SubnetId: new("theirs")}}
	is := []core.InstancePoolPlacementConfiguration{
		{AvailabilityDomain: new("AD-1"), PrimarySubnetId: new("s"), SecondaryVnicSubnets: secondary},
		{AvailabilityDomain: new("AD-2"), PrimaryVnicSubnets: &core.InstancePoolPlacementPrimarySubnet{SubnetId: new("old"),
			IsAssignIpv6Ip: new(true)}},
	}
	if !samePlaces([]place{{domain: "AD-2", subnet: "old"}, {domain: "AD-1", subnet: "s"}}, is) {
		t.Error("want the same places whatever the order and the form of the subnet")
	}
	want := []core.UpdateInstancePoolPlacementConfigurationDetails{
		{AvailabilityDomain: new("AD-1"), FaultDomains: []string{"F"}, PrimarySubnetId: new("s"), SecondaryVnicSubnets: secondary},
		{AvailabilityDomain: new("AD-2"), PrimaryVnicSubnets: &core.InstancePoolPlacementPrimarySubnet{SubnetId: new("new")}},
	}
	if diff := cmp.Diff(want, updated([]place{{"AD-1", "s", []string{"F"}}, {"AD-2", "new", nil}}, is)); diff != "" {
		t.Errorf("the placement of the request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(secondary, kept(is)[0].SecondaryVnicSubnets); diff != "" {
		t.Errorf("the placement that is left as it is (-want +got):\n%s", diff)
	}
}

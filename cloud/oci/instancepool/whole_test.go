package instancepool

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud/oci/core"
)

// TestUpdatesAreWhole holds that an update leaves out nothing that a pool shows, which OCI may take for a wish to remove it.
func TestUpdatesAreWhole(t *testing.T) {
	t.Parallel()
	is := &core.InstancePool{
		DisplayName: new("mp"), InstanceConfigurationId: new("ocid1.instanceconfiguration"), Size: new(2),
		FreeformTags: map[string]string{"a": "b"}, DefinedTags: map[string]map[string]any{"a": {"b": "c"}},
		InstanceDisplayNameFormatter: new("n-${launchCount}"), InstanceHostnameFormatter: new("h-${launchCount}"),
		LifecycleManagement: lifecycle(), OverridePolicy: map[string]any{"type": "LAUNCH_OPTIONS"},
		PlacementConfigurations: []core.InstancePoolPlacementConfiguration{{AvailabilityDomain: new("AD-1"), FaultDomains: []string{"FD-1"},
			PrimarySubnetId: new("ocid1.subnet"), PrimaryVnicSubnets: &core.InstancePoolPlacementPrimarySubnet{},
			SecondaryVnicSubnets: []core.InstancePoolPlacementSecondaryVnicSubnet{{SubnetId: new("ocid1.subnet")}}}},
	}
	body := whole(is)
	for _, part := range []reflect.Value{reflect.ValueOf(*body), reflect.ValueOf(body.PlacementConfigurations[0])} {
		for field, value := range part.Fields() {
			if value.IsZero() {
				t.Errorf("want %s of %s in the request", field.Name, part.Type().Name())
			}
		}
	}
	if diff := cmp.Diff(is.OverridePolicy, body.OverridePolicy); diff != "" {
		t.Errorf("the override policy (-want +got):\n%s", diff)
	}
}

package model

import (
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/driverkit"
)

// fixedNames are the names, or their beginnings, of what Azure does not change on a scale set that exists. All of its machines have the
// same of it, so that it tells no content apart.
var fixedNames = []string{"osDisk.type", "osDisk.ephemeral", "osDisk.managed", "spot.priority", "spot.evictionPolicy"}

// withoutFixed are those of some names that can be changed.
func withoutFixed(names []string) []string {
	return slices.DeleteFunc(names, isFixed)
}

func isFixed(name string) bool {
	return slices.ContainsFunc(fixedNames, func(of string) bool { return name == of || strings.HasPrefix(name, of+".") })
}

// fixed names the object's fields that differ and that Azure does not change on a scale set that exists.
func (m *Model) fixed(cur Current) []string {
	is, wanted := seenOf(cur.Set), seenOf(m.Set)
	var names []string
	for _, name := range is.against(wanted) {
		if isFixed(name) {
			names = append(names, name)
		}
	}
	fields := append(fieldsOf(names), driverkit.Differing(
		driverkit.Field{Name: imageField(m.namedImage), Differs: m.otherSource(cur)},
		driverkit.Field{Name: fieldSpot, Differs: isSpot(is) != isSpot(wanted)},
		driverkit.Field{Name: fieldEphemeral, Differs: ephemeral(is) != ephemeral(wanted)},
		driverkit.Field{Name: fieldOSDiskSize, Differs: m.smaller(cur.profile().StorageProfile)},
		driverkit.Field{Name: fieldSecurity + ".securityType", Differs: confidential(is) != confidential(wanted)},
	)...)
	fields = append(fields, m.fixedOfSet(cur)...)
	slices.Sort(fields)
	return slices.Compact(fields)
}

// fixedOfSet returns the fields of the scale set itself that differ and that Azure does not change.
func (m *Model) fixedOfSet(cur Current) []string {
	is, wanted := cur.properties(), *m.Set.Properties
	faults, balance := wanted.PlatformFaultDomainCount, wanted.ZoneBalance
	return driverkit.Differing(
		driverkit.Field{Name: fieldMode, Differs: mode(is) != mode(wanted)},
		driverkit.Field{Name: fieldLocation, Differs: !sameLocation(ptr.Deref(cur.Set.Location, ""), ptr.Deref(m.Set.Location, ""))},
		driverkit.Field{Name: fieldFaults, Differs: faults != nil && is.PlatformFaultDomainCount != nil &&
			*is.PlatformFaultDomainCount != *faults},
		// A scale set whose zones can't be balanced yet (it gets a second one now) has no balance to compare.
		driverkit.Field{Name: fieldZoneBalance, Differs: balance != nil && len(cur.zones()) > 1 && ptr.Deref(is.ZoneBalance, false) != *balance},
		driverkit.Field{Name: fieldZones, Differs: !contains(values(m.Set.Zones), cur.zones())},
	)
}

// mode of a scale set; one that says nothing is Uniform.
func mode(p armcompute.VirtualMachineScaleSetProperties) armcompute.OrchestrationMode {
	if p.OrchestrationMode == nil {
		return armcompute.OrchestrationModeUniform
	}
	return *p.OrchestrationMode
}

func isSpot(s seen) bool {
	return strings.EqualFold(s["spot.priority"], string(armcompute.VirtualMachinePriorityTypesSpot))
}

// ephemeral reports whether the disk of the operating system lies on the host.
func ephemeral(s seen) bool { return s["osDisk.ephemeral.option"] != "" }

func confidential(s seen) bool {
	return strings.EqualFold(s["security.type"], string(armcompute.SecurityTypesConfidentialVM))
}

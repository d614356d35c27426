package model

import (
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
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
	fields := fieldsOf(names)
	if isSpot(is) != isSpot(wanted) {
		fields = append(fields, fieldSpot)
	}
	if ephemeral(is) != ephemeral(wanted) {
		fields = append(fields, fieldEphemeral)
	}
	if m.smaller(deref(deref(cur.Set.Properties).VirtualMachineProfile).StorageProfile) {
		fields = append(fields, fieldOSDiskSize)
	}
	if confidential(is) != confidential(wanted) {
		fields = append(fields, fieldSecurity+".securityType")
	}
	fields = append(fields, m.fixedOfSet(cur)...)
	slices.Sort(fields)
	return slices.Compact(fields)
}

// fixedOfSet are fields of the scale set itself.
func (m *Model) fixedOfSet(cur Current) []string {
	var fields []string
	is, wanted := deref(cur.Set.Properties), deref(m.Set.Properties)
	if mode(is) != mode(wanted) {
		fields = append(fields, fieldMode)
	}
	if !sameLocation(deref(cur.Set.Location), deref(m.Set.Location)) {
		fields = append(fields, fieldLocation)
	}
	if wanted.PlatformFaultDomainCount != nil && is.PlatformFaultDomainCount != nil && *is.PlatformFaultDomainCount != *wanted.PlatformFaultDomainCount {
		fields = append(fields, fieldFaults)
	}
	// A scale set whose zones can't be balanced yet (it gets a second one now) says nothing of balance.
	if wanted.ZoneBalance != nil && len(cur.zones()) > 1 && deref(is.ZoneBalance) != *wanted.ZoneBalance {
		fields = append(fields, fieldZoneBalance)
	}
	if !contains(values(m.Set.Zones), cur.zones()) {
		fields = append(fields, fieldZones)
	}
	return fields
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

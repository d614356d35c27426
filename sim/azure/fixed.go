package azure

import (
	"net/http"
	"slices"
	"strings"
)

// fixedPaths are what cannot be changed once a scale set is there, by their names in the refusal.
var fixedPaths = []struct{ path, name string }{
	{"properties.orchestrationMode", "orchestrationMode"},
	{"properties.platformFaultDomainCount", "platformFaultDomainCount"},
	{profilePath + ".osProfile.computerNamePrefix", "osProfile.computerNamePrefix"},
	{profilePath + ".osProfile.adminUsername", "osProfile.adminUsername"},
	{profilePath + ".storageProfile.osDisk.osType", "osDisk.osType"},
	{profilePath + ".storageProfile.osDisk.createOption", "osDisk.createOption"},
	{profilePath + ".storageProfile.osDisk.managedDisk", "osDisk.managedDisk"},
	{profilePath + ".storageProfile.osDisk.diffDiskSettings", "osDisk.diffDiskSettings"},
	{profilePath + ".priority", "priority"},
	{profilePath + ".evictionPolicy", "evictionPolicy"},
	{"properties.zoneBalance", "zoneBalance"},
}

// fixed refuses to change what cannot be changed.
func (w *models) fixed(s *scaleSet, next document) error {
	for _, f := range fixedPaths {
		if !same(dig(s.Doc, f.path), dig(next, f.path)) {
			return unchangeable(f.name)
		}
	}
	const security = profilePath + ".securityProfile.securityType"
	if was, is := text(s.Doc, security), text(next, security); was != is && (was == "ConfidentialVM" || is == "ConfidentialVM") {
		return unchangeable("securityProfile.securityType")
	}
	if truth(next, "properties.singlePlacementGroup") && !truth(s.Doc, "properties.singlePlacementGroup") {
		return unchangeable("singlePlacementGroup")
	}
	before := texts(s.Doc, "zones")
	after := texts(next, "zones")
	for _, z := range before {
		if !slices.Contains(after, z) {
			return refuse(http.StatusBadRequest, "ResourceAvailabilityZonesCannotBeModified",
				"Resource %s has an existing availability zone constraint %s and the request has availability zone constraint %s, which do not match. "+
					"Zones can be added to a scale set, never removed.", s.Name, strings.Join(before, ", "), strings.Join(after, ", "))
		}
	}
	had, _ := number(s.Doc, profilePath+".storageProfile.osDisk.diskSizeGB")
	if has, given := number(next, profilePath+".storageProfile.osDisk.diskSizeGB"); given && has < had {
		return notAllowed("Disk size reduction is not supported. Current size is %d GB, requested size is %d GB.", had, has)
	}
	return nil
}

// checkNetwork holds the network against what exists.
func (w *models) checkNetwork(s *scaleSet, d document) error {
	cards := objects(d, profilePath+".networkProfile.networkInterfaceConfigurations")
	if len(cards) == 0 {
		return missing("networkProfile.networkInterfaceConfigurations")
	}
	primaries := 0
	for _, card := range cards {
		if text(card, "name") == "" {
			return missing("networkInterfaceConfigurations.name")
		}
		if truth(card, "properties.primary") || len(cards) == 1 {
			primaries++
		}
		if truth(card, "properties.enableAcceleratedNetworking") && !sizeOf(text(d, "sku.name")).accelerated {
			return refuse(http.StatusBadRequest, "VMSizeIsNotPermittedToEnableAcceleratedNetworking",
				"VM size %s is not in the permitted list for accelerated networking.", text(d, "sku.name"))
		}
		if err := w.checkAddresses(s, card); err != nil {
			return err
		}
	}
	if primaries != 1 {
		return badRequest("Exactly one network interface configuration of the Virtual Machine Scale Set must be primary, found %d.", primaries)
	}
	return nil
}

func (w *models) checkAddresses(s *scaleSet, card document) error {
	configs := objects(card, "properties.ipConfigurations")
	if len(configs) == 0 {
		return missing("networkInterfaceConfigurations.ipConfigurations")
	}
	for i, c := range configs {
		subnet := text(c, "properties.subnet.id")
		if subnet == "" && i == 0 {
			return missing("ipConfigurations.subnet")
		}
		refs := []string{subnet}
		for _, pool := range objects(c, "properties.loadBalancerBackendAddressPools") {
			refs = append(refs, text(pool, "id"))
		}
		for _, ref := range refs {
			if ref != "" && !w.environment.exists(ref) {
				return refuse(http.StatusBadRequest, "InvalidResourceReference", "Resource %s referenced by resource %s was not found. "+
					"Please make sure that the referenced resource exists, and that both resources are in the same region.", ref, s.ID)
			}
		}
	}
	return nil
}

// checkIdentity holds the identities against those that exist.
func (w *models) checkIdentity(s *scaleSet, d document) error {
	kind := text(d, "identity.type")
	named := under(d, "identity.userAssignedIdentities")
	if kind == "None" {
		return nil
	}
	if strings.Contains(kind, "UserAssigned") && len(named) == 0 {
		return refuse(http.StatusBadRequest, "InvalidIdentityValues", "Invalid value for the identities '' of identity type 'UserAssigned'. "+
			"The 'UserAssigned' identity type requires at least one identity.")
	}
	for id := range named {
		if !w.environment.exists(id) {
			return refuse(http.StatusBadRequest, "FailedIdentityOperation", "Identity operation for resource '%s' failed with error "+
				"'Failed to perform resource identity operation. Status: 'BadRequest'. Response: '{\"error\":{\"code\":\"BadRequest\",\"message\":\"Resource '%s' was not found.\"}}'.'.", s.ID, id)
		}
	}
	return nil
}

package compute

import (
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
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
func (w *models) fixed(s *scaleSet, next document.Object) error {
	for _, f := range fixedPaths {
		if !document.Same(document.Dig(s.Doc, f.path), document.Dig(next, f.path)) {
			return arm.Unchangeable(f.name)
		}
	}
	if err := fixedSource(s, next); err != nil {
		return err
	}
	if err := fixedSecurity(s, next); err != nil {
		return err
	}
	if document.Truth(next, "properties.singlePlacementGroup") && !document.Truth(s.Doc, "properties.singlePlacementGroup") {
		return arm.Unchangeable("singlePlacementGroup")
	}
	before := document.Texts(s.Doc, "zones")
	after := document.Texts(next, "zones")
	for _, z := range before {
		if !slices.Contains(after, z) {
			return arm.Refuse(http.StatusBadRequest, "ResourceAvailabilityZonesCannotBeModified",
				"Resource %s has an existing availability zone constraint %s and the request has availability zone constraint %s, which do not match. "+
					"Zones can be added to a scale set, never removed.", s.Name, strings.Join(before, ", "), strings.Join(after, ", "))
		}
	}
	had, _ := document.Number(s.Doc, profilePath+".storageProfile.osDisk.diskSizeGB")
	if has, given := document.Number(next, profilePath+".storageProfile.osDisk.diskSizeGB"); given && has < had {
		return arm.NotAllowed("Disk size reduction is not supported. Current size is %d GB, requested size is %d GB.", had, has)
	}
	return nil
}

// fixedSecurity refuses to make machines confidential, or no more.
func fixedSecurity(s *scaleSet, next document.Object) error {
	const security = profilePath + ".securityProfile.securityType"
	if was, is := document.Text(s.Doc, security), document.Text(next, security); was != is &&
		(was == "ConfidentialVM" || is == "ConfidentialVM") {
		return arm.Unchangeable("securityProfile.securityType")
	}
	return nil
}

// fixedSource refuses an image of another kind of source.
func fixedSource(s *scaleSet, next document.Object) error {
	const image = profilePath + ".storageProfile.imageReference"
	if was := sourceOf(document.Under(s.Doc, image)); was != "" && was != sourceOf(document.Under(next, image)) {
		return arm.NotAllowed("The Image type for a Virtual Machine Scale Set may not be changed.")
	}
	return nil
}

// sourceOf is the kind of source of an image: the Marketplace, a gallery, or an image of the subscription; "" for no image.
func sourceOf(image document.Object) string {
	id := strings.ToLower(document.Text(image, "id"))
	switch {
	case document.Text(image, "communityGalleryImageId") != "", document.Text(image, "sharedGalleryImageId") != "",
		strings.Contains(id, "/galleries/"):
		return "gallery"
	case id != "":
		return "image"
	case document.Text(image, "publisher") != "":
		return "marketplace"
	}
	return ""
}

// checkNetwork holds the network against what exists.
func (w *models) checkNetwork(s *scaleSet, d document.Object) error {
	cards := document.Objects(d, profilePath+".networkProfile.networkInterfaceConfigurations")
	if len(cards) == 0 {
		return arm.Missing("networkProfile.networkInterfaceConfigurations")
	}
	primaries := 0
	for _, card := range cards {
		if document.Text(card, "name") == "" {
			return arm.Missing("networkInterfaceConfigurations.name")
		}
		if document.Truth(card, "properties.primary") || len(cards) == 1 {
			primaries++
		}
		if document.Truth(card, "properties.enableAcceleratedNetworking") && !sizeOf(document.Text(d, "sku.name")).accelerated {
			return arm.Refuse(http.StatusBadRequest, "VMSizeIsNotPermittedToEnableAcceleratedNetworking",
				"VM size %s is not in the permitted list for accelerated networking.", document.Text(d, "sku.name"))
		}
		if err := w.checkAddresses(s, card); err != nil {
			return err
		}
	}
	if primaries != 1 {
		return arm.BadRequest("Exactly one network interface configuration of the Virtual Machine Scale Set must be primary, found %d.",
			primaries)
	}
	return nil
}

func (w *models) checkAddresses(s *scaleSet, card document.Object) error {
	configs := document.Objects(card, "properties.ipConfigurations")
	if len(configs) == 0 {
		return arm.Missing("networkInterfaceConfigurations.ipConfigurations")
	}
	for i, c := range configs {
		subnet := document.Text(c, "properties.subnet.id")
		if subnet == "" && i == 0 {
			return arm.Missing("ipConfigurations.subnet")
		}
		refs := []string{subnet}
		for _, pool := range document.Objects(c, "properties.loadBalancerBackendAddressPools") {
			refs = append(refs, document.Text(pool, "id"))
		}
		for _, ref := range refs {
			if ref != "" && !w.Exists(ref) {
				return arm.Refuse(http.StatusBadRequest, "InvalidResourceReference", "Resource %s referenced by resource %s was not found. "+
					"Please make sure that the referenced resource exists, and that both resources are in the same region.", ref, s.ID)
			}
		}
	}
	return nil
}

// checkIdentity holds the identities against those that exist.
func (w *models) checkIdentity(s *scaleSet, d document.Object) error {
	kind := document.Text(d, "identity.type")
	named := document.Under(d, "identity.userAssignedIdentities")
	if kind == "None" {
		return nil
	}
	if strings.Contains(kind, "UserAssigned") && len(named) == 0 {
		return arm.Refuse(http.StatusBadRequest, "InvalidIdentityValues", "Invalid value for the identities '' of identity type 'UserAssigned'. "+
			"The 'UserAssigned' identity type requires at least one identity.")
	}
	for id := range named {
		if !w.Exists(id) {
			return arm.Refuse(http.StatusBadRequest, "FailedIdentityOperation", "Identity operation for resource '%s' failed with error "+
				"'Failed to perform resource identity operation. Status: 'BadRequest'. Response: "+
				"'{\"error\":{\"code\":\"BadRequest\",\"message\":\"Resource '%s' was not found.\"}}'.'.", s.ID, id)
		}
	}
	return nil
}

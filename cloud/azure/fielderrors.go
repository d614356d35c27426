package azure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

const (
	fieldTemplate = "spec.template"
	fieldImage    = fieldTemplate + ".image"
	fieldSize     = fieldTemplate + ".vmSize"
)

// imageCodes are Azure's error codes of an image that does not exist.
var imageCodes = []string{"ImageNotFound", "GalleryImageNotFound", "PlatformImageNotFound", "ImageVersionNotFound"}

// imageWords are Azure's of an image of another kind than a scale set has.
const imageWords = "image type"

// withField returns a refusal that names no field with the field that it is about: what Azure says does not exist is looked for in the
// template and the identities of the specification.
func withField(spec *azurev1.AzureMachinePoolSpec, err error) error {
	return driverkit.WithField(err, func(e *cloud.Error, part string) string { return cmp.Or(fieldOf(spec, e), fieldOfTarget(part)) })
}

// fieldOf returns the field that a refusal is about; empty where that is unknown.
func fieldOf(spec *azurev1.AzureMachinePoolSpec, e *cloud.Error) string {
	words := strings.ToLower(e.Message)
	says := func(what string) bool { return what != "" && strings.Contains(words, strings.ToLower(what)) }
	if slices.Contains(imageCodes, e.Code) || says(imageWords) || says("/CommunityGalleries/") || says("/galleries/") || says("/images/") {
		return fieldImage
	}
	if field := fieldOfSubnet(&spec.Template, words); field != "" {
		return field
	}
	if field := fieldOfID(spec, says); field != "" {
		return field
	}
	if says("'"+spec.Template.VMSize+"'") || strings.HasPrefix(e.Code, "Sku") {
		return fieldSize
	}
	return ""
}

// fieldOfID returns the field with an ID that a text mentions.
func fieldOfID(spec *azurev1.AzureMachinePoolSpec, says func(string) bool) string {
	for k, identity := range spec.UserAssignedIdentities {
		if says(strings.TrimPrefix(identity.ProviderID, "azure://")) {
			return fmt.Sprintf("spec.userAssignedIdentities[%d].providerID", k)
		}
	}
	if managed := spec.Template.OSDisk.ManagedDisk; managed != nil && managed.DiskEncryptionSet != nil && says(managed.DiskEncryptionSet.ID) {
		return fieldTemplate + ".osDisk.managedDisk.diskEncryptionSet.id"
	}
	return ""
}

// fieldOfSubnet returns the field with the name of a subnet that a text mentions.
func fieldOfSubnet(template *azurev1.AzureMachinePoolMachineTemplate, words string) string {
	for k, nic := range template.Interfaces() {
		switch {
		case nic.SubnetName == "" || !saysName(words, "/subnets/", nic.SubnetName):
		case len(template.NetworkInterfaces) == 0:
			return fieldTemplate + ".subnetName"
		default:
			return fmt.Sprintf("%s.networkInterfaces[%d].subnetName", fieldTemplate, k)
		}
	}
	return ""
}

// saysName reports whether a text has an ID with that name, and not just one that begins with it.
func saysName(words, kind, name string) bool {
	for _, part := range strings.Split(words, kind)[1:] {
		if rest, ok := strings.CutPrefix(part, strings.ToLower(name)); ok && (rest == "" || !isName(rest[0])) {
			return true
		}
	}
	return false
}

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

package azure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
)

const (
	fieldTemplate = "spec.template"
	fieldImage    = fieldTemplate + ".image"
	fieldSize     = fieldTemplate + ".vmSize"
)

// imageCodes are Azure's words for an image that can't be had.
var imageCodes = []string{"ImageNotFound", "GalleryImageNotFound", "PlatformImageNotFound", "ImageVersionNotFound"}

// blame names the field behind a refusal that names none: what Azure says does not exist is looked for in the specification.
func (p *pass) blame(err error) error {
	var e *cloud.Error
	if !errors.As(err, &e) || e.Kind != cloud.Invalid || e.Field != "" {
		return err
	}
	e.Field = cmp.Or(p.fieldOf(e), fieldOfTarget(session.TargetOf(err)))
	return err
}

// fieldOf is the field that a refusal is about; empty where that can't be told.
func (p *pass) fieldOf(e *cloud.Error) string {
	words := strings.ToLower(e.Message)
	says := func(what string) bool { return what != "" && strings.Contains(words, strings.ToLower(what)) }
	if slices.Contains(imageCodes, e.Code) || says("/CommunityGalleries/") || says("/galleries/") || says("/images/") {
		return fieldImage
	}
	if field := p.fieldOfSubnet(words); field != "" {
		return field
	}
	if field := p.fieldOfID(says); field != "" {
		return field
	}
	if says("'"+p.t.pool.Template.VMSize+"'") || strings.HasPrefix(e.Code, "Sku") {
		return fieldSize
	}
	return ""
}

// fieldOfID is where the specification has an ID of which a text speaks.
func (p *pass) fieldOfID(says func(string) bool) string {
	for k, identity := range p.t.pool.UserAssignedIdentities {
		if says(strings.TrimPrefix(identity.ProviderID, "azure://")) {
			return fmt.Sprintf("spec.userAssignedIdentities[%d].providerID", k)
		}
	}
	if managed := p.t.pool.Template.OSDisk.ManagedDisk; managed != nil && managed.DiskEncryptionSet != nil && says(managed.DiskEncryptionSet.ID) {
		return fieldTemplate + ".osDisk.managedDisk.diskEncryptionSet.id"
	}
	return ""
}

// fieldOfSubnet is where the specification names a subnet of which a text speaks.
func (p *pass) fieldOfSubnet(words string) string {
	for k, nic := range p.t.pool.Template.Interfaces() {
		switch {
		case nic.SubnetName == "" || !saysName(words, "/subnets/", nic.SubnetName):
		case len(p.t.pool.Template.NetworkInterfaces) == 0:
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

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"
)

// deref returns a value that may be absent; absent it is zero.
func deref[T any](value *T) T {
	var zero T
	return ptr.Deref(value, zero)
}

// text returns a value of a row; nil where it is absent.
func text[T any](value *T) any {
	if value == nil {
		return nil
	}
	return fmt.Sprint(*value)
}

// put keeps a value that is there.
func put[T any](texts map[string]string, name string, value *T) {
	if value != nil {
		texts[name] = fmt.Sprint(*value)
	}
}

// lower returns an ID in small letters.
func lower(id *string) *string {
	if id == nil {
		return nil
	}
	return new(strings.ToLower(*id))
}

func planText(c *Current) any {
	p := c.Set.Plan
	if p == nil {
		return nil
	}
	return strings.ToLower(strings.Join([]string{deref(p.Publisher), deref(p.Product), deref(p.Name)}, "/"))
}

// identitiesText lists the identities that users have made. Those that are still listed under another type count for nothing.
func identitiesText(c *Current) any {
	is := c.Set.Identity
	if is == nil {
		return nil
	}
	var list []string
	for id := range is.UserAssignedIdentities {
		if strings.Contains(string(deref(is.Type)), string(armcompute.ResourceIdentityTypeUserAssigned)) {
			list = append(list, strings.ToLower(id))
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

func diagnosticsTexts(c *Current) any {
	boot, out := deref(deref(c.profile().DiagnosticsProfile).BootDiagnostics), map[string]string{}
	put(out, "enabled", boot.Enabled)
	if uri := deref(boot.StorageURI); uri != "" {
		out["uri"] = strings.TrimRight(strings.ToLower(uri), "/")
	}
	return out
}

func priceText(c *Current) any {
	price := deref(c.profile().BillingProfile).MaxPrice
	if price == nil {
		return nil
	}
	return strconv.FormatFloat(*price, 'f', -1, 64)
}

// noticeText returns how long before its end a machine is given notice; empty where that is turned off.
func noticeText(c *Current) any {
	notice := deref(c.profile().ScheduledEventsProfile).TerminateNotificationProfile
	switch {
	case notice == nil:
		return nil
	case !deref(notice.Enable):
		return ""
	}
	return deref(notice.NotBeforeTimeout)
}

// sshText lists the keys. What follows a key is a comment.
func sshText(c *Current) any {
	ssh := deref(deref(c.profile().OSProfile).LinuxConfiguration).SSH
	if ssh == nil {
		return nil
	}
	var keys []string
	for _, k := range ssh.PublicKeys {
		words := strings.Fields(deref(k.KeyData))
		keys = append(keys, strings.Join(words[:min(2, len(words))], " "))
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

// imageTexts returns an image. The latest version may be shown as the one that it was.
func imageTexts(c *Current) any {
	r, out := deref(c.image()), map[string]string{}
	put(out, "id", lower(cmp.Or(r.SharedGalleryImageID, r.CommunityGalleryImageID, r.ID)))
	if r.Publisher == nil {
		return out
	}
	out["offer"] = strings.ToLower(strings.Join([]string{*r.Publisher, deref(r.Offer), deref(r.SKU)}, "/"))
	if v := deref(r.Version); v != "" && !strings.EqualFold(v, latestVersion) {
		out["version"] = v
	}
	return out
}

func diskTexts(d *armcompute.VirtualMachineScaleSetManagedDiskParameters) map[string]string {
	is, out := deref(d), map[string]string{}
	security := deref(is.SecurityProfile)
	put(out, "storageAccountType", is.StorageAccountType)
	put(out, "diskEncryptionSet", lower(deref(is.DiskEncryptionSet).ID))
	put(out, "securityEncryptionType", security.SecurityEncryptionType)
	put(out, "securityEncryptionSet", lower(deref(security.DiskEncryptionSet).ID))
	return out
}

func ephemeralTexts(c *Current) any {
	settings, out := deref(c.disk().DiffDiskSettings), map[string]string{}
	put(out, "option", settings.Option)
	put(out, "placement", settings.Placement)
	return out
}

// dataDiskTexts returns the numbers of the data disks, and each disk by its number.
func dataDiskTexts(c *Current) any {
	if p := c.properties().VirtualMachineProfile; p != nil && p.StorageProfile == nil {
		return nil
	}
	out, luns := map[string]string{}, []string{}
	for _, d := range deref(c.profile().StorageProfile).DataDisks {
		lun := strconv.Itoa(int(deref(d.Lun)))
		luns = append(luns, lun)
		put(out, lun+".size", d.DiskSizeGB)
		put(out, lun+".caching", d.Caching)
		for name, value := range diskTexts(d.ManagedDisk) {
			out[lun+"."+name] = value
		}
	}
	slices.Sort(luns)
	out[""] = strings.Join(luns, " ")
	return out
}

// nicTexts returns the number of network interfaces, and each in the order in which machines have them. Backend pools are none of the
// model's.
func nicTexts(c *Current) any {
	network := c.profile().NetworkProfile
	if network == nil {
		return nil
	}
	out := map[string]string{"": strconv.Itoa(len(network.NetworkInterfaceConfigurations))}
	for k, nic := range network.NetworkInterfaceConfigurations {
		if nic == nil || nic.Properties == nil {
			continue
		}
		name := strconv.Itoa(k)
		put(out, name+".acceleratedNetworking", nic.Properties.EnableAcceleratedNetworking)
		put(out, name+".forwarding", nic.Properties.EnableIPForwarding)
		var addresses []string
		for _, a := range nic.Properties.IPConfigurations {
			p := deref(a.Properties)
			version := cmp.Or(deref(p.PrivateIPAddressVersion), armcompute.IPVersionIPv4)
			addresses = append(addresses, string(version)+" "+strings.ToLower(deref(deref(p.Subnet).ID)))
		}
		slices.Sort(addresses)
		out[name+".addresses"] = strings.Join(addresses, ", ")
	}
	return out
}

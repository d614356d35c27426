package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"
)

// seen is what can be seen of a scale set or of one machine, by name: the same names for each, in one spelling of the values. A name
// that is missing means that it does not show, or that Azure has chosen the value.
type seen map[string]string

// parts are the names' beginnings, each with the object's field behind it, the most particular first.
var parts = []struct{ name, field string }{
	{"size", fieldSize},
	{"image", fieldImage},
	{"plan", fieldImage},
	{"osDisk.size", fieldOSDiskSize},
	{"osDisk.caching", fieldOSCaching},
	{"osDisk.managed", fieldOSManaged},
	{"osDisk.ephemeral", fieldEphemeral},
	{"osDisk.type", fieldOSType},
	{"dataDisks", fieldDataDisks},
	{"ssh", fieldSSH},
	{"security", fieldSecurity},
	{"spot", fieldSpot},
	{"identity", fieldIdentity},
	{"identities", fieldIdentities},
	{"ultra", fieldUltra},
	{"diagnostics", fieldDiagnostics},
	{"notice", fieldNotice},
	{"nics", fieldNICs},
}

// plain are the values of names that Azure shows only where a user has set something. It matters for people alone: a scale set that
// does not say anything may have been given more by Azure than was asked for.
var plain = map[string]string{
	"security.encryptionAtHost": "false", "spot.priority": string(armcompute.VirtualMachinePriorityTypesRegular),
	"identity": string(armcompute.ResourceIdentityTypeNone), "identities": "", "ultra": "false", "notice": "", "plan": "",
}

// put keeps a value that is there.
func put[T any](s seen, name string, value *T) {
	if value != nil {
		s[name] = fmt.Sprint(*value)
	}
}

// putID keeps an ID, in small letters.
func putID(s seen, name string, id *string) {
	if id != nil {
		s[name] = strings.ToLower(*id)
	}
}

// seenOf is what can be seen of a scale set's model, as it is sent or as it is shown.
func seenOf(set armcompute.VirtualMachineScaleSet) seen {
	s := seen{}
	if set.SKU != nil {
		s.size(set.SKU.Name)
	}
	s.plan(set.Plan)
	if set.Identity != nil {
		s.identity(set.Identity.Type, set.Identity.UserAssignedIdentities)
	}
	p := ptr.Deref(set.Properties, armcompute.VirtualMachineScaleSetProperties{})
	s.ultra(p.AdditionalCapabilities)
	profile := ptr.Deref(p.VirtualMachineProfile, armcompute.VirtualMachineScaleSetVMProfile{})
	s.diagnostics(profile.DiagnosticsProfile)
	s.security(profile.SecurityProfile)
	s.spot(profile.Priority, profile.EvictionPolicy, profile.BillingProfile)
	s.notice(profile.ScheduledEventsProfile)
	if os := profile.OSProfile; os != nil {
		s.linux(os.LinuxConfiguration)
	}
	if n := profile.NetworkProfile; n != nil {
		s.nics(n.NetworkInterfaceConfigurations)
	}
	storage := ptr.Deref(profile.StorageProfile, armcompute.VirtualMachineScaleSetStorageProfile{})
	s.image(storage.ImageReference)
	if d := storage.OSDisk; d != nil {
		s.osDisk(d.DiskSizeGB, d.Caching, d.OSType, d.DiffDiskSettings, diskOf(d.ManagedDisk))
	}
	luns := []string{}
	for _, d := range storage.DataDisks {
		luns = append(luns, s.dataDisk(d.Lun, d.DiskSizeGB, d.Caching, diskOf(d.ManagedDisk)))
	}
	s.luns(luns)
	return s
}

// seenOfUniform is what can be seen of one machine of a Uniform scale set.
func seenOfUniform(vm armcompute.VirtualMachineScaleSetVM) seen {
	s := seen{}
	if vm.SKU != nil {
		s.size(vm.SKU.Name)
	}
	s.plan(vm.Plan)
	if vm.Identity != nil {
		s.identity(vm.Identity.Type, vm.Identity.UserAssignedIdentities)
	}
	p := ptr.Deref(vm.Properties, armcompute.VirtualMachineScaleSetVMProperties{})
	s.ultra(p.AdditionalCapabilities)
	s.diagnostics(p.DiagnosticsProfile)
	s.security(p.SecurityProfile)
	s.storage(p.StorageProfile)
	if p.OSProfile != nil {
		s.linux(p.OSProfile.LinuxConfiguration)
	}
	if n := p.NetworkProfileConfiguration; n != nil {
		s.nics(n.NetworkInterfaceConfigurations)
	}
	return s
}

// seenOfFlexible is what can be seen of one machine of a Flexible scale set. Its interfaces are objects of their own, of which it shows
// the names alone.
func seenOfFlexible(vm armcompute.VirtualMachine) seen {
	s := seen{}
	s.plan(vm.Plan)
	if vm.Identity != nil {
		s.identity(vm.Identity.Type, vm.Identity.UserAssignedIdentities)
	}
	p := ptr.Deref(vm.Properties, armcompute.VirtualMachineProperties{})
	if h := p.HardwareProfile; h != nil && h.VMSize != nil {
		s.size(new(string(*h.VMSize)))
	}
	s.ultra(p.AdditionalCapabilities)
	s.diagnostics(p.DiagnosticsProfile)
	s.security(p.SecurityProfile)
	s.spot(p.Priority, p.EvictionPolicy, p.BillingProfile)
	s.notice(p.ScheduledEventsProfile)
	s.storage(p.StorageProfile)
	if p.OSProfile != nil {
		s.linux(p.OSProfile.LinuxConfiguration)
	}
	return s
}

func (s seen) size(name *string) {
	put(s, "size", name)
}

func (s seen) plan(p *armcompute.Plan) {
	if p != nil {
		s["plan"] = strings.ToLower(strings.Join([]string{ptr.Deref(p.Publisher, ""), ptr.Deref(p.Product, ""), ptr.Deref(p.Name, "")}, "/"))
	}
}

func (s seen) identity(kind *armcompute.ResourceIdentityType, ids map[string]*armcompute.UserAssignedIdentitiesValue) {
	put(s, "identity", kind)
	var list []string
	for id := range ids {
		// Those that are still listed beside another type count for nothing.
		if kind != nil && strings.Contains(string(*kind), string(armcompute.ResourceIdentityTypeUserAssigned)) {
			list = append(list, strings.ToLower(id))
		}
	}
	slices.Sort(list)
	s["identities"] = strings.Join(slices.Compact(list), " ")
}

func (s seen) ultra(c *armcompute.AdditionalCapabilities) {
	if c != nil {
		put(s, "ultra", c.UltraSSDEnabled)
	}
}

func (s seen) diagnostics(d *armcompute.DiagnosticsProfile) {
	if d == nil || d.BootDiagnostics == nil {
		return
	}
	put(s, "diagnostics.enabled", d.BootDiagnostics.Enabled)
	if uri := ptr.Deref(d.BootDiagnostics.StorageURI, ""); uri != "" {
		s["diagnostics.uri"] = strings.TrimRight(strings.ToLower(uri), "/")
	}
}

func (s seen) security(p *armcompute.SecurityProfile) {
	if p == nil {
		return
	}
	put(s, "security.encryptionAtHost", p.EncryptionAtHost)
	put(s, "security.type", p.SecurityType)
	if u := p.UefiSettings; u != nil {
		put(s, "security.secureBoot", u.SecureBootEnabled)
		put(s, "security.vTPM", u.VTpmEnabled)
	}
}

func (s seen) spot(priority *armcompute.VirtualMachinePriorityTypes, policy *armcompute.VirtualMachineEvictionPolicyTypes,
	billing *armcompute.BillingProfile) {
	put(s, "spot.priority", priority)
	put(s, "spot.evictionPolicy", policy)
	if billing != nil && billing.MaxPrice != nil {
		s["spot.maxPrice"] = strconv.FormatFloat(*billing.MaxPrice, 'f', -1, 64)
	}
}

func (s seen) notice(p *armcompute.ScheduledEventsProfile) {
	if p == nil || p.TerminateNotificationProfile == nil {
		return
	}
	s["notice"] = ""
	if t := p.TerminateNotificationProfile; ptr.Deref(t.Enable, false) {
		s["notice"] = ptr.Deref(t.NotBeforeTimeout, "")
	}
}

func (s seen) linux(c *armcompute.LinuxConfiguration) {
	if c == nil || c.SSH == nil {
		return
	}
	var keys []string
	for _, k := range c.SSH.PublicKeys {
		// What stands behind the key is a comment.
		fields := strings.Fields(ptr.Deref(k.KeyData, ""))
		keys = append(keys, strings.Join(fields[:min(2, len(fields))], " "))
	}
	slices.Sort(keys)
	s["ssh"] = strings.Join(keys, ", ")
}

func (s seen) image(r *armcompute.ImageReference) {
	if r == nil {
		return
	}
	putID(s, "image.id", r.ID)
	putID(s, "image.id", r.CommunityGalleryImageID)
	putID(s, "image.id", r.SharedGalleryImageID)
	if r.Publisher == nil {
		return
	}
	s["image.offer"] = strings.ToLower(strings.Join([]string{*r.Publisher, ptr.Deref(r.Offer, ""), ptr.Deref(r.SKU, "")}, "/"))
	// The latest version may be shown as the one that it was.
	if v := ptr.Deref(r.Version, ""); v != "" && !strings.EqualFold(v, latestVersion) {
		s["image.version"] = v
	}
}

// disk is what a scale set and a machine say in different words of how a disk is kept.
type disk struct {
	storage    *armcompute.StorageAccountTypes
	encryption *armcompute.DiskEncryptionSetParameters
	security   *armcompute.VMDiskSecurityProfile
}

func diskOf(d *armcompute.VirtualMachineScaleSetManagedDiskParameters) disk {
	if d == nil {
		return disk{}
	}
	return disk{d.StorageAccountType, d.DiskEncryptionSet, d.SecurityProfile}
}

func diskOfVM(d *armcompute.ManagedDiskParameters) disk {
	if d == nil {
		return disk{}
	}
	return disk{d.StorageAccountType, d.DiskEncryptionSet, d.SecurityProfile}
}

func (s seen) disk(name string, d disk) {
	put(s, name+".storageAccountType", d.storage)
	if d.encryption != nil {
		putID(s, name+".diskEncryptionSet", d.encryption.ID)
	}
	if d.security != nil {
		put(s, name+".securityEncryptionType", d.security.SecurityEncryptionType)
		if d.security.DiskEncryptionSet != nil {
			putID(s, name+".securityEncryptionSet", d.security.DiskEncryptionSet.ID)
		}
	}
}

func (s seen) osDisk(size *int32, caching *armcompute.CachingTypes, kind *armcompute.OperatingSystemTypes,
	local *armcompute.DiffDiskSettings, d disk) {
	put(s, "osDisk.size", size)
	put(s, "osDisk.caching", caching)
	put(s, "osDisk.type", kind)
	s.disk("osDisk.managed", d)
	if local != nil {
		put(s, "osDisk.ephemeral.option", local.Option)
		put(s, "osDisk.ephemeral.placement", local.Placement)
	}
}

// dataDisk gives the number of the disk.
func (s seen) dataDisk(lun, size *int32, caching *armcompute.CachingTypes, d disk) string {
	number := strconv.Itoa(int(ptr.Deref(lun, 0)))
	name := "dataDisks." + number
	put(s, name+".size", size)
	put(s, name+".caching", caching)
	s.disk(name, d)
	return number
}

// luns say which data disks there are.
func (s seen) luns(list []string) {
	slices.Sort(list)
	s["dataDisks"] = strings.Join(list, " ")
}

// storage of one machine. A disk that a client attached to the machine alone (a volume of a pod) is none of its model's: those that were
// made with the machine carry the word Empty.
func (s seen) storage(p *armcompute.StorageProfile) {
	if p == nil {
		return
	}
	s.image(p.ImageReference)
	if d := p.OSDisk; d != nil {
		s.osDisk(d.DiskSizeGB, d.Caching, d.OSType, d.DiffDiskSettings, diskOfVM(d.ManagedDisk))
	}
	luns := []string{}
	for _, d := range p.DataDisks {
		if ptr.Deref(d.CreateOption, "") == armcompute.DiskCreateOptionTypesEmpty {
			luns = append(luns, s.dataDisk(d.Lun, d.DiskSizeGB, d.Caching, diskOfVM(d.ManagedDisk)))
		}
	}
	s.luns(luns)
}

// nics are in the order in which machines have them. Backend pools of others are none of the model's.
func (s seen) nics(list []*armcompute.VirtualMachineScaleSetNetworkConfiguration) {
	s["nics"] = strconv.Itoa(len(list))
	for k, nic := range list {
		if nic == nil || nic.Properties == nil {
			continue
		}
		name := "nics." + strconv.Itoa(k)
		put(s, name+".acceleratedNetworking", nic.Properties.EnableAcceleratedNetworking)
		put(s, name+".forwarding", nic.Properties.EnableIPForwarding)
		var addresses []string
		for _, a := range nic.Properties.IPConfigurations {
			p := ptr.Deref(a.Properties, armcompute.VirtualMachineScaleSetIPConfigurationProperties{})
			subnet := ""
			if p.Subnet != nil {
				subnet = strings.ToLower(ptr.Deref(p.Subnet.ID, ""))
			}
			version := ptr.Deref(p.PrivateIPAddressVersion, "")
			if version == "" {
				version = armcompute.IPVersionIPv4
			}
			addresses = append(addresses, string(version)+" "+subnet)
		}
		slices.Sort(addresses)
		s[name+".addresses"] = strings.Join(addresses, ", ")
	}
}

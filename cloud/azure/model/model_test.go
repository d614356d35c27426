package model_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		reason, name, group string
		os                  azurev1.OSType
		want, field         string
	}{
		{"Linux keeps the object's name", "capz-mp-0", "", azurev1.LinuxOS, "capz-mp-0", ""},
		{"nothing said is Linux", "a-long-name-of-a-pool", "", "", "a-long-name-of-a-pool", ""},
		{"Windows keeps nine letters", "win-mp-01", "", azurev1.WindowsOS, "win-mp-01", ""},
		{"of more, Windows keeps the last five", "capz-mp-win", "", azurev1.WindowsOS, "win-p-win", ""},
		{"a user wants another name", "capz-mp-0", "mine", azurev1.LinuxOS, "mine", ""},
		{"a name that a user wants is never shortened", "x", "longer-than-nine", azurev1.WindowsOS, "", "annotation muster.dev/group-name"},
		{"host names have an end", strings.Repeat("a", 59), "", azurev1.LinuxOS, "", "metadata.name"},
		{"what Azure refuses", "x", "a b", azurev1.LinuxOS, "", "annotation muster.dev/group-name"},
		{"names do not end in a hyphen", "x", "ab-", azurev1.LinuxOS, "", "annotation muster.dev/group-name"},
	} {
		got, err := model.Name(cloud.Owner{Name: c.name, GroupName: c.group}, c.os)
		if got != c.want || fieldOf(err) != c.field {
			t.Errorf("%s: want %q (%s), got %q (%v)", c.reason, c.want, c.field, got, err)
		}
	}
}

// fieldOf is the field that an error names.
func fieldOf(err error) string {
	var e *cloud.Error
	if errors.As(err, &e) && e.Kind == cloud.Invalid {
		return e.Field
	}
	return ""
}

func TestImageOf(t *testing.T) {
	const community = "/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/"
	windows := seed()
	windows.Template.OSDisk.OSType, windows.Template.SSHPublicKey = azurev1.WindowsOS, ""
	named := func(i azurev1.Image) *azurev1.AzureMachinePoolSpec {
		s := seed()
		s.Template.Image = &i
		return s
	}
	for _, c := range []struct {
		reason          string
		spec            *azurev1.AzureMachinePoolSpec
		version, server string
		want            string
		plan            bool
		field           string
	}{
		{"the published one", seed(), "v1.36.3", "", community + "capi-ubun2-2404/Versions/1.36.3", false, ""},
		{"a version of which no image was published resolves all the same: Azure reports that there is none", seed(), "v1.22.0", "",
			community + "capi-ubun2-2404/Versions/1.22.0", false, ""},
		{"an older one comes from the Marketplace", seed(), "v1.28.3", "", "cncf-upstream/capi/ubuntu-2204-gen1/128.3.20231023", false, ""},
		{"the first version after these", seed(), "1.30.4", "", community + "capi-ubun2-2404/Versions/1.30.4", false, ""},
		{"a version between them that was never published there", seed(), "v1.29.0", "", community + "capi-ubun2-2404/Versions/1.29.0",
			false, ""},
		{"Windows", windows, "v1.36.3", "", community + "capi-win-2022-containerd/Versions/1.36.3", false, ""},
		{"another Windows", windows, "v1.36.3", "windows-2025", community + "capi-win-2025-containerd/Versions/1.36.3", false, ""},
		{"an older Windows", windows, "v1.29.1", "", "cncf-upstream/capi-windows/windows-2019-containerd-gen1/129.1.20240201", false, ""},
		{"an older version on a Windows that the Marketplace never had", windows, "v1.29.1", "windows-2022",
			community + "capi-win-2022-containerd/Versions/1.29.1", false, ""},
		{"no Windows", windows, "v1.36.3", "windows-xp", "", false, "annotation windowsServerVersion"},
		{"no version", seed(), "", "", "", false, "MachinePool spec.template.spec.version"},
		{"no such version", seed(), "latest", "", "", false, "MachinePool spec.template.spec.version"},
		{"by ID", named(azurev1.Image{ID: new("/subscriptions/s/i")}), "", "", "/subscriptions/s/i", false, ""},
		{"by the ID of a community's", named(azurev1.Image{ID: new("/communityGalleries/g/images/i")}), "", "", "/communityGalleries/g/images/i",
			false, ""},
		{"by the ID of one that is shared", named(azurev1.Image{ID: new("/sharedGalleries/g/images/i")}), "", "", "/sharedGalleries/g/images/i",
			false, ""},
		{"two at once", named(azurev1.Image{ID: new("/x"), Marketplace: &azurev1.AzureMarketplaceImage{}}), "", "", "", false,
			"spec.template.image"},
		{"none at all", named(azurev1.Image{}), "", "", "", false, "spec.template.image"},
		{"one that is sold", named(azurev1.Image{Marketplace: &azurev1.AzureMarketplaceImage{ImagePlan: azurev1.ImagePlan{Publisher: "p",
			Offer: "o", SKU: "s"}, Version: "latest", ThirdPartyImage: true}}), "", "", "p/o/s/latest", true, ""},
		{"one of one's own gallery, the latest",
			named(azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: "latest",
				SubscriptionID: new("s"), ResourceGroup: new("r")}}),
			"", "", "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/galleries/g/images/n", false, ""},
		{"the deprecated way to it", named(azurev1.Image{SharedGallery: &azurev1.AzureSharedGalleryImage{SubscriptionID: "s", ResourceGroup: "r",
			Gallery: "g", Name: "n", Version: "1.0.0", Publisher: new("p"), Offer: new("o"), SKU: new("k")}}),
			"", "", "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/galleries/g/images/n/versions/1.0.0", true, ""},
	} {
		image, err := model.ImageOf(c.spec, c.version, c.server)
		if fieldOf(err) != c.field {
			t.Errorf("%s: want an error about %q, got %v", c.reason, c.field, err)
		}
		if err != nil {
			continue
		}
		text, err := image.Text()
		if err != nil || !model.IsImage(text) {
			t.Errorf("%s: want it remembered, got %q, %v", c.reason, text, err)
		}
		again, err := model.ParseImage(text)
		if err != nil {
			t.Errorf("%s: want it read again, got %v", c.reason, err)
		}
		in := input(t, seed())
		in.Source.Pool, in.Image = c.spec, again
		set := build(t, in).Set
		r := set.Properties.VirtualMachineProfile.StorageProfile.ImageReference
		got := ptr.Deref(r.ID, "") + ptr.Deref(r.CommunityGalleryImageID, "") + ptr.Deref(r.SharedGalleryImageID, "")
		if r.Publisher != nil {
			got = strings.Join([]string{*r.Publisher, *r.Offer, *r.SKU, *r.Version}, "/")
		}
		if got != c.want || (set.Plan != nil) != c.plan {
			t.Errorf("%s: want %s (plan %t), got %s (%v)", c.reason, c.want, c.plan, got, set.Plan)
		}
	}
	for _, text := range []string{"", "{}", "x", `{"id":"a","marketplace":{}}`} {
		if model.IsImage(text) {
			t.Errorf("%q: want it asked for again, got an image", text)
		}
	}
}

// What Azure would refuse is refused before, with the field.
func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, want string
		change       func(in *model.Input)
	}{
		{"no key", "spec.template.sshPublicKey", func(in *model.Input) { in.Source.Pool.Template.SSHPublicKey = "" }},
		{"no base64", "spec.template.sshPublicKey", func(in *model.Input) { in.Source.Pool.Template.SSHPublicKey = "ssh-rsa AAA" }},
		{"no key within", "spec.template.sshPublicKey", func(in *model.Input) {
			in.Source.Pool.Template.SSHPublicKey = base64.StdEncoding.EncodeToString([]byte("-----BEGIN"))
		}},
		{"Flexible with an identity of the scale set's", "spec.identity", func(in *model.Input) {
			in.Source.Pool.Identity, in.Source.Pool.OrchestrationMode = azurev1.VMIdentitySystemAssigned, azurev1.FlexibleOrchestrationMode
		}},
		{"no identity", "spec.userAssignedIdentities", func(in *model.Input) { in.Source.Pool.Identity = azurev1.VMIdentityUserAssigned }},
		{"an identity's name instead of its ID", "spec.userAssignedIdentities[0].providerID", func(in *model.Input) {
			in.Source.Pool.Identity, in.Source.Pool.UserAssignedIdentities = azurev1.VMIdentityUserAssigned,
				[]azurev1.UserAssignedIdentity{{ProviderID: "mine"}}
		}},
		{"too much bootstrap data", "MachinePool spec.template.spec.bootstrap", func(in *model.Input) {
			in.Bootstrap = cloud.NewBootstrap(make([]byte, 65536), "cloud-config")
		}},
		{"no subnet", "spec.template.networkInterfaces[0].subnetName", func(in *model.Input) { in.Source.Cluster.Subnets = nil }},
		{"no network", "AzureCluster spec.networkSpec.vnet", func(in *model.Input) { in.Source.Cluster.Vnet.Name = "" }},
		{"no resource group", "AzureCluster spec.resourceGroup", func(in *model.Input) { in.Source.Cluster.ResourceGroup = "" }},
		{"a disk's number", "spec.template.dataDisks[0].lun", func(in *model.Input) {
			in.Source.Pool.Template.DataDisks = []azurev1.DataDisk{{NameSuffix: "a", Lun: new(int32(64))}}
		}},
		{"a tag with a slash", "spec.additionalTags", func(in *model.Input) { in.Source.Pool.AdditionalTags = azurev1.Tags{"a/b": ""} }},
		{"a cluster's tag with a slash", "AzureCluster spec.additionalTags",
			func(in *model.Input) { in.Source.Cluster.AdditionalTags = azurev1.Tags{"a/b": ""} }},
		{"a tag of Muster's", "spec.additionalTags",
			func(in *model.Input) { in.Source.Pool.AdditionalTags = azurev1.Tags{"Muster.dev_owner": "me"} }},
		{"a long value", "spec.additionalTags", func(in *model.Input) {
			in.Source.Pool.AdditionalTags = azurev1.Tags{"a": strings.Repeat("x", 257)}
		}},
		{"too many tags", "spec.additionalTags", func(in *model.Input) {
			in.Source.Pool.AdditionalTags = azurev1.Tags{}
			for k := range 38 {
				in.Source.Pool.AdditionalTags[strings.Repeat("x", k+1)] = ""
			}
		}},
	} {
		in := input(t, seed())
		c.change(&in)
		if _, err := model.Build(in); fieldOf(err) != c.want {
			t.Errorf("%s: want it refused at %s, got %v", c.reason, c.want, err)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		reason, want string
		says         map[string]string
		change       func(in *model.Input)
	}{
		{"a usual size", "", nil, nil},
		{"nothing is known of it", "", nil, func(in *model.Input) { in.Size = nil }},
		{"too few CPUs", "spec.template.vmSize", map[string]string{"vCPUs": "1"}, nil},
		{"too little memory", "spec.template.vmSize", map[string]string{"MemoryGB": "1.75"}, nil},
		{"just enough", "", map[string]string{"MemoryGB": "2"}, nil},
		{"zones that are offered", "", nil, func(in *model.Input) { in.FailureDomains = []string{"1", "3"} }},
		{"a zone that is not", "MachinePool spec.failureDomains", nil, func(in *model.Input) { in.FailureDomains = []string{"1", "4"} }},
		{"a zone that this subscription has no access to", "MachinePool spec.failureDomains", nil, func(in *model.Input) {
			in.FailureDomains = []string{"2"}
			in.Size.Restrictions = []*armcompute.ResourceSKURestrictions{{Type: new(armcompute.ResourceSKURestrictionsTypeZone),
				RestrictionInfo: &armcompute.ResourceSKURestrictionInfo{Zones: []*string{new("2")}}}}
		}},
		{"a region that this subscription has no access to", "spec.template.vmSize", nil, func(in *model.Input) {
			in.Size.Restrictions = []*armcompute.ResourceSKURestrictions{{Type: new(armcompute.ResourceSKURestrictionsTypeLocation)}}
		}},
		{"a disk of the host's own", "", nil, func(in *model.Input) {
			in.Source.Pool.Template.OSDisk.DiffDiskSettings = &azurev1.DiffDiskSettings{Option: "Local"}
		}},
		{"which the size has none for", "spec.template.osDisk.diffDiskSettings", map[string]string{"EphemeralOSDiskSupported": "False"},
			func(in *model.Input) {
				in.Source.Pool.Template.OSDisk.DiffDiskSettings = &azurev1.DiffDiskSettings{Option: "Local"}
			}},
		{"or not there", "spec.template.osDisk.diffDiskSettings.placement",
			map[string]string{"SupportedEphemeralOSDiskPlacements": "ResourceDisk,CacheDisk"}, func(in *model.Input) {
				in.Source.Pool.Template.OSDisk.DiffDiskSettings = &azurev1.DiffDiskSettings{Option: "Local",
					Placement: new(azurev1.DiffDiskPlacementNvmeDisk)}
			}},
		{"too many disks", "spec.template.dataDisks", nil,
			func(in *model.Input) { in.Source.Pool.Template.DataDisks = make([]azurev1.DataDisk, 5) }},
		{"ultra disks in zones that have them", "", nil, func(in *model.Input) { ultra(in, "1", "2") }},
		{"ultra disks in a zone that has none", "spec.template.additionalCapabilities.ultraSSDEnabled", nil,
			func(in *model.Input) { ultra(in, "1", "3") }},
		{"ultra disks in no zone", "", nil, func(in *model.Input) { ultra(in) }},
		{"ultra disks nowhere", "spec.template.additionalCapabilities.ultraSSDEnabled", nil, func(in *model.Input) {
			ultra(in)
			in.Size.LocationInfo = nil
		}},
		{"encryption at the host", "spec.template.securityProfile.encryptionAtHost", map[string]string{"EncryptionAtHostSupported": "False"},
			func(in *model.Input) {
				in.Source.Pool.Template.SecurityProfile = &azurev1.SecurityProfile{EncryptionAtHost: new(true)}
			}},
		{"trusted launch without encryption at the host, where the size has none", "", map[string]string{"EncryptionAtHostSupported": "False"},
			func(in *model.Input) {
				in.Source.Pool.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesTrustedLaunch}
			}},
		{"trusted launch", "spec.template.securityProfile.securityType", map[string]string{"TrustedLaunchDisabled": "True"},
			func(in *model.Input) {
				in.Source.Pool.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesTrustedLaunch}
			}},
		{"trusted launch on an old generation", "spec.template.securityProfile.securityType", map[string]string{"HyperVGenerations": "V1"},
			func(in *model.Input) {
				in.Source.Pool.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesTrustedLaunch}
			}},
		{"confidential", "spec.template.securityProfile.securityType", nil, func(in *model.Input) {
			in.Source.Pool.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesConfidentialVM}
		}},
		{"confidential where the size is", "", map[string]string{"ConfidentialComputingType": "SNP"}, func(in *model.Input) {
			in.Source.Pool.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesConfidentialVM}
		}},
		{"too many interfaces", "spec.template.networkInterfaces", nil,
			func(in *model.Input) { in.Source.Pool.Template.NetworkInterfaces = make([]azurev1.NetworkInterface, 3) }},
		{"accelerated networking that is asked for", "spec.template.networkInterfaces[1].acceleratedNetworking",
			map[string]string{"AcceleratedNetworkingEnabled": "False"}, func(in *model.Input) {
				in.Source.Pool.Template.NetworkInterfaces = []azurev1.NetworkInterface{{}, {AcceleratedNetworking: new(true)}}
			}},
		{"accelerated networking that is not asked for", "", map[string]string{"AcceleratedNetworkingEnabled": "False"}, nil},
		{"spot", "spec.template.spotVMOptions", map[string]string{"LowPriorityCapable": "False"},
			func(in *model.Input) { in.Source.Pool.Template.SpotVMOptions = &azurev1.SpotVMOptions{} }},
	} {
		in := input(t, seed())
		in.Size = size(c.says)
		if c.change != nil {
			c.change(&in)
		}
		if err := model.Fits(in); fieldOf(err) != c.want || err == nil != (c.want == "") {
			t.Errorf("%s: want it refused at %q, got %v", c.reason, c.want, err)
		}
	}
	if err := model.NoSize(seed(), "westus2"); fieldOf(err) != "spec.template.vmSize" {
		t.Errorf("want the size named, got %v", err)
	}
}

// ultra asks for an ultra disk in some zones.
func ultra(in *model.Input, zones ...string) {
	in.FailureDomains = zones
	in.Source.Pool.Template.DataDisks = []azurev1.DataDisk{{NameSuffix: "a", DiskSizeGB: 1,
		ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "UltraSSD_LRS"}}}
}

// What is sent in cases that today's provider gets wrong.
func TestWhatIsSent(t *testing.T) {
	in := input(t, seed())
	in.Source.Pool.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesTrustedLaunch}
	in.Source.Pool.ZoneBalance, in.FailureDomains = new(true), []string{"1"}
	m := build(t, in)
	p := m.Set.Properties
	if s := p.VirtualMachineProfile.SecurityProfile; ptr.Deref(s.SecurityType, "") != armcompute.SecurityTypesTrustedLaunch ||
		s.EncryptionAtHost != nil || s.UefiSettings != nil {
		t.Errorf("want trusted launch alone, without a panic for what is not said, got %+v", s)
	}
	if p.ZoneBalance != nil {
		t.Error("want no balance over one zone")
	}
	if d := p.VirtualMachineProfile.DiagnosticsProfile; !*d.BootDiagnostics.Enabled {
		t.Error("want diagnostics where nothing is said")
	}
	if p.PlatformFaultDomainCount != nil || !slices.Equal([]string{"1"}, []string{*m.Set.Zones[0]}) {
		t.Errorf("want fault domains left to Azure and zone 1, got %v and %v", p.PlatformFaultDomainCount, m.Set.Zones)
	}
	in.Source.Pool.OrchestrationMode, in.FailureDomains = azurev1.FlexibleOrchestrationMode, nil
	in.Source.Pool.Template.SpotVMOptions = &azurev1.SpotVMOptions{}
	m = build(t, in)
	p = m.Set.Properties
	if ptr.Deref(p.PlatformFaultDomainCount, 0) != 1 || p.Overprovision != nil ||
		p.VirtualMachineProfile.NetworkProfile.NetworkAPIVersion == nil || m.Set.Zones != nil {
		t.Errorf("want what a Flexible scale set has to have, got %+v", p)
	}
	if *p.VirtualMachineProfile.EvictionPolicy != armcompute.VirtualMachineEvictionPolicyTypesDeallocate ||
		p.VirtualMachineProfile.BillingProfile != nil {
		t.Errorf("want machines kept that Azure takes back, at any price, got %v and %v", p.VirtualMachineProfile.EvictionPolicy,
			p.VirtualMachineProfile.BillingProfile)
	}
}

// The password of Windows follows from what is as secret, opens no other pool, and makes no machine stale.
func TestWindowsPassword(t *testing.T) {
	in := input(t, seed())
	in.Source.Pool.Template.OSDisk.OSType = azurev1.WindowsOS
	password := func() string { return *build(t, in).Set.Properties.VirtualMachineProfile.OSProfile.AdminPassword }
	first, content := password(), build(t, in).Content
	if again := password(); again != first || len(first) < 12 {
		t.Error("want the same long password for the same request")
	}
	in.Owner.ID = "another"
	if password() == first {
		t.Error("want another pool to have another password")
	}
	in.Owner = owner()
	in.Bootstrap = cloud.NewBootstrap([]byte("other"), "cloud-config")
	if password() == first || build(t, in).Content != content {
		t.Error("want other data to give another password and the same content")
	}
	in.Bootstrap = cloud.Bootstrap{}
	if p := build(t, in).Set.Properties.VirtualMachineProfile.OSProfile; p.AdminPassword != nil || p.CustomData != nil {
		t.Error("want no password without bootstrap data")
	}
}

func TestRoleOf(t *testing.T) {
	source := &azurev1.MachinePoolSource{Pool: seed(), Cluster: cluster()}
	if _, ok := model.RoleOf(owner(), source); ok {
		t.Error("want no role without an identity of the scale set's own")
	}
	source.Pool.Identity = azurev1.VMIdentitySystemAssigned
	got, ok := model.RoleOf(owner(), source)
	if want := (model.Role{Name: got.Name, Scope: "/subscriptions/" + subID,
		DefinitionID: "/subscriptions/" + subID +
			"/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"}); !ok || got != want {
		t.Errorf("want %+v, got %+v", want, got)
	}
	if again, _ := model.RoleOf(owner(), source); again != got || len(got.Name) != 36 || got.Name[14] != '5' ||
		!strings.ContainsRune("89ab", rune(got.Name[19])) {
		t.Errorf("want a GUID that is the same each time, got %s and %s", got.Name, again.Name)
	}
	if other, _ := model.RoleOf(cloud.Owner{ID: "another"}, source); other.Name == got.Name {
		t.Error("want another owner to have another assignment")
	}
	source.Pool.SystemAssignedIdentityRole = &azurev1.SystemAssignedIdentityRole{Name: "AAAAAAAA-0000-0000-0000-000000000000",
		Scope: "/subscriptions/x/", DefinitionID: "/d"}
	if got, _ := model.RoleOf(owner(), source); got != (model.Role{Name: "aaaaaaaa-0000-0000-0000-000000000000", Scope: "/subscriptions/x",
		DefinitionID: "/d"}) {
		t.Errorf("want what is asked for, got %+v", got)
	}
}

package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
)

// maybe draws a value or nothing.
func maybe[T any](t *rapid.T, name string, from ...T) *T {
	if !rapid.Bool().Draw(t, name+"?") {
		return nil
	}
	return new(rapid.SampledFrom(from).Draw(t, name))
}

// drawn is any specification that admission lets through, as far as the model is concerned.
func drawn(t *rapid.T) *azurev1.AzureMachinePoolSpec {
	s := seed()
	s.OrchestrationMode = rapid.SampledFrom([]azurev1.OrchestrationModeType{"", azurev1.UniformOrchestrationMode,
		azurev1.FlexibleOrchestrationMode}).Draw(t, "mode")
	s.PlatformFaultDomainCount = maybe(t, "faults", int32(1), 5)
	s.ZoneBalance = maybe(t, "balance", true, false)
	s.AdditionalTags = rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.StringMatching(`[a-z]{0,3}`), 0, 3).Draw(t, "tags")
	if rapid.Bool().Draw(t, "identity") {
		s.Identity = azurev1.VMIdentityUserAssigned
		for _, id := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z]{1,3}`), 1, 3, strings.ToLower).Draw(t, "identities") {
			s.UserAssignedIdentities = append(s.UserAssignedIdentities, azurev1.UserAssignedIdentity{ProviderID: "azure:///subscriptions/s/" + id})
		}
	}
	d := &s.Template
	d.VMSize = rapid.SampledFrom([]string{"Standard_D2s_v3", "standard_d4s_v5", "Standard_D2ps_v5"}).Draw(t, "size")
	d.OSDisk.DiskSizeGB, d.OSDisk.CachingType = maybe(t, "disk", int32(30), 100),
		ptr.Deref(maybe(t, "caching", azurev1.CachingNone, azurev1.CachingReadWrite), "")
	if rapid.Bool().Draw(t, "unmanaged") {
		d.OSDisk.ManagedDisk = nil
	}
	for k := range rapid.IntRange(0, 3).Draw(t, "disks") {
		disk := azurev1.DataDisk{NameSuffix: string(rune('a' + k)), DiskSizeGB: rapid.Int32Range(1, 9).Draw(t, "GB"),
			CachingType: ptr.Deref(maybe(t, "data caching", azurev1.CachingNone, azurev1.CachingReadOnly), "")}
		if rapid.Bool().Draw(t, "lun") {
			disk.Lun = new(int32(40 - k))
		}
		if kind := maybe(t, "storage", "Premium_LRS", "UltraSSD_LRS"); kind != nil {
			disk.ManagedDisk = &azurev1.ManagedDiskParameters{StorageAccountType: *kind}
		}
		d.DataDisks = append(d.DataDisks, disk)
	}
	if rapid.Bool().Draw(t, "spot") {
		d.SpotVMOptions = &azurev1.SpotVMOptions{EvictionPolicy: maybe(t, "eviction", azurev1.SpotEvictionPolicyDelete,
			azurev1.SpotEvictionPolicyDeallocate)}
		if price := maybe(t, "price", "0.1", "-1", "2"); price != nil {
			d.SpotVMOptions.MaxPrice = new(resource.MustParse(*price))
		}
	}
	if rapid.Bool().Draw(t, "security") {
		d.SecurityProfile = &azurev1.SecurityProfile{EncryptionAtHost: maybe(t, "host", true, false),
			SecurityType: ptr.Deref(maybe(t, "type", azurev1.SecurityTypesTrustedLaunch), "")}
		if d.SecurityProfile.SecurityType != "" && rapid.Bool().Draw(t, "uefi") {
			d.SecurityProfile.UefiSettings = &azurev1.UefiSettings{SecureBootEnabled: maybe(t, "boot", true, false),
				VTpmEnabled: maybe(t, "tpm", true, false)}
		}
	}
	if kind := maybe(t, "diagnostics", azurev1.DisabledDiagnosticsStorage, azurev1.ManagedDiagnosticsStorage,
		azurev1.UserManagedDiagnosticsStorage); kind != nil {
		d.Diagnostics = &azurev1.Diagnostics{Boot: &azurev1.BootDiagnostics{StorageAccountType: *kind}}
		if *kind == azurev1.UserManagedDiagnosticsStorage {
			d.Diagnostics.Boot.UserManaged = &azurev1.UserManagedBootDiagnostics{StorageAccountURI: rapid.SampledFrom([]string{"https://a/",
				"https://b"}).Draw(t, "account")}
		}
	}
	d.TerminateNotificationTimeout = maybe(t, "notice", 5, 15)
	for range rapid.IntRange(0, 2).Draw(t, "nics") {
		d.NetworkInterfaces = append(d.NetworkInterfaces, azurev1.NetworkInterface{
			SubnetName: ptr.Deref(maybe(t, "subnet", "capz-node-subnet", "other"), ""), PrivateIPConfigs: rapid.IntRange(0, 2).Draw(t, "addresses"),
			AcceleratedNetworking: maybe(t, "accelerated", true, false),
		})
	}
	if rapid.Bool().Draw(t, "extension") {
		d.VMExtensions = []azurev1.VMExtension{{Name: "e", Publisher: "p", Version: "1.0",
			ProtectedSettings: map[string]string{"s": rapid.StringN(0, 3, 9).Draw(t, "secret")}}}
	}
	d.Image = maybe(t, "image",
		azurev1.Image{ID: new("/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/images/i")},
		azurev1.Image{Marketplace: &azurev1.AzureMarketplaceImage{ImagePlan: azurev1.ImagePlan{Publisher: "p", Offer: "o", SKU: "s"},
			Version: "latest", ThirdPartyImage: true}},
		azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: "latest", SubscriptionID: new("s"),
			ResourceGroup: new("g")}},
	)
	return s
}

// Whatever Azure makes of what it was sent (IDs in another case, defaults filled in, secrets left out, zones in another order, backend
// pools and tags of others beside ours), what it shows is what was asked for: nothing is written again, and no machine is stale.
func TestWhatAzureShowsIsWhatWasAsked(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := input(t, drawn(r))
		in.FailureDomains = rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3"}), 0, 4).Draw(r, "zones")
		if rapid.Bool().Draw(r, "no size") {
			in.Size = nil
		}
		m := build(t, in)
		cur := echo(t, m)
		cur.Set.Tags["of another client"] = new("x")
		cur = model.Read(cur.Set)
		fits, fixed := m.Onto(cur)
		c := fits.Against(cur)
		if got := c.State; got.Content != m.Content || len(got.Differs)+len(got.Drift)+len(fixed) > 0 {
			r.Fatalf("want content %s and nothing to do, got %+v", m.Content, got)
		}
		// Machines that were made of it, whether they have taken up a later one or not, and one whose tags a user has taken away: they
		// are given what can't be seen of them, and not replaced.
		late, bare := uniform(cur), uniform(cur)
		late.Properties.LatestModelApplied, bare.Tags = new(false), nil
		flexibleBare := flexible(cur)
		flexibleBare.Tags = nil
		var hidden []string
		for _, e := range m.Set.Properties.VirtualMachineProfile.ExtensionProfile.Extensions {
			if e.Properties.ProtectedSettings != nil {
				hidden = []string{model.FieldExtensions}
			}
		}
		all := append([]string{model.FieldTags}, hidden...)
		for _, is := range []struct {
			name   string
			got    model.Instance
			behind []string
		}{
			{"uniform", c.Uniform(uniform(cur)), nil}, {"uniform, late", c.Uniform(late), hidden}, {"uniform without tags", c.Uniform(bare), all},
			{"flexible", c.Flexible(flexible(cur)), nil}, {"flexible without tags", c.Flexible(flexibleBare), all},
		} {
			if is.got.Content != m.Content || len(is.got.Differs) > 0 || !slices.Equal(is.got.InPlaceDrift, is.behind) {
				r.Fatalf("%s: want content %s, behind in %v and no more, got %+v", is.name, m.Content, is.behind, is.got)
			}
		}
	})
}

// From any specification to any other: one change of the model and one in place, and nothing is left to do but what Azure does not
// change, which is named and stays. The capacity is never touched, and neither is what belongs to others.
func TestOneChangeIsEnough(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		before, after := input(t, drawn(r)), input(t, drawn(r))
		before.Bootstrap, after.Owner = cloud.NewBootstrap([]byte("#cloud-config\n"), "cloud-config"), before.Owner
		cur := echo(t, build(t, before))
		cur.Set.Tags["of another client"] = new("x")
		cur = model.Read(cur.Set)
		asked := build(t, after)
		m, fixed := asked.Onto(cur)
		change := m.Change(cur)
		next := model.Read(patched(t, cur.Set, change))
		got := m.Against(next).State
		_, still := asked.Onto(next)
		if got.Content != m.Content || len(got.Differs)+len(got.Drift) > 0 || !slices.Equal(still, fixed) {
			r.Fatalf("want content %s and nothing but %v left to do, got %+v and %v", m.Content, fixed, got, still)
		}
		if next.Capacity() != cur.Capacity() || change.SKU != nil && *change.SKU.Capacity != *cur.Set.SKU.Capacity {
			r.Fatalf("want capacity %d, got %d", cur.Capacity(), next.Capacity())
		}
		if model.Tag(next.Set.Tags, "of another client") != "x" {
			r.Fatalf("want the tags of others left alone, got %v", next.Set.Tags)
		}
		if n := change.Properties.VirtualMachineProfile.NetworkProfile; n != nil &&
			len(n.NetworkInterfaceConfigurations[0].Properties.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools) != 2 {
			r.Fatal("want our backend pool and that of the cloud provider")
		}
		if p := change.Properties.VirtualMachineProfile; p.StorageProfile.OSDisk.ManagedDisk != nil ||
			p.StorageProfile.OSDisk.DiffDiskSettings != nil {
			r.Fatal("want nothing sent that Azure does not change")
		}
		in := model.Read(patched(t, cur.Set, m.InPlaceChange(cur)))
		if in.Content != cur.Content || in.Data != cur.Data || in.InPlace != m.InPlace {
			r.Fatalf("want a change in place to leave content %s, got %+v", cur.Content, in)
		}
	})
}

// A machine is what it was made from, whatever order lists are in and whichever client changes it.
func TestContentDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spec := drawn(r)
		a := input(t, spec)
		a.FailureDomains = []string{"1", "2"}
		turned := spec.DeepCopy()
		backwards(turned.UserAssignedIdentities)
		withLuns := slices.IndexFunc(spec.Template.DataDisks, func(d azurev1.DataDisk) bool { return d.Lun == nil }) < 0
		if withLuns {
			backwards(turned.Template.DataDisks)
		}
		b := input(t, turned)
		b.FailureDomains, b.Bootstrap, b.Size = []string{"2", "1", "1"}, cloud.NewBootstrap([]byte("other"), "cloud-config"), nil
		first, second := build(t, a), build(t, b)
		if first.Content != second.Content || first.InPlace != second.InPlace {
			r.Fatalf("want %s and %s, got %s and %s", first.Content, first.InPlace, second.Content, second.InPlace)
		}
		if first.Data == second.Data {
			r.Fatal("want other bootstrap data told apart")
		}
	})
}

// What Azure shows, however little or odd, is read without a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{}`), []byte(`{}`))
	f.Add([]byte(`{"tags":{"muster.dev_tags":"abc"},"properties":{"virtualMachineProfile":{"networkProfile":{"networkInterfaceConfigurations":[{}]},"storageProfile":{"dataDisks":[{}]}}}}`), []byte(`{"properties":{"storageProfile":{"osDisk":{}}}}`))
	f.Fuzz(func(t *testing.T, text, machine []byte) {
		var set armcompute.VirtualMachineScaleSet
		var vm armcompute.VirtualMachineScaleSetVM
		if set.UnmarshalJSON(text) != nil || vm.UnmarshalJSON(machine) != nil {
			return
		}
		cur := model.Read(set)
		m, _ := build(t, input(t, seed())).Onto(cur)
		c := m.Against(cur)
		c.Uniform(vm)
		m.Change(cur)
		m.InPlaceChange(cur)
		model.Resize(cur, 3, map[string]string{model.TagSurge: "1/3"})
		if c.State.Content == "" {
			t.Errorf("want some content of %s, got none", text)
		}
	})
}

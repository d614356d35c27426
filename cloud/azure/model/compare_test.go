package model_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
)

// A user changes a scale set by hand, without touching its tags.
func TestChangedByHand(t *testing.T) {
	rich := func() *azurev1.AzureMachinePoolSpec {
		s := bases()[0]
		s.Template.OSDisk.ManagedDisk.SecurityProfile = nil
		s.AdditionalTags = azurev1.Tags{"team": "pool"}
		return s
	}
	for _, c := range []struct {
		reason                       string
		change                       func(set *armcompute.VirtualMachineScaleSet)
		differs, drift, unchangeable []string
	}{
		{"nothing", func(*armcompute.VirtualMachineScaleSet) {}, nil, nil, nil},
		{"the size", func(s *armcompute.VirtualMachineScaleSet) { s.SKU.Name = new("Standard_D8s_v3") }, []string{"spec.template.vmSize"},
			nil, nil},
		{"the size's case", func(s *armcompute.VirtualMachineScaleSet) { s.SKU.Name = new("standard_d2S_v3") }, nil, nil, nil},
		{"the capacity", func(s *armcompute.VirtualMachineScaleSet) { s.SKU.Capacity = new(int64(9)) }, nil, nil, nil},
		{"the image", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.StorageProfile.ImageReference.CommunityGalleryImageID = new("/CommunityGalleries/x")
		}, []string{"spec.template.image"}, nil, nil},
		{"a data disk is gone", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.StorageProfile.DataDisks = nil
		}, []string{"spec.template.dataDisks"}, nil, nil},
		{"the key", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.OSProfile.LinuxConfiguration.SSH.PublicKeys[0].KeyData = new("ssh-rsa OTHER")
		}, []string{"spec.template.sshPublicKey"}, nil, nil},
		{"the key's comment and line end", func(s *armcompute.VirtualMachineScaleSet) {
			key := s.Properties.VirtualMachineProfile.OSProfile.LinuxConfiguration.SSH.PublicKeys[0]
			key.KeyData = new(strings.Replace(*key.KeyData, "somebody@example", "", 1) + "\r\n")
		}, nil, nil, nil},
		{"a subnet", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.NetworkProfile.NetworkInterfaceConfigurations[0].Properties.IPConfigurations[0].Properties.Subnet.ID =
				new("/other")
		}, []string{"spec.template.networkInterfaces"}, nil, nil},
		{"an identity", func(s *armcompute.VirtualMachineScaleSet) {
			s.Identity.UserAssignedIdentities["/subscriptions/s/more"] = &armcompute.UserAssignedIdentitiesValue{}
		}, []string{"spec.userAssignedIdentities"}, nil, nil},
		{"what Azure shows in its own way is left alone", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.DiagnosticsProfile.BootDiagnostics.StorageURI = new("https://mine.blob.core.windows.net:443/x")
		}, nil, nil, nil},
		{"a tag of the user's is gone", func(s *armcompute.VirtualMachineScaleSet) { delete(s.Tags, "team") }, nil,
			[]string{"spec.additionalTags"}, nil},
		{"a tag of the user's has another value", func(s *armcompute.VirtualMachineScaleSet) { s.Tags["team"] = new("x") }, nil,
			[]string{"spec.additionalTags"}, nil},
		{"a tag is spelled in another case", func(s *armcompute.VirtualMachineScaleSet) { delete(s.Tags, "team"); s.Tags["TEAM"] = new("pool") },
			nil, nil, nil},
		{"a tag of another owner's", func(s *armcompute.VirtualMachineScaleSet) { s.Tags["policy"] = new("x") }, nil, nil, nil},
		{"the hash of what is changed in place is gone", func(s *armcompute.VirtualMachineScaleSet) { delete(s.Tags, model.TagInPlace) }, nil,
			[]string{"spec.additionalTags", "spec.template.vmExtensions"}, nil},
		{"an extension is gone", func(s *armcompute.VirtualMachineScaleSet) { s.Properties.VirtualMachineProfile.ExtensionProfile = nil }, nil,
			[]string{"spec.template.vmExtensions"}, nil},
		{"an extension has settings of before", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.ExtensionProfile.Extensions[0].Properties.Settings = map[string]any{"level": "before"}
		}, nil, []string{"spec.template.vmExtensions"}, nil},
		{"an extension's publisher is shown in another case", func(s *armcompute.VirtualMachineScaleSet) {
			is := s.Properties.VirtualMachineProfile.ExtensionProfile.Extensions[0].Properties
			is.Publisher = new(strings.ToUpper(*is.Publisher))
		}, nil, nil, nil},
		{"a zone is missing", func(s *armcompute.VirtualMachineScaleSet) { s.Zones = s.Zones[:1] }, nil,
			[]string{"MachinePool spec.failureDomains"}, nil},
		{"a zone too many", func(s *armcompute.VirtualMachineScaleSet) { s.Zones = append(s.Zones, new("3")) }, nil, nil,
			[]string{"MachinePool spec.failureDomains"}},
		{"Azure would replace machines by itself", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.UpgradePolicy.Mode = new(armcompute.UpgradeModeAutomatic)
		}, nil, []string{"upgradePolicy"}, nil},
		{"another disk", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.StorageProfile.OSDisk.ManagedDisk.StorageAccountType = new(armcompute.StorageAccountTypesStandardLRS)
		}, nil, nil, []string{"spec.template.osDisk.managedDisk"}},
		{"spot", func(s *armcompute.VirtualMachineScaleSet) {
			s.Properties.VirtualMachineProfile.Priority = new(armcompute.VirtualMachinePriorityTypesSpot)
		}, nil, nil, []string{"spec.template.spotVMOptions"}},
		{"another region", func(s *armcompute.VirtualMachineScaleSet) { s.Location = new("East US") }, nil, nil, []string{"spec.location"}},
		{"the region as people write it", func(s *armcompute.VirtualMachineScaleSet) { s.Location = new("West US 2") }, nil, nil, nil},
	} {
		in := input(t, rich())
		in.FailureDomains = []string{"1", "2"}
		m := build(t, in)
		cur := echo(t, m)
		made := uniform(cur)
		made.Tags = maps.Clone(made.Tags)
		set := copied(t, cur.Set)
		c.change(&set)
		now := model.Read(set)
		comparison := m.Against(now)
		got := comparison.State
		_, fixed := m.Onto(now)
		if !slices.Equal(got.Differs, c.differs) || !slices.Equal(got.Drift, c.drift) || !slices.Equal(fixed, c.unchangeable) {
			t.Errorf("%s: want differs %v, drift %v, fixed %v, got %+v, %v", c.reason, c.differs, c.drift, c.unchangeable, got, fixed)
		}
		if changed := got.Content != m.Content; changed != (len(c.differs) > 0) || changed && !strings.HasPrefix(got.Content, "seen:") ||
			changed != (len(got.Changes) > 0) {
			t.Errorf("%s: want content of its own: %t, got %s (%v)", c.reason, len(c.differs) > 0, got.Content, got.Changes)
		}
		// A machine that was made before is what was asked for; one that was made since is not, whatever its tag says.
		if is := comparison.Uniform(made); is.Content != m.Content {
			t.Errorf("%s: want a machine from before to have the wanted content, got %+v", c.reason, is)
		}
		if is := comparison.Uniform(uniform(now)); (is.Content != m.Content) != (len(c.differs) > 0) || !slices.Equal(is.Differs, c.differs) {
			t.Errorf("%s: want a machine made since to differ in %v, got %+v", c.reason, c.differs, is)
		}
	}
}

// What a machine is told from, in the cases in which its tag is not enough.
func TestInstances(t *testing.T) {
	wanted := seed()
	wanted.Template.VMSize = "Standard_D4s_v3"
	before, after := build(t, input(t, seed())), build(t, input(t, wanted))
	old, now := echo(t, before), echo(t, after)
	retagged := uniform(old)
	retagged.Tags, retagged.Properties.LatestModelApplied = maps.Clone(now.Set.Tags), new(false)
	oldest := seed()
	oldest.Template.VMSize = "Standard_D8s_v3"
	ancient := uniform(echo(t, build(t, input(t, oldest))))
	ancient.Tags, ancient.Properties.LatestModelApplied = maps.Clone(old.Set.Tags), new(false)
	untagged := uniform(old)
	untagged.Tags = nil
	rotated := uniform(now)
	rotated.Tags = maps.Clone(now.Set.Tags)
	rotated.Tags[model.TagData], rotated.Properties.LatestModelApplied = new("0123456789ab"), new(false)
	resized := uniform(now)
	resized.SKU.Name, resized.Tags = new("Standard_D2s_v3"), maps.Clone(now.Set.Tags)
	ignored := flexible(old) // Azure took the tags of a change alone when it was made
	ignored.Tags = maps.Clone(now.Set.Tags)
	unknown := flexible(old)
	unknown.Tags = nil
	size := []string{"spec.template.vmSize"}
	for _, c := range []struct {
		reason, want string
		got          model.Instance
		differs      []string
	}{
		{"of the present model", after.Content, after.Against(now).Uniform(uniform(now)), nil},
		{"of an older one", before.Content, after.Against(now).Uniform(uniform(old)), size},
		{"before the scale set is changed, all are of the old one", before.Content, after.Against(old).Uniform(uniform(old)), size},
		{"an older one, and a user tagged all alike", "seen:", after.Against(now).Uniform(retagged), size},
		{"still older, and a user tagged all alike before", "seen:", after.Against(old).Uniform(ancient), size},
		{"an older one without tags", "seen:", after.Against(now).Uniform(untagged), size},
		{"of the present model, with older bootstrap data", after.Content, after.Against(now).Uniform(rotated), nil},
		{"a user has resized one machine, which Azure tells of in no other way", after.Content, after.Against(now).Uniform(resized), nil},
		{"a Flexible one of the present model", after.Content, after.Against(now).Flexible(flexible(now)), nil},
		{"a Flexible one of an older one", before.Content, after.Against(now).Flexible(flexible(old)), size},
		{"a Flexible one with the tags of the present model alone", "seen:", after.Against(now).Flexible(ignored), size},
		{"a Flexible one without tags", "seen:", after.Against(now).Flexible(unknown), size},
	} {
		if !strings.HasPrefix(c.got.Content, c.want) || !slices.Equal(c.got.Differs, c.differs) || len(c.got.InPlaceDrift) > 0 {
			t.Errorf("%s: want %s, differing in %v, got %+v", c.reason, c.want, c.differs, c.got)
		}
	}
	if got := after.Against(now).Uniform(rotated).Data; got != "0123456789ab" {
		t.Errorf("want the machine's own data, got %q", got)
	}
}

// What is asked for beside what was there is named, with its value and the one before.
func TestAddedFieldsAreNamed(t *testing.T) {
	rich := bases()[0]
	cur := echo(t, build(t, input(t, seed())))
	state := build(t, input(t, rich)).Against(cur).State
	for _, want := range []string{"spec.identity", "spec.template.terminateNotificationTimeout"} {
		if !slices.Contains(state.Differs, want) {
			t.Errorf("want %s named, got %v", want, state.Differs)
		}
	}
	told := strings.Join(state.Changes, "\n")
	for _, want := range []string{"identity None -> UserAssigned", "terminateNotificationTimeout none -> ", "dataDisks none -> LUN "} {
		if !strings.Contains(told, want) {
			t.Errorf("want %q told, got\n%s", want, told)
		}
	}
}

// What was set and is taken out again is taken out in the cloud.
func TestTakenOut(t *testing.T) {
	rich := bases()[0]
	rich.Template.OSDisk.ManagedDisk = seed().Template.OSDisk.ManagedDisk
	cur := echo(t, build(t, input(t, rich)))
	m := build(t, input(t, seed()))
	next := patched(t, cur.Set, m.Change(cur))
	p := next.Properties.VirtualMachineProfile
	if *next.Identity.Type != armcompute.ResourceIdentityTypeNone {
		t.Errorf("want no identity, got %s", *next.Identity.Type)
	}
	if len(p.StorageProfile.DataDisks)+len(p.ExtensionProfile.Extensions) > 0 {
		t.Errorf("want neither disks nor extensions, got %v and %v", p.StorageProfile.DataDisks, p.ExtensionProfile.Extensions)
	}
	if *p.SecurityProfile.EncryptionAtHost || *p.SecurityProfile.SecurityType != armcompute.SecurityTypesTrustedLaunch {
		t.Errorf("want no encryption at the host, and the security type as it is, for Azure gives one by itself, got %+v", p.SecurityProfile)
	}
	if *p.ScheduledEventsProfile.TerminateNotificationProfile.Enable || *next.Properties.AdditionalCapabilities.UltraSSDEnabled ||
		p.DiagnosticsProfile.BootDiagnostics.StorageURI != nil {
		t.Error("want no notice, no ultra disks and diagnostics of Azure's own")
	}
	if model.Tag(next.Tags, "team") != "cluster" {
		t.Errorf("want the cluster's tag where the pool names none, got %v", next.Tags)
	}
}

// A price that is taken out is none, and zones are added in place.
func TestPriceAndZones(t *testing.T) {
	spec := seed()
	spec.Template.SpotVMOptions = &azurev1.SpotVMOptions{MaxPrice: new(resource.MustParse("0.5"))}
	in := input(t, spec)
	in.FailureDomains = []string{"2"}
	cur := echo(t, build(t, in))
	spec = spec.DeepCopy()
	spec.Template.SpotVMOptions.MaxPrice = nil
	in = input(t, spec)
	in.FailureDomains = []string{"1", "2"}
	m := build(t, in)
	next := model.Read(patched(t, cur.Set, m.Change(cur)))
	if got := ptr.Deref(next.Set.Properties.VirtualMachineProfile.BillingProfile.MaxPrice, 0); got != -1 {
		t.Errorf("want no limit, got %g", got)
	}
	if got := patched(t, cur.Set, m.InPlaceChange(cur)).Zones; len(got) != 2 || len(m.Against(next).State.Drift) > 0 {
		t.Errorf("want two zones and no drift left, got %d and %v", len(got), m.Against(next).State.Drift)
	}
	if got := m.Against(cur).State.Drift; !slices.Equal(got, []string{"MachinePool spec.failureDomains"}) {
		t.Errorf("want the zones as what drifts, got %v", got)
	}
}

// Bootstrap data goes with whatever makes new machines: with the creation and with a change of the model, and with nothing else.
func TestBootstrapData(t *testing.T) {
	cur := echo(t, build(t, input(t, seed())))
	in := input(t, seed())
	in.Bootstrap = cloud.NewBootstrap([]byte("renewed"), "cloud-config")
	m := build(t, in)
	const want = "cmVuZXdlZA=="
	if got := ptr.Deref(m.Create(1).Properties.VirtualMachineProfile.OSProfile.CustomData, ""); got != want {
		t.Errorf("want a new scale set to have it, got %q", got)
	}
	change := m.Change(cur)
	if got := ptr.Deref(change.Properties.VirtualMachineProfile.OSProfile.CustomData, ""); got != want ||
		model.Tag(change.Tags, model.TagData) != m.Data {
		t.Errorf("want a changed model to have it and its hash %s, got %q and %v", m.Data, got, change.Tags)
	}
	if change.SKU != nil || change.Properties.VirtualMachineProfile.NetworkProfile != nil {
		t.Errorf("want neither size nor network sent with it, got %+v", change)
	}
	if got := m.InPlaceChange(cur); got.Properties.VirtualMachineProfile.OSProfile != nil || model.Tag(got.Tags, model.TagData) != cur.Data {
		t.Errorf("want a change in place to leave it, got %+v", got)
	}
	if got := m.Against(cur).State; got.Content != m.Content || len(got.Drift)+len(got.Differs) > 0 {
		t.Errorf("want nothing to do for it alone, got %+v", got)
	}
}

// The change of tags knows which of them are ours.
func TestTags(t *testing.T) {
	spec := seed()
	spec.AdditionalTags = azurev1.Tags{"team": "pool", "gone": "x"}
	cur := echo(t, build(t, input(t, spec)))
	cur.Set.Tags["policy"], cur.Set.Tags[model.TagSurge] = new("theirs"), new("1/3")
	cur = model.Read(cur.Set)
	spec = seed()
	spec.AdditionalTags = azurev1.Tags{"Team": "other"}
	in := input(t, spec)
	in.Bootstrap = cloud.Bootstrap{}
	m := build(t, in)
	got := m.InPlaceChange(cur).Tags
	for name, want := range map[string]string{
		"Team": "other", "team": "other", "gone": "", "policy": "theirs", "cost": "1", "Name": "capz-mp-0", model.TagSurge: "1/3",
		model.TagData: cur.Data, model.TagContent: cur.Content,
		"sigs.k8s.io_cluster-api-provider-azure_cluster_capz": "owned", "sigs.k8s.io_cluster-api-provider-azure_role": "node",
		model.TagOwner: "owner-1",
	} {
		if model.Tag(got, name) != want {
			t.Errorf("%s: want %q, got %q", name, want, model.Tag(got, name))
		}
	}
	if _, twice := got["team"]; twice {
		t.Errorf("want a tag once, got %v", got)
	}
	if next := model.Read(patched(t, cur.Set, m.InPlaceChange(cur))); len(m.Against(next).State.Drift) > 0 {
		t.Errorf("want no drift left, got %v", m.Against(next).State.Drift)
	}
}

// A size is sent with the name that the scale set has, and tags only where they are to change.
func TestResize(t *testing.T) {
	cur := echo(t, build(t, input(t, seed())))
	got := model.Resize(cur, 5, nil)
	if *got.SKU.Capacity != 5 || *got.SKU.Name != "Standard_D2s_v3" || got.Tags != nil || got.Properties != nil {
		t.Errorf("want a size and nothing else, got %+v", got)
	}
	got = model.Resize(cur, 5, map[string]string{"MUSTER.dev_surge": "1/5"})
	if model.Tag(got.Tags, model.TagSurge) != "1/5" || len(got.Tags) != len(cur.Set.Tags)+1 {
		t.Errorf("want all tags and the one for surge, got %v", got.Tags)
	}
}

func TestRef(t *testing.T) {
	for _, c := range []struct{ content, data, want string }{
		{"v1:0123456789abcdef", "0123456789ab", "01234567-0123456789ab"},
		{"seen:fedcba9876543210", "", "fedcba98-0"},
		{"", "", "0-0"},
	} {
		if got := model.Ref(c.content, c.data); got != c.want {
			t.Errorf("want %s, got %s", c.want, got)
		}
	}
}

// A disk does not shrink: it stays as it is, makes no machine stale, and everything else is done.
func TestDiskDoesNotShrink(t *testing.T) {
	larger := seed()
	larger.Template.OSDisk.DiskSizeGB = new(int32(64))
	before := build(t, input(t, larger))
	cur := echo(t, before)
	m, fixed := build(t, input(t, seed())).Onto(cur)
	if !slices.Equal(fixed, []string{"spec.template.osDisk.diskSizeGB"}) || m.Content != before.Content {
		t.Errorf("want the field named and content %s as it was, got %v and %s", before.Content, fixed, m.Content)
	}
	if got := *m.Change(cur).Properties.VirtualMachineProfile.StorageProfile.OSDisk.DiskSizeGB; got != 64 {
		t.Errorf("want the size sent that it has, got %d", got)
	}
	if got := m.Against(cur).State; got.Content != m.Content || len(got.Differs)+len(got.Drift) > 0 {
		t.Errorf("want nothing to do, got %+v", got)
	}
}

// TestImageSourceStays holds that a scale set keeps the kind of source of its image, which Azure never changes: the field is named, no
// machine is stale for it, and everything else is done.
func TestImageSourceStays(t *testing.T) {
	image := func(i *azurev1.Image, version string) model.Input {
		s := seed()
		s.Template.Image = i
		in := input(t, s)
		if i == nil {
			var err error
			if in.Image, err = model.ImageOf(s, version, ""); err != nil {
				t.Fatal(err)
			}
		}
		return in
	}
	market := &azurev1.Image{Marketplace: &azurev1.AzureMarketplaceImage{
		ImagePlan: azurev1.ImagePlan{Publisher: "p", Offer: "o", SKU: "s"}, Version: "1.2.3", ThirdPartyImage: true}}
	gallery := &azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: "1.0.0"}}
	other := &azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: "h", Name: "n", Version: "1.0.0",
		SubscriptionID: new("s"), ResourceGroup: new("r")}}
	own := &azurev1.Image{ID: new("/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/images/i")}
	const field = "spec.template.image"
	for _, c := range []struct {
		why      string
		from, to model.Input
		want     []string
	}{
		{"Marketplace to gallery", image(market, ""), image(gallery, ""), []string{field}},
		{"gallery to Marketplace", image(gallery, ""), image(market, ""), []string{field}},
		{"gallery to an image of the subscription", image(gallery, ""), image(own, ""), []string{field}},
		{"an image of the subscription to Marketplace", image(own, ""), image(market, ""), []string{field}},
		{"the default image moves to the gallery with a version", image(nil, "v1.30.3"), image(nil, "v1.30.4"),
			[]string{"MachinePool spec.template.spec.version"}},
		{"one gallery to another", image(gallery, ""), image(other, ""), nil},
		{"one default image of the gallery to the next", image(nil, "v1.36.2"), image(nil, "v1.36.3"), nil},
	} {
		before := build(t, c.from)
		cur := echo(t, before)
		m, fixed := build(t, c.to).Onto(cur)
		if stays := c.want != nil; !slices.Equal(fixed, c.want) || (m.Content == before.Content) != stays {
			t.Errorf("%s: want %v to stay behind and content %s, got %v and %s", c.why, c.want, before.Content, fixed, m.Content)
		}
		if got := m.Against(cur).State; c.want != nil && len(got.Differs)+len(got.Drift) > 0 {
			t.Errorf("%s: want nothing to do, got %+v", c.why, got)
		}
	}
}

// A disk of the host's own is neither taken nor given, and Azure's own upgrades are turned off again.
func TestWhatAScaleSetIsMadeWith(t *testing.T) {
	local := seed()
	local.Template.OSDisk.DiffDiskSettings = &azurev1.DiffDiskSettings{Option: "Local"}
	with, without := build(t, input(t, local)), build(t, input(t, seed()))
	for reason, fixed := range map[string]func() []string{
		"taken": func() []string { _, fields := without.Onto(echo(t, with)); return fields },
		"given": func() []string { _, fields := with.Onto(echo(t, without)); return fields },
	} {
		if got := fixed(); !slices.Equal(got, []string{"spec.template.osDisk.diffDiskSettings"}) {
			t.Errorf("%s: want the field named, got %v", reason, got)
		}
	}
	cur := echo(t, without)
	cur.Set.Properties.UpgradePolicy.Mode = new(armcompute.UpgradeModeAutomatic)
	if next := patched(t, cur.Set, without.InPlaceChange(cur)); *next.Properties.UpgradePolicy.Mode != armcompute.UpgradeModeManual {
		t.Errorf("want machines changed by Muster alone, got %s", *next.Properties.UpgradePolicy.Mode)
	}
}

// From and to spot machines, and from and to a disk of the host's own, nothing else waits for what can't be changed: neither a price
// that Azure refuses without spot machines, nor what is cached of a disk that stays where it is.
func TestSpotAndLocalDisksStay(t *testing.T) {
	spot, local, larger := seed(), seed(), seed()
	price := resource.MustParse("0.05")
	spot.Template.SpotVMOptions = &azurev1.SpotVMOptions{MaxPrice: &price}
	local.Template.OSDisk.DiffDiskSettings = &azurev1.DiffDiskSettings{Option: "Local"}
	for reason, c := range map[string]struct {
		is, asked *azurev1.AzureMachinePoolSpec
		field     string
	}{
		"spot given":       {larger, spot, "spec.template.spotVMOptions"},
		"spot taken":       {spot, larger, "spec.template.spotVMOptions"},
		"local disk given": {larger, local, "spec.template.osDisk.diffDiskSettings"},
		"local disk taken": {local, larger, "spec.template.osDisk.diffDiskSettings"},
	} {
		before := build(t, input(t, c.is))
		cur := echo(t, before)
		m, fixed := build(t, input(t, c.asked)).Onto(cur)
		if !slices.Equal(fixed, []string{c.field}) || m.Content != before.Content {
			t.Errorf("%s: want the field named and no machine stale, got %v and content %s, before %s", reason, fixed, m.Content, before.Content)
		}
		change := m.Change(cur).Properties.VirtualMachineProfile
		was := before.Set.Properties.VirtualMachineProfile
		if price := change.BillingProfile; (price == nil) != (was.BillingProfile == nil) || price != nil &&
			*price.MaxPrice != *was.BillingProfile.MaxPrice ||
			*change.StorageProfile.OSDisk.Caching != *was.StorageProfile.OSDisk.Caching {
			t.Errorf("%s: want price and caching sent as they are, got %+v and %s", reason, price, *change.StorageProfile.OSDisk.Caching)
		}
		resized := c.asked.DeepCopy()
		resized.Template.VMSize = "Standard_D4s_v3"
		m, _ = build(t, input(t, resized)).Onto(cur)
		next := model.Read(patched(t, cur.Set, m.Change(cur)))
		if got := m.Against(next).State; m.Content == before.Content || got.Content != m.Content || *next.Set.SKU.Name != "Standard_D4s_v3" {
			t.Errorf("%s: want another size all the same, got %+v, want content %s", reason, got, m.Content)
		}
	}
}

// From and to confidential nothing else waits for what can't be changed.
func TestConfidentialStays(t *testing.T) {
	cur := echo(t, build(t, input(t, seed())))
	spec := seed()
	spec.Template.SecurityProfile = &azurev1.SecurityProfile{SecurityType: azurev1.SecurityTypesConfidentialVM}
	spec.Template.VMSize = "Standard_DC4as_v5"
	asked := build(t, input(t, spec))
	m, fixed := asked.Onto(cur)
	if !slices.Equal(fixed, []string{"spec.template.securityProfile.securityType"}) {
		t.Errorf("want the field named, got %v", fixed)
	}
	next := model.Read(patched(t, cur.Set, m.Change(cur)))
	again, _ := asked.Onto(next)
	if got := again.Against(next).State; got.Content != again.Content || len(got.Differs) > 0 || *next.Set.SKU.Name != "Standard_DC4as_v5" {
		t.Errorf("want the size changed and nothing asked for again, got %+v, want content %s", got, again.Content)
	}
	if asked.Content == m.Content || model.Tag(asked.Set.Tags, model.TagContent) != asked.Content {
		t.Error("want the model that was asked for left as it is")
	}
}

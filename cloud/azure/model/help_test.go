package model_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
)

const (
	group  = "capz"
	subID  = "00000000-0000-0000-0000-000000000001"
	sshKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 somebody@example"
)

func owner() cloud.Owner {
	return cloud.Owner{ID: "owner-1", Cluster: "capz", Namespace: "default", Name: "capz-mp-0"}
}

func cluster() azurev1.ClusterView {
	return azurev1.ClusterView{
		Name: "capz", ClusterName: "capz", SubscriptionID: subID, ResourceGroup: group, Location: "westus2", Environment: "AzurePublicCloud",
		Vnet: azurev1.VnetView{Name: "capz-vnet", ResourceGroup: group},
		Subnets: []azurev1.SubnetView{
			{Name: "capz-controlplane-subnet", Role: azurev1.SubnetRoleControlPlane}, {Name: "capz-node-subnet", Role: azurev1.SubnetRoleNode},
		},
		NodeOutboundLB: "capz", NodeOutboundBackendPool: "capz-outboundBackendPool",
		AdditionalTags: azurev1.Tags{"team": "cluster", "cost": "1"},
	}
}

// seed is the specification of the published example.
func seed() *azurev1.AzureMachinePoolSpec {
	return &azurev1.AzureMachinePoolSpec{
		Location: "westus2",
		Template: azurev1.AzureMachinePoolMachineTemplate{
			VMSize: "Standard_D2s_v3",
			OSDisk: azurev1.OSDisk{OSType: azurev1.LinuxOS, DiskSizeGB: new(int32(30)),
				ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"}},
			SSHPublicKey: base64.StdEncoding.EncodeToString([]byte(sshKey + "\n")),
		},
	}
}

// size is what Azure says of a usual size.
func size(over map[string]string) *armcompute.ResourceSKU {
	says := map[string]string{
		"vCPUs": "2", "MemoryGB": "8", "MaxDataDiskCount": "4", "MaxNetworkInterfaces": "2", "AcceleratedNetworkingEnabled": "True",
		"EphemeralOSDiskSupported": "True", "EncryptionAtHostSupported": "True", "HyperVGenerations": "V1,V2", "LowPriorityCapable": "True",
	}
	maps.Copy(says, over)
	s := &armcompute.ResourceSKU{Name: new("Standard_D2s_v3"), LocationInfo: []*armcompute.ResourceSKULocationInfo{{
		Location: new("WestUS2"), Zones: []*string{new("3"), new("1"), new("2")},
		ZoneDetails: []*armcompute.ResourceSKUZoneDetails{{Name: []*string{new("1"), new("2")},
			Capabilities: []*armcompute.ResourceSKUCapabilities{
				{Name: new("UltraSSDAvailable"), Value: new("True")},
			}}},
	}}}
	for name, value := range says {
		s.Capabilities = append(s.Capabilities, &armcompute.ResourceSKUCapabilities{Name: &name, Value: &value})
	}
	return s
}

// input is everything that a model of a specification needs.
func input(t *testing.T, spec *azurev1.AzureMachinePoolSpec) model.Input {
	t.Helper()
	image, err := model.ImageOf(spec, "v1.36.3", "")
	if err != nil {
		t.Fatalf("want an image, got %v", err)
	}
	return model.Input{
		Owner: owner(), Source: &azurev1.MachinePoolSource{Pool: spec, Cluster: cluster()}, Image: image, Size: size(nil),
		Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\n# token abcdef.0123456789abcdef\n"), "cloud-config"),
	}
}

func build(t *testing.T, in model.Input) *model.Model {
	t.Helper()
	m, err := model.Build(in)
	if err != nil {
		t.Fatalf("want a model, got %v", err)
	}
	return m
}

// echo is what Azure shows of a scale set that was made of a model: secrets are not shown, IDs are spelled in another way, what
// was not said is filled in, and the order of what has none is another.
func echo(t *testing.T, m *model.Model) model.Current {
	t.Helper()
	set := copied(t, m.Create(2))
	set.ID = new("/subscriptions/" + subID + "/resourceGroups/CAPZ/providers/Microsoft.Compute/virtualMachineScaleSets/" + m.Name)
	p := set.Properties.VirtualMachineProfile
	p.OSProfile.CustomData, p.OSProfile.AdminPassword = nil, nil
	for _, e := range p.ExtensionProfile.Extensions {
		e.Properties.ProtectedSettings = nil
	}
	backwards(set.Zones)
	if len(p.NetworkProfile.NetworkInterfaceConfigurations) > 0 {
		nic := p.NetworkProfile.NetworkInterfaceConfigurations[0].Properties
		nic.DNSSettings = &armcompute.VirtualMachineScaleSetNetworkConfigurationDNSSettings{DNSServers: []*string{}}
		nic.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools = append(
			nic.IPConfigurations[0].Properties.LoadBalancerBackendAddressPools,
			&armcompute.SubResource{ID: new("/subscriptions/" + subID + "/resourceGroups/" + group +
				"/providers/Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/kubernetes")})
		for _, a := range nic.IPConfigurations {
			a.Properties.Subnet.ID = new(strings.ToUpper(*a.Properties.Subnet.ID))
		}
	}
	image := p.StorageProfile.ImageReference
	if image.Publisher != nil {
		image.ExactVersion = new("1.2.3")
		if *image.Version == "latest" {
			image.Version = new("1.2.3")
		}
	}
	if image.ID != nil {
		image.ID = new(strings.ToUpper(*image.ID))
	}
	filledIn(set)
	return model.Read(set)
}

// filledIn is what Azure says of its own.
func filledIn(set armcompute.VirtualMachineScaleSet) {
	set.Properties.ProvisioningState = new("Succeeded")
	p := set.Properties.VirtualMachineProfile
	disk := p.StorageProfile.OSDisk
	if disk.DiskSizeGB == nil {
		disk.DiskSizeGB = new(int32(30))
	}
	disk.Caching = new(armcompute.CachingTypes(strings.ToLower(string(*disk.Caching))))
	if disk.ManagedDisk == nil {
		disk.ManagedDisk = &armcompute.VirtualMachineScaleSetManagedDiskParameters{StorageAccountType: new(
			armcompute.StorageAccountTypesPremiumLRS)}
	}
	for _, d := range p.StorageProfile.DataDisks {
		if d.ManagedDisk == nil {
			d.ManagedDisk = &armcompute.VirtualMachineScaleSetManagedDiskParameters{StorageAccountType: new(
				armcompute.StorageAccountTypesStandardLRS)}
		}
	}
	if p.SecurityProfile == nil {
		p.SecurityProfile = &armcompute.SecurityProfile{SecurityType: new(armcompute.SecurityTypesTrustedLaunch),
			UefiSettings: &armcompute.UefiSettings{SecureBootEnabled: new(true), VTpmEnabled: new(true)}}
	}
	if p.Priority == nil {
		p.Priority = new(armcompute.VirtualMachinePriorityTypesRegular)
	} else if p.BillingProfile == nil {
		p.BillingProfile = &armcompute.BillingProfile{MaxPrice: new(-1.0)}
	}
	if l := p.OSProfile.LinuxConfiguration; l != nil {
		l.ProvisionVMAgent = new(true)
	}
	if set.Properties.PlatformFaultDomainCount == nil {
		set.Properties.PlatformFaultDomainCount = new(int32(5))
	}
}

// uniform is a machine of a Uniform scale set that was made of it as it is.
func uniform(cur model.Current) armcompute.VirtualMachineScaleSetVM {
	set, p := cur.Set, cur.Set.Properties.VirtualMachineProfile
	vm := armcompute.VirtualMachineScaleSetVM{
		InstanceID: new("0"), SKU: &armcompute.SKU{Name: set.SKU.Name, Tier: set.SKU.Tier}, Tags: maps.Clone(set.Tags), Plan: set.Plan,
		Resources: extensions(p.ExtensionProfile),
		Properties: &armcompute.VirtualMachineScaleSetVMProperties{
			LatestModelApplied: new(true), AdditionalCapabilities: set.Properties.AdditionalCapabilities, DiagnosticsProfile: p.DiagnosticsProfile,
			SecurityProfile: p.SecurityProfile, StorageProfile: storage(p.StorageProfile),
			OSProfile: &armcompute.OSProfile{LinuxConfiguration: p.OSProfile.LinuxConfiguration},
			NetworkProfileConfiguration: &armcompute.VirtualMachineScaleSetVMNetworkProfileConfiguration{
				NetworkInterfaceConfigurations: p.NetworkProfile.NetworkInterfaceConfigurations},
		},
	}
	if set.Identity != nil {
		vm.Identity = &armcompute.VirtualMachineIdentity{Type: set.Identity.Type, UserAssignedIdentities: set.Identity.UserAssignedIdentities}
	}
	return vm
}

// flexible is a machine of a Flexible scale set that was made of it as it is.
func flexible(cur model.Current) armcompute.VirtualMachine {
	set, p := cur.Set, cur.Set.Properties.VirtualMachineProfile
	vm := armcompute.VirtualMachine{
		Name: new("vm"), Tags: maps.Clone(set.Tags), Plan: set.Plan, Resources: extensions(p.ExtensionProfile),
		Properties: &armcompute.VirtualMachineProperties{
			HardwareProfile:        &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes(*set.SKU.Name))},
			AdditionalCapabilities: set.Properties.AdditionalCapabilities, DiagnosticsProfile: p.DiagnosticsProfile,
			SecurityProfile: p.SecurityProfile,
			StorageProfile:  storage(p.StorageProfile), OSProfile: &armcompute.OSProfile{LinuxConfiguration: p.OSProfile.LinuxConfiguration},
			Priority: p.Priority, EvictionPolicy: p.EvictionPolicy, BillingProfile: p.BillingProfile,
			ScheduledEventsProfile: p.ScheduledEventsProfile,
		},
	}
	if set.Identity != nil {
		vm.Identity = &armcompute.VirtualMachineIdentity{Type: set.Identity.Type, UserAssignedIdentities: set.Identity.UserAssignedIdentities}
	}
	return vm
}

// extensions of a machine, as resources of its own, in another order: protected settings are not shown.
func extensions(p *armcompute.VirtualMachineScaleSetExtensionProfile) []*armcompute.VirtualMachineExtension {
	var out []*armcompute.VirtualMachineExtension
	for _, e := range ptr.Deref(p, armcompute.VirtualMachineScaleSetExtensionProfile{}).Extensions {
		out = append(out, &armcompute.VirtualMachineExtension{Name: e.Name, Properties: &armcompute.VirtualMachineExtensionProperties{
			Publisher: e.Properties.Publisher, Type: e.Properties.Type, TypeHandlerVersion: e.Properties.TypeHandlerVersion,
			Settings:          e.Properties.Settings,
			ProvisioningState: new("Succeeded"),
		}})
	}
	backwards(out)
	return out
}

// storage of a machine: its disks, and one that was attached to it afterwards.
func storage(p *armcompute.VirtualMachineScaleSetStorageProfile) *armcompute.StorageProfile {
	d := p.OSDisk
	out := &armcompute.StorageProfile{ImageReference: p.ImageReference, OSDisk: &armcompute.OSDisk{
		DiskSizeGB: d.DiskSizeGB, Caching: d.Caching, OSType: d.OSType, DiffDiskSettings: d.DiffDiskSettings, ManagedDisk: managed(d.ManagedDisk),
	}}
	for _, d := range p.DataDisks {
		out.DataDisks = append(out.DataDisks, &armcompute.DataDisk{CreateOption: d.CreateOption, Lun: d.Lun, DiskSizeGB: d.DiskSizeGB,
			Caching: d.Caching, ManagedDisk: managed(d.ManagedDisk)})
	}
	out.DataDisks = append(out.DataDisks, &armcompute.DataDisk{CreateOption: new(armcompute.DiskCreateOptionTypesAttach), Lun: new(int32(63)),
		DiskSizeGB: new(int32(7))})
	backwards(out.DataDisks)
	return out
}

func managed(d *armcompute.VirtualMachineScaleSetManagedDiskParameters) *armcompute.ManagedDiskParameters {
	if d == nil {
		return nil
	}
	return &armcompute.ManagedDiskParameters{ID: new("/disks/x"), StorageAccountType: d.StorageAccountType,
		DiskEncryptionSet: d.DiskEncryptionSet, SecurityProfile: d.SecurityProfile}
}

func copied[T any](t *testing.T, from T) T {
	t.Helper()
	text, err := json.Marshal(from)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	var to T
	if err := json.Unmarshal(text, &to); err != nil {
		t.Fatalf("decode: %v", err)
	}
	return to
}

func backwards[T any](list []T) {
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
}

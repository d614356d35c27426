package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Input is everything that a model depends on.
type Input struct {
	Owner  cloud.Owner
	Source *azurev1.MachinePoolSource
	// FailureDomains are the zones that the core object names; their order means nothing.
	FailureDomains []string
	// Bootstrap may be empty: then the model can be compared and can't be sent.
	Bootstrap cloud.Bootstrap
	// Image as ImageOf gave it, or as it is remembered.
	Image Image
	// Size is what Azure says of the VM size in the pool's location; nil when that is not known.
	Size *armcompute.ResourceSKU
}

// Model is what a specification makes of a scale set.
type Model struct {
	// Name of the scale set.
	Name string
	// Content tells apart what only new machines can take up, InPlace what machines can take up while they exist, and Data the
	// bootstrap data; the latter is empty without any.
	Content, InPlace, Data string
	// Set is the whole scale set but its capacity and the tags of others. It must not be changed.
	Set armcompute.VirtualMachineScaleSet
	// Image that machines boot from.
	Image Image

	// namedImage is true if the specification names the image.
	namedImage bool
	// auto are the network interfaces whose accelerated networking follows from the VM size.
	auto []int
	// bootstrap tells contents apart.
	bootstrap cloud.Bootstrap
}

// Build translates a specification. Errors name the field that can't be translated.
func Build(in Input) (*Model, error) {
	spec := in.Source.Pool
	name, err := Name(in.Owner, spec.Template.OSDisk.OSType)
	if err != nil {
		return nil, err
	}
	if err := in.checkIdentity(); err != nil {
		return nil, err
	}
	profile, auto, err := in.profile(name)
	if err != nil {
		return nil, err
	}
	m := &Model{Name: name, Data: in.Bootstrap.Hash(), Image: in.Image, namedImage: Named(spec), auto: auto, bootstrap: in.Bootstrap}
	m.Set = armcompute.VirtualMachineScaleSet{
		Location: &spec.Location,
		SKU:      &armcompute.SKU{Name: &spec.Template.VMSize, Tier: new("Standard")},
		Plan:     in.Image.plan(),
		Zones:    pointers(zones(in.FailureDomains)),
		Identity: identity(spec),
		Properties: &armcompute.VirtualMachineScaleSetProperties{
			OrchestrationMode:        new(modeOf(spec)),
			SinglePlacementGroup:     new(false),
			PlatformFaultDomainCount: faultDomains(spec),
			ZoneBalance:              zoneBalance(spec, in.FailureDomains),
			UpgradePolicy:            &armcompute.UpgradePolicy{Mode: new(armcompute.UpgradeModeManual)},
			AdditionalCapabilities:   capabilities(spec.Template),
			VirtualMachineProfile:    profile,
		},
	}
	if !spec.Flexible() {
		m.Set.Properties.Overprovision = new(false)
	}
	if m.Content, err = m.content(); err != nil {
		return nil, err
	}
	tags, err := in.userTags()
	if err != nil {
		return nil, err
	}
	if m.InPlace, err = inPlace(in.Owner, in.extensions(), tags); err != nil {
		return nil, err
	}
	m.Set.Tags = m.tags(in.Owner, tags)
	return m, nil
}

// content is the hash of what only new machines can take up. What follows from the VM size is told apart by that alone, so that a
// look-up that fails changes nothing.
func (m *Model) content() (string, error) {
	set := m.Set
	if len(m.auto) > 0 {
		properties, profile := *set.Properties, *set.Properties.VirtualMachineProfile
		network := *profile.NetworkProfile
		network.NetworkInterfaceConfigurations = slices.Clone(network.NetworkInterfaceConfigurations)
		for _, k := range m.auto {
			nic, of := *network.NetworkInterfaceConfigurations[k], *network.NetworkInterfaceConfigurations[k].Properties
			of.EnableAcceleratedNetworking = nil
			nic.Properties = &of
			network.NetworkInterfaceConfigurations[k] = &nic
		}
		profile.NetworkProfile, properties.VirtualMachineProfile, set.Properties = &network, &profile, &properties
	}
	hash, err := contentHash(set)
	return m.bootstrap.Content(hash), err
}

// Template is the model as the pool knows templates.
func (m *Model) Template() pool.Template {
	return pool.Template{Content: m.Content, Data: m.Data}
}

// refLength is enough of a content to tell ten models apart.
const refLength = 8

// Ref is what a model with this content and data is called: a scale set gives its model no name.
func Ref(content, data string) string {
	_, hash, _ := strings.Cut(content, ":")
	return cmp.Or(hash[:min(refLength, len(hash))], "0") + "-" + cmp.Or(data, "0")
}

func modeOf(spec *azurev1.AzureMachinePoolSpec) armcompute.OrchestrationMode {
	if spec.Flexible() {
		return armcompute.OrchestrationModeFlexible
	}
	return armcompute.OrchestrationModeUniform
}

// faultDomains leaves a Flexible scale set that says nothing to Azure, which spreads its machines as far as it can.
func faultDomains(spec *azurev1.AzureMachinePoolSpec) *int32 {
	if spec.PlatformFaultDomainCount == nil && spec.Flexible() {
		return new(int32(1))
	}
	return spec.PlatformFaultDomainCount
}

// zoneBalance means nothing, and is refused, with less than two zones.
func zoneBalance(spec *azurev1.AzureMachinePoolSpec, domains []string) *bool {
	if len(zones(domains)) < 2 {
		return nil
	}
	return spec.ZoneBalance
}

// zones are each once and in order, for their order means nothing.
func zones(domains []string) []string {
	list := slices.Clone(domains)
	slices.Sort(list)
	return slices.Compact(list)
}

// capabilities turns on what a disk needs, unless the specification says it itself.
func capabilities(t azurev1.AzureMachinePoolMachineTemplate) *armcompute.AdditionalCapabilities {
	if t.AdditionalCapabilities != nil && t.AdditionalCapabilities.UltraSSDEnabled != nil {
		return &armcompute.AdditionalCapabilities{UltraSSDEnabled: t.AdditionalCapabilities.UltraSSDEnabled}
	}
	for _, d := range t.DataDisks {
		if d.ManagedDisk != nil && d.ManagedDisk.StorageAccountType == string(armcompute.StorageAccountTypesUltraSSDLRS) {
			return &armcompute.AdditionalCapabilities{UltraSSDEnabled: new(true)}
		}
	}
	return nil
}

func pointers[T any](list []T) []*T {
	var out []*T
	for _, item := range list {
		out = append(out, &item)
	}
	return out
}

// indexed is a path to one item of a list.
func indexed(path string, k int) string { return path + "[" + strconv.Itoa(k) + "]" }

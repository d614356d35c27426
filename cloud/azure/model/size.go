package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// leastCPUs and leastMemoryGB are what a node of kubeadm needs.
	leastCPUs, leastMemoryGB = 2, 2

	capableEphemeral  = "EphemeralOSDiskSupported"
	capableEncryption = "EncryptionAtHostSupported"
	capableUltra      = "UltraSSDAvailable"
	yes               = "True"
)

// NoSize is the refusal of a VM size that Azure does not offer in the pool's location.
func NoSize(spec *azurev1.AzureMachinePoolSpec, location string) error {
	return cloud.Invalidf(fieldSize, "no VM size %s in location %s: use one that is offered there, for example Standard_D2s_v3",
		spec.Template.VMSize, location)
}

// Fits returns an error unless the VM size can carry what the specification asks for, before anything is written. What Azure does not tell
// of a size is no reason to refuse it, unless it is a feature that has to be told. Without a Size it finds nothing.
func Fits(in Input) error {
	if in.Size == nil {
		return nil
	}
	for _, check := range []func() error{in.large, in.zonal, in.disks, in.secure, in.nics, in.spot} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (in Input) tooSmall(format string, args ...any) error {
	return cloud.Invalidf(fieldSize, "VM size %s "+format, append([]any{in.Source.Pool.Template.VMSize}, args...)...)
}

func (in Input) large() error {
	if cpus, ok := amount(in.Size, "vCPUs"); ok && cpus < leastCPUs {
		return in.tooSmall("has %g vCPUs, and a node needs at least %d: use a larger one", cpus, leastCPUs)
	}
	if memory, ok := amount(in.Size, "MemoryGB"); ok && memory < leastMemoryGB {
		return in.tooSmall("has %g GiB of memory, and a node needs at least %d: use a larger one", memory, leastMemoryGB)
	}
	return nil
}

// zonal returns an error unless the size is offered in the zones, to this subscription.
func (in Input) zonal() error {
	location := in.Source.Pool.Location
	offered, withheld := in.zonesOffered()
	if withheld.everywhere {
		return in.tooSmall("is not offered to this subscription in location %s: use another one, or ask Azure for access", location)
	}
	for _, zone := range zones(in.FailureDomains) {
		switch {
		case slices.Contains(withheld.zones, zone):
			return cloud.Invalidf(fieldZones, "VM size %s is not offered to this subscription in zone %s of %s: leave the zone out, or use "+
				"another size", *in.sizeName(), zone, location)
		case !slices.Contains(offered, zone):
			return cloud.Invalidf(fieldZones, "VM size %s is not offered in zone %s of %s (offered: %s): leave the zone out, or use another size",
				*in.sizeName(), zone, location, listed(offered))
		}
	}
	return nil
}

func (in Input) sizeName() *string { return &in.Source.Pool.Template.VMSize }

// restricted is where a size is not for this subscription.
type restricted struct {
	everywhere bool
	zones      []string
}

func (in Input) zonesOffered() (offered []string, withheld restricted) {
	for _, info := range in.Size.LocationInfo {
		if info != nil && sameLocation(ptr.Deref(info.Location, ""), in.Source.Pool.Location) {
			offered = append(offered, values(info.Zones)...)
		}
	}
	for _, r := range in.Size.Restrictions {
		switch {
		case r == nil:
		case ptr.Deref(r.Type, "") == armcompute.ResourceSKURestrictionsTypeLocation:
			withheld.everywhere = true
		case r.RestrictionInfo != nil:
			withheld.zones = append(withheld.zones, values(r.RestrictionInfo.Zones)...)
		}
	}
	slices.Sort(offered)
	return slices.Compact(offered), withheld
}

func (in Input) disks() error {
	t := in.Source.Pool.Template
	if s := t.OSDisk.DiffDiskSettings; s != nil {
		if !capable(in.Size, capableEphemeral) {
			return cloud.Invalidf(fieldEphemeral, "VM size %s does not support ephemeral os. select a different vm size or disable ephemeral os",
				t.VMSize)
		}
		places := capability(in.Size, "SupportedEphemeralOSDiskPlacements")
		if s.Placement != nil && places != "" && !slices.Contains(words(places), strings.ToLower(string(*s.Placement))) {
			return cloud.Invalidf(fieldEphemeral+".placement", "VM size %s can have the disk on %s, not on %s", t.VMSize,
				listed(strings.Split(places, ",")), *s.Placement)
		}
	}
	if most, ok := amount(in.Size, "MaxDataDiskCount"); ok && float64(len(t.DataDisks)) > most {
		return cloud.Invalidf(fieldDataDisks, "VM size %s takes %g data disks, %d are asked for", t.VMSize, most, len(t.DataDisks))
	}
	if c := capabilities(t); c != nil && ptr.Deref(c.UltraSSDEnabled, false) {
		return in.ultra()
	}
	return nil
}

// ultra returns an error unless disks of type UltraSSD_LRS are offered wherever machines may be.
func (in Input) ultra() error {
	where := zones(in.FailureDomains)
	if len(where) == 0 && !capable(in.Size, capableUltra) && !in.zoneCapable("", capableUltra) {
		return cloud.Invalidf(fieldUltra, "VM size %s does not support ultra disks in location %s. select a different vm size or disable "+
			"ultra disks", *in.sizeName(), in.Source.Pool.Location)
	}
	for _, zone := range where {
		if !in.zoneCapable(zone, capableUltra) {
			return cloud.Invalidf(fieldUltra, "VM size %s does not support ultra disks in zone %s of %s. select a different vm size or disable "+
				"ultra disks", *in.sizeName(), zone, in.Source.Pool.Location)
		}
	}
	return nil
}

// zoneCapable reports whether the size has a capability in one zone, or in any of them.
func (in Input) zoneCapable(zone, name string) bool {
	for _, info := range in.Size.LocationInfo {
		if info == nil || !sameLocation(ptr.Deref(info.Location, ""), in.Source.Pool.Location) {
			continue
		}
		for _, detail := range info.ZoneDetails {
			if detail != nil && (zone == "" || slices.Contains(values(detail.Name), zone)) &&
				strings.EqualFold(find(detail.Capabilities, name), yes) {
				return true
			}
		}
	}
	return false
}

func (in Input) secure() error {
	s := in.Source.Pool.Template.SecurityProfile
	if s == nil {
		return nil
	}
	size := in.Source.Pool.Template.VMSize
	if ptr.Deref(s.EncryptionAtHost, false) && !capable(in.Size, capableEncryption) {
		return cloud.Invalidf(fieldSecurity+".encryptionAtHost", "encryption at host is not supported for VM type %s: use another size", size)
	}
	field := fieldSecurity + ".securityType"
	switch armcompute.SecurityTypes(s.SecurityType) {
	case armcompute.SecurityTypesTrustedLaunch:
		if capable(in.Size, "TrustedLaunchDisabled") {
			return cloud.Invalidf(field, "VM size %s does not support trusted launch: use another size", size)
		}
	case armcompute.SecurityTypesConfidentialVM:
		if capability(in.Size, "ConfidentialComputingType") == "" {
			return cloud.Invalidf(field, "VM size %s does not support confidential virtual machines: use another size, for example "+
				"Standard_DC2as_v5", size)
		}
	}
	if generations := capability(in.Size, "HyperVGenerations"); s.SecurityType != "" && generations != "" &&
		!slices.Contains(words(generations), "v2") {
		return cloud.Invalidf(field, "VM size %s runs no machines of generation 2, which %s needs: use another size", size, s.SecurityType)
	}
	return nil
}

func (in Input) nics() error {
	list := interfaces(in.Source.Pool.Template)
	if most, ok := amount(in.Size, "MaxNetworkInterfaces"); ok && float64(len(list)) > most {
		return cloud.Invalidf(fieldNICs, "VM size %s takes %g network interfaces, %d are asked for", *in.sizeName(), most, len(list))
	}
	for k, nic := range list {
		if ptr.Deref(nic.AcceleratedNetworking, false) && strings.EqualFold(capability(in.Size, "AcceleratedNetworkingEnabled"), "False") {
			return cloud.Invalidf(indexed(fieldNICs, k)+".acceleratedNetworking",
				"VM size %s does not support accelerated networking: use another size, or leave it out", *in.sizeName())
		}
	}
	return nil
}

func (in Input) spot() error {
	if in.Source.Pool.Template.SpotVMOptions != nil && strings.EqualFold(capability(in.Size, "LowPriorityCapable"), "False") {
		return cloud.Invalidf(fieldSpot, "VM size %s is not offered as a spot machine: use another size", *in.sizeName())
	}
	return nil
}

// capability is what Azure says of a size, empty when it says nothing.
func capability(size *armcompute.ResourceSKU, name string) string {
	if size == nil {
		return ""
	}
	return find(size.Capabilities, name)
}

func find(list []*armcompute.ResourceSKUCapabilities, name string) string {
	for _, c := range list {
		if c != nil && strings.EqualFold(ptr.Deref(c.Name, ""), name) {
			return ptr.Deref(c.Value, "")
		}
	}
	return ""
}

// capable reports whether a size has a feature.
func capable(size *armcompute.ResourceSKU, name string) bool {
	return strings.EqualFold(capability(size, name), yes)
}

// amount is a number that Azure says of a size.
func amount(size *armcompute.ResourceSKU, name string) (float64, bool) {
	n, err := strconv.ParseFloat(capability(size, name), 64)
	return n, err == nil
}

// sameLocation reports whether two spellings are of one region: "West US 2" is westus2.
func sameLocation(a, b string) bool { return plainLocation(a) == plainLocation(b) }

func plainLocation(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, " ", ""))
}

// words are the items of a list in one text, in small letters.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ',' || r == ' ' })
}

// listed is a list for people.
func listed(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func values[T any](list []*T) []T {
	var out []T
	for _, p := range list {
		if p != nil {
			out = append(out, *p)
		}
	}
	return out
}

const (
	// kubeletPods is how many pods the kubelet takes unless it is told otherwise.
	kubeletPods = 110
	// gpus is what NVIDIA's device plugin calls its accelerators; Azure's other sizes with GPUs have parts of one, which it does not count.
	gpus = "nvidia.com/gpu"
	// mib is how many MiB a GiB has: Azure tells memory in GiB.
	mib = 1024
)

// nodeArchitecture is what Kubernetes calls Azure's architectures.
var nodeArchitecture = map[string]string{"x64": "amd64", "arm64": "arm64"}

// Capacity returns what a machine of the VM size offers, as Azure's catalogue tells; nil without a Size.
func (in Input) Capacity() *pool.NodeCapacity {
	return CapacityOf(in.Size, kubeletPods, in.Source.Pool.Windows())
}

// CapacityOf returns what a machine of a size offers whose kubelet takes that many pods; nil where the size is unknown.
func CapacityOf(size *armcompute.ResourceSKU, pods int, windows bool) *pool.NodeCapacity {
	if size == nil {
		return nil
	}
	c := &pool.NodeCapacity{Pods: pods, OperatingSystem: "linux", Architecture: nodeArchitecture["x64"], Devices: map[string]int{}}
	cpus, ok := amount(size, "vCPUsAvailable")
	if !ok {
		cpus, _ = amount(size, "vCPUs")
	}
	memory, _ := amount(size, "MemoryGB")
	c.CPUs, c.MemoryMiB = int(cpus), int(memory*mib)
	if n, ok := amount(size, "GPUs"); ok && n >= 1 {
		c.Devices[gpus] = int(n)
	}
	if a := nodeArchitecture[strings.ToLower(capability(size, "CpuArchitectureType"))]; a != "" {
		c.Architecture = a
	}
	if windows {
		c.OperatingSystem = "windows"
	}
	return c
}

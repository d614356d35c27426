package ec2

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

const imageTime = "2006-01-02T15:04:05.000Z"

func (r *Images) describeImages(in *ec2.DescribeImagesInput) (*ec2.DescribeImagesOutput, error) {
	found, err := r.imagesAsked(in)
	if err != nil {
		return nil, err
	}
	size, err := pageSize(in.MaxResults, 1, 1000, 0, nil)
	if err != nil {
		return nil, err
	}
	page, next, err := account.Paged(r.Core, found, func(i *catalogue.Image) string { return i.ID }, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeImagesOutput{NextToken: next}
	for _, i := range page {
		out.Images = append(out.Images, showImage(i))
	}
	return out, nil
}

// imagesAsked are the images that a call is about, in the order of their IDs.
func (r *Images) imagesAsked(in *ec2.DescribeImagesInput) ([]*catalogue.Image, error) {
	candidates, err := r.imagesByID(in.ImageIds)
	if err != nil {
		return nil, err
	}
	var found []*catalogue.Image
	for _, i := range candidates {
		hidden := i.Deprecated && !shapes.Val(in.IncludeDeprecated) && i.OwnerID != r.Account && len(in.ImageIds) == 0
		if hidden || !r.ownedBy(i, in.Owners) || !named(in.Filters, i.Name) {
			continue
		}
		ok, err := matchFilters(in.Filters, imageAttributes(i), nil)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b *catalogue.Image) int { return strings.Compare(a.ID, b.ID) })
	return found, nil
}

// Named reports an image whose name the filters let pass. There are thousands of images and one filter that tells most of them
// apart, so it is looked at before the others.
func named(filters []ec2.Filter, name string) bool {
	for _, f := range filters {
		if shapes.Str(f.Name) == "name" && !slices.ContainsFunc(f.Values, func(p string) bool { return wire.Glob(p, name) }) {
			return false
		}
	}
	return true
}

// imagesByID are the images of those IDs, which must exist, or all.
func (r *Images) imagesByID(ids []string) ([]*catalogue.Image, error) {
	if len(ids) == 0 {
		return slices.Concat(r.Rows.List(""), r.Catalogue.Images), nil
	}
	var out []*catalogue.Image
	for _, id := range ids {
		if !strings.HasPrefix(id, "ami-") {
			return nil, wire.Refuse("InvalidAMIID.Malformed", `Invalid id: "%s" (expecting "ami-...")`, id)
		}
		i := r.image(id)
		if i == nil {
			return nil, wire.Refuse("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
		}
		out = append(out, i)
	}
	return out, nil
}

// ownedBy reports an image of one of the owners, named by account, alias or as self.
func (r *Images) ownedBy(i *catalogue.Image, owners []string) bool {
	return len(owners) == 0 || slices.ContainsFunc(owners, func(o string) bool {
		return o == i.OwnerID || o == "self" && i.OwnerID == r.Account || o != "" && o == i.OwnerAlias
	})
}

func imageAttributes(i *catalogue.Image) attributes {
	return attributes{
		"image-id": {i.ID}, "name": {i.Name}, "owner-id": {i.OwnerID}, "owner-alias": {i.OwnerAlias}, "architecture": {i.Architecture},
		"state": {"available"}, "virtualization-type": {"hvm"}, "root-device-type": {"ebs"}, "image-type": {"machine"}, "is-public": {"true"},
		"hypervisor": {"xen"}, "creation-date": {i.Created.UTC().Format(imageTime)}, "ena-support": {"true"}, "platform": nil,
		"root-device-name": {"/dev/sda1"}, "block-device-mapping.volume-type": {"gp3"},
	}
}

func showImage(i *catalogue.Image) ec2.Image {
	return ec2.Image{
		ImageId: new(i.ID), Name: new(i.Name), OwnerId: new(i.OwnerID), ImageOwnerAlias: shapes.Opt(i.OwnerAlias), Architecture: i.Architecture,
		State: "available", VirtualizationType: "hvm", RootDeviceType: "ebs", RootDeviceName: new("/dev/sda1"), ImageType: "machine",
		Public: new(true), Hypervisor: "xen", EnaSupport: new(true), CreationDate: new(i.Created.UTC().Format(imageTime)),
		ImageLocation: new(i.OwnerID + "/" + i.Name), PlatformDetails: new("Linux/UNIX"), UsageOperation: new("RunInstances"),
		Description: shapes.Opt(describeImage(i)), BlockDeviceMappings: []ec2.BlockDeviceMapping{{
			DeviceName: new("/dev/sda1"),
			Ebs:        &ec2.EbsBlockDevice{VolumeSize: new(int32(8)), VolumeType: "gp3", DeleteOnTermination: new(true), Encrypted: new(false)},
		}},
	}
}

func describeImage(i *catalogue.Image) string {
	if i.KubeletVersion == "" {
		return ""
	}
	return "Kubernetes " + i.KubeletVersion
}

func (r *Images) describeInstanceTypes(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
	names := slices.Sorted(maps.Keys(catalogue.InstanceTypes))
	if len(in.InstanceTypes) > 0 {
		var missing []string
		for _, n := range in.InstanceTypes {
			if _, ok := catalogue.InstanceTypes[n]; !ok {
				missing = append(missing, n)
			}
		}
		if missing != nil {
			return nil, wire.Refuse("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(missing, ", "))
		}
		names = slices.Sorted(slices.Values(in.InstanceTypes))
	}
	var found []string
	for _, n := range names {
		t := catalogue.InstanceTypes[n]
		ok, err := matchFilters(in.Filters, attributes{
			"instance-type": {n}, "processor-info.supported-architecture": {t.Architecture}, "vcpu-info.default-vcpus": {strconv.Itoa(t.CPUs)},
			"memory-info.size-in-mib": {strconv.Itoa(t.MemoryMiB)}, "current-generation": {"true"}, "bare-metal": {"false"},
			"burstable-performance-supported": {strconv.FormatBool(t.Burstable)}, "supported-usage-class": {"on-demand", "spot"},
			"hypervisor": {"nitro"},
		}, nil)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, n)
		}
	}
	size, err := pageSize(in.MaxResults, 5, 100, 100, nil)
	if err != nil {
		return nil, err
	}
	page, next, err := account.Paged(r.Core, found, func(n string) string { return n }, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceTypesOutput{NextToken: next}
	for _, n := range page {
		out.InstanceTypes = append(out.InstanceTypes, showType(catalogue.InstanceTypes[n]))
	}
	return out, nil
}

func showType(t catalogue.InstanceType) ec2.InstanceTypeInfo {
	out := ec2.InstanceTypeInfo{
		InstanceType: t.Name, CurrentGeneration: new(true), BareMetal: new(false), Hypervisor: "nitro", FreeTierEligible: new(false),
		BurstablePerformanceSupported: new(t.Burstable), InstanceStorageSupported: new(false),
		SupportedUsageClasses:    []string{"on-demand", "spot"},
		SupportedRootDeviceTypes: []string{"ebs"}, SupportedVirtualizationTypes: []string{"hvm"},
		ProcessorInfo: &ec2.ProcessorInfo{SupportedArchitectures: []string{t.Architecture}},
		VCpuInfo: &ec2.VCpuInfo{DefaultVCpus: new(int32(t.CPUs)), DefaultCores: new(int32(max(1, t.CPUs/2))),
			DefaultThreadsPerCore: new(int32(2))},
		MemoryInfo:  &ec2.MemoryInfo{SizeInMiB: new(int64(t.MemoryMiB))},
		NetworkInfo: &ec2.NetworkInfo{MaximumNetworkInterfaces: new(int32(t.Interfaces)), Ipv4AddressesPerInterface: new(int32(t.Addresses))},
		EbsInfo:     &ec2.EbsInfo{EbsOptimizedSupport: "default", EncryptionSupport: "supported", NvmeSupport: "required"},
	}
	if t.Gpus > 0 {
		out.GpuInfo = &ec2.GpuInfo{TotalGpuMemoryInMiB: new(int32(16384 * t.Gpus)), Gpus: []ec2.GpuDeviceInfo{{
			Name: new("T4"), Manufacturer: new("NVIDIA"), Count: new(int32(t.Gpus)),
			MemoryInfo: &ec2.GpuDeviceMemoryInfo{SizeInMiB: new(int32(16384))},
		}}}
	}
	return out
}

func (r *Images) describeInstanceTypeOfferings(in *ec2.DescribeInstanceTypeOfferingsInput) (*ec2.DescribeInstanceTypeOfferingsOutput,
	error) {
	var found []ec2.InstanceTypeOffering
	for _, place := range r.places(in.LocationType) {
		for _, n := range slices.Sorted(maps.Keys(catalogue.InstanceTypes)) {
			ok, err := matchFilters(in.Filters, attributes{"instance-type": {n}, "location": {place}}, nil)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, ec2.InstanceTypeOffering{InstanceType: n, Location: new(place), LocationType: in.LocationType})
			}
		}
	}
	size, err := pageSize(in.MaxResults, 5, 1000, 1000, nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b ec2.InstanceTypeOffering) int { return strings.Compare(offeringKey(a), offeringKey(b)) })
	page, next, err := account.Paged(r.Core, found, offeringKey, in.NextToken, r.Page(size))
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: page, NextToken: next}, err
}

func offeringKey(o ec2.InstanceTypeOffering) string {
	return shapes.Str(o.Location) + "/" + o.InstanceType
}

// places are the locations of a kind; every type is offered everywhere.
func (r *Images) places(kind string) []string {
	switch kind {
	case "availability-zone":
		return account.ZonesOf(r.Region)
	case "availability-zone-id":
		var out []string
		for _, z := range account.ZonesOf(r.Region) {
			out = append(out, account.ZoneID(r.Region, z))
		}
		return out
	}
	return []string{r.Region}
}

package aws

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

const imageTime = "2006-01-02T15:04:05.000Z"

func (r *realm) describeImages(in *ec2.DescribeImagesInput) (*ec2.DescribeImagesOutput, error) {
	found, err := r.imagesAsked(in)
	if err != nil {
		return nil, err
	}
	size, err := pageSize(in.MaxResults, 1, 1000, 0, nil)
	if err != nil {
		return nil, err
	}
	page, next, err := paged(found, func(i *Image) string { return i.ID }, in.NextToken, r.page(size))
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
func (r *realm) imagesAsked(in *ec2.DescribeImagesInput) ([]*Image, error) {
	candidates, err := r.imagesByID(in.ImageIds)
	if err != nil {
		return nil, err
	}
	var found []*Image
	for _, i := range candidates {
		hidden := i.Deprecated && !val(in.IncludeDeprecated) && i.OwnerID != r.account && len(in.ImageIds) == 0
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
	slices.SortFunc(found, func(a, b *Image) int { return strings.Compare(a.ID, b.ID) })
	return found, nil
}

// named reports an image whose name the filters let pass. There are thousands of images and one filter that tells most of them
// apart, so it is looked at before the others.
func named(filters []ec2.Filter, name string) bool {
	for _, f := range filters {
		if str(f.Name) == "name" && !slices.ContainsFunc(f.Values, func(p string) bool { return glob(p, name) }) {
			return false
		}
	}
	return true
}

// imagesByID are the images of those IDs, which must exist, or all.
func (r *realm) imagesByID(ids []string) ([]*Image, error) {
	if len(ids) == 0 {
		return slices.Concat(slices.Collect(values(r.images.All())), r.published.images), nil
	}
	var out []*Image
	for _, id := range ids {
		if !strings.HasPrefix(id, "ami-") {
			return nil, refuse("InvalidAMIID.Malformed", `Invalid id: "%s" (expecting "ami-...")`, id)
		}
		i := r.image(id)
		if i == nil {
			return nil, refuse("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
		}
		out = append(out, i)
	}
	return out, nil
}

// ownedBy reports an image of one of the owners, named by account, alias or as self.
func (r *realm) ownedBy(i *Image, owners []string) bool {
	return len(owners) == 0 || slices.ContainsFunc(owners, func(o string) bool {
		return o == i.OwnerID || o == "self" && i.OwnerID == r.account || o != "" && o == i.OwnerAlias
	})
}

func imageAttributes(i *Image) attributes {
	return attributes{
		"image-id": {i.ID}, "name": {i.Name}, "owner-id": {i.OwnerID}, "owner-alias": {i.OwnerAlias}, "architecture": {i.Architecture},
		"state": {"available"}, "virtualization-type": {"hvm"}, "root-device-type": {"ebs"}, "image-type": {"machine"}, "is-public": {"true"},
		"hypervisor": {"xen"}, "creation-date": {i.Created.UTC().Format(imageTime)}, "ena-support": {"true"}, "platform": nil,
		"root-device-name": {"/dev/sda1"}, "block-device-mapping.volume-type": {"gp3"},
	}
}

func showImage(i *Image) ec2.Image {
	return ec2.Image{
		ImageId: ptr(i.ID), Name: ptr(i.Name), OwnerId: ptr(i.OwnerID), ImageOwnerAlias: opt(i.OwnerAlias), Architecture: i.Architecture,
		State: "available", VirtualizationType: "hvm", RootDeviceType: "ebs", RootDeviceName: ptr("/dev/sda1"), ImageType: "machine",
		Public: ptr(true), Hypervisor: "xen", EnaSupport: ptr(true), CreationDate: ptr(i.Created.UTC().Format(imageTime)),
		ImageLocation: ptr(i.OwnerID + "/" + i.Name), PlatformDetails: ptr("Linux/UNIX"), UsageOperation: ptr("RunInstances"),
		Description: opt(describeImage(i)), BlockDeviceMappings: []ec2.BlockDeviceMapping{{
			DeviceName: ptr("/dev/sda1"),
			Ebs:        &ec2.EbsBlockDevice{VolumeSize: ptr(int32(8)), VolumeType: "gp3", DeleteOnTermination: ptr(true), Encrypted: ptr(false)},
		}},
	}
}

func describeImage(i *Image) string {
	if i.KubeletVersion == "" {
		return ""
	}
	return "Kubernetes " + i.KubeletVersion
}

func (r *realm) describeInstanceTypes(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
	names := slices.Sorted(maps.Keys(instanceTypes))
	if len(in.InstanceTypes) > 0 {
		var missing []string
		for _, n := range in.InstanceTypes {
			if _, ok := instanceTypes[n]; !ok {
				missing = append(missing, n)
			}
		}
		if missing != nil {
			return nil, refuse("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(missing, ", "))
		}
		names = slices.Sorted(slices.Values(in.InstanceTypes))
	}
	var found []string
	for _, n := range names {
		t := instanceTypes[n]
		ok, err := matchFilters(in.Filters, attributes{
			"instance-type": {n}, "processor-info.supported-architecture": {t.architecture}, "vcpu-info.default-vcpus": {strconv.Itoa(t.cpus)},
			"memory-info.size-in-mib": {strconv.Itoa(t.memoryMiB)}, "current-generation": {"true"}, "bare-metal": {"false"},
			"burstable-performance-supported": {strconv.FormatBool(t.burstable)}, "supported-usage-class": {"on-demand", "spot"}, "hypervisor": {"nitro"},
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
	page, next, err := paged(found, func(n string) string { return n }, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceTypesOutput{NextToken: next}
	for _, n := range page {
		out.InstanceTypes = append(out.InstanceTypes, showType(instanceTypes[n]))
	}
	return out, nil
}

func showType(t instanceType) ec2.InstanceTypeInfo {
	out := ec2.InstanceTypeInfo{
		InstanceType: t.name, CurrentGeneration: ptr(true), BareMetal: ptr(false), Hypervisor: "nitro", FreeTierEligible: ptr(false),
		BurstablePerformanceSupported: ptr(t.burstable), InstanceStorageSupported: ptr(false), SupportedUsageClasses: []string{"on-demand", "spot"},
		SupportedRootDeviceTypes: []string{"ebs"}, SupportedVirtualizationTypes: []string{"hvm"},
		ProcessorInfo: &ec2.ProcessorInfo{SupportedArchitectures: []string{t.architecture}},
		VCpuInfo:      &ec2.VCpuInfo{DefaultVCpus: ptr(int32(t.cpus)), DefaultCores: ptr(int32(max(1, t.cpus/2))), DefaultThreadsPerCore: ptr(int32(2))},
		MemoryInfo:    &ec2.MemoryInfo{SizeInMiB: ptr(int64(t.memoryMiB))},
		EbsInfo:       &ec2.EbsInfo{EbsOptimizedSupport: "default", EncryptionSupport: "supported", NvmeSupport: "required"},
	}
	if t.gpus > 0 {
		out.GpuInfo = &ec2.GpuInfo{TotalGpuMemoryInMiB: ptr(int32(16384 * t.gpus)), Gpus: []ec2.GpuDeviceInfo{{
			Name: ptr("T4"), Manufacturer: ptr("NVIDIA"), Count: ptr(int32(t.gpus)), MemoryInfo: &ec2.GpuDeviceMemoryInfo{SizeInMiB: ptr(int32(16384))},
		}}}
	}
	return out
}

func (r *realm) describeInstanceTypeOfferings(in *ec2.DescribeInstanceTypeOfferingsInput) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	var found []ec2.InstanceTypeOffering
	for _, place := range r.places(in.LocationType) {
		for _, n := range slices.Sorted(maps.Keys(instanceTypes)) {
			ok, err := matchFilters(in.Filters, attributes{"instance-type": {n}, "location": {place}}, nil)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, ec2.InstanceTypeOffering{InstanceType: n, Location: ptr(place), LocationType: in.LocationType})
			}
		}
	}
	size, err := pageSize(in.MaxResults, 5, 1000, 1000, nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b ec2.InstanceTypeOffering) int { return strings.Compare(offeringKey(a), offeringKey(b)) })
	page, next, err := paged(found, offeringKey, in.NextToken, r.page(size))
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: page, NextToken: next}, err
}

func offeringKey(o ec2.InstanceTypeOffering) string { return str(o.Location) + "/" + o.InstanceType }

// places are the locations of a kind; every type is offered everywhere.
func (r *realm) places(kind string) []string {
	switch kind {
	case "availability-zone":
		return zonesOf(r.region)
	case "availability-zone-id":
		var out []string
		for _, z := range zonesOf(r.region) {
			out = append(out, zoneID(r.region, z))
		}
		return out
	}
	return []string{r.region}
}

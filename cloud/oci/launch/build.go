package launch

import (
	"encoding/base64"
	"encoding/json"
	"maps"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/pool"
)

const (
	// userData is the key of the metadata with the bootstrap data.
	userData = "user_data"
	// metadataLimit is the maximum size of metadata and extended metadata together, in bytes.
	metadataLimit = 32000
	// instanceType is the type of the instance details that launch instances.
	instanceType = "compute"
)

// Fields of the specification.
const (
	FieldBootstrap = "spec.template.spec.bootstrap"

	fieldConfiguration = "spec.instanceConfiguration."
	fieldMetadata      = fieldConfiguration + "metadata"
	FieldShape         = fieldConfiguration + "shape"
	FieldShapeConfig   = fieldConfiguration + "shapeConfig"
	fieldDedicatedHost = fieldConfiguration + "dedicatedVmHostId"
	FieldImage         = fieldConfiguration + "instanceSourceViaImageConfig"
	fieldVolume        = fieldConfiguration + "instanceSourceViaBootVolumeConfig"
)

// Source holds the input of an instance configuration.
type Source struct {
	Owner   cloud.Owner
	Pool    *ociv1.OCIMachinePoolSpec
	Cluster *ociv1.ClusterView
	// Group is the name of the instance pool.
	Group     string
	Bootstrap cloud.Bootstrap
}

// Template is an instance configuration as it is desired. Its Ref is empty.
type Template struct {
	pool.Template
	// Name is the display name.
	Name string
	// Tags are the freeform tags of the configuration itself. Its instances have those without TagTemplate.
	Tags        map[string]string
	DefinedTags map[string]map[string]any
	Details     *core.InstanceConfigurationLaunchInstanceDetails
	parts       fields.Description
}

// Build translates the specification. The error names the field that can't be translated.
func (s Source) Build() (Template, error) {
	is := &s.Pool.InstanceConfiguration
	if host := text(is.DedicatedVMHostID); host != nil {
		return Template{}, cloud.Invalidf(fieldDedicatedHost, "found %s: OCI launches no instance pool on a dedicated host. Remove the "+
			"field, or use machines that do not belong to a pool", *host)
	}
	details := &core.InstanceConfigurationLaunchInstanceDetails{
		CompartmentId: text(&s.Cluster.CompartmentID), Shape: text(&is.Shape), FreeformTags: Tags(s.Cluster, s.Owner),
		DefinedTags: DefinedTags(s.Cluster), CapacityReservationId: is.CapacityReservationID, AvailabilityConfig: availabilityOf(is),
		PreemptibleInstanceConfig: preemptibleOf(is), LaunchOptions: launchOptionsOf(is), InstanceOptions: instanceOptionsOf(is),
		IsPvEncryptionInTransitEnabled: is.IsPvEncryptionInTransitEnabled,
	}
	for _, part := range []func(*core.InstanceConfigurationLaunchInstanceDetails) error{
		s.putShape, s.putImage, s.putNetwork, s.putPlatform, s.putAgent, s.putMetadata,
	} {
		if err := part(details); err != nil {
			return Template{}, err
		}
	}
	t := Template{Details: details, DefinedTags: details.DefinedTags, Tags: maps.Clone(details.FreeformTags), parts: Rows.Describe(details)}
	t.Content, t.Data = s.Bootstrap.Content(contentOf(t.parts)), s.Bootstrap.Hash()
	t.Name, t.Tags[TagTemplate] = Name(s.Group, s.Owner, t.Template), templateTag(t.Template)
	return t, nil
}

// Request returns the request that creates the configuration.
func (t Template) Request() *core.CreateInstanceConfigurationBase {
	return &core.CreateInstanceConfigurationBase{
		CompartmentId: t.Details.CompartmentId, DisplayName: &t.Name, FreeformTags: t.Tags, DefinedTags: t.DefinedTags,
		InstanceDetails: &core.InstanceConfigurationInstanceDetails{InstanceType: new(instanceType), LaunchDetails: t.Details},
	}
}

// text returns a text of a request; nil for an empty one, which means the same as an absent one.
func text(value *string) *string {
	if value == nil || *value == "" {
		return nil
	}
	return value
}

// putImage sets the image, or the boot volume.
func (s Source) putImage(d *core.InstanceConfigurationLaunchInstanceDetails) error {
	is := &s.Pool.InstanceConfiguration
	image, volume := is.InstanceSourceViaImageConfig, is.InstanceSourceViaBootVolumeConfig
	switch {
	case volume != nil && image != nil:
		return cloud.Invalidf(fieldVolume, "can't be set together with %s: instances boot from one of the two", FieldImage)
	case volume != nil:
		d.SourceDetails = &core.InstanceConfigurationInstanceSourceDetails{SourceType: new(sourceVolume), BootVolumeId: &volume.BootVolumeID}
		return nil
	case image == nil || text(image.ImageID) == nil:
		return cloud.Invalidf(FieldImage+".imageId", "no image is set: set the OCID of the image that instances boot from")
	}
	d.SourceDetails = &core.InstanceConfigurationInstanceSourceDetails{
		SourceType: new(sourceImage), ImageId: image.ImageID, KmsKeyId: text(image.KMSKeyID),
		BootVolumeSizeInGBs: number(image.BootVolumeSizeInGBs),
		BootVolumeVpusPerGB: number(image.BootVolumeVPUsPerGB),
	}
	return nil
}

// The types of sources.
const sourceImage, sourceVolume = "image", "bootVolume"

func number(value *int64) *int {
	if value == nil {
		return nil
	}
	return new(int(*value))
}

// putMetadata sets the metadata with the bootstrap data, and returns an error if they are too large.
func (s Source) putMetadata(d *core.InstanceConfigurationLaunchInstanceDetails) error {
	is := &s.Pool.InstanceConfiguration
	d.Metadata = map[string]string{}
	maps.Copy(d.Metadata, is.Metadata)
	delete(d.Metadata, userData)
	for key, raw := range is.ExtendedMetadata {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return cloud.Invalidf(fieldConfiguration+"extendedMetadata", "the value of %s is no JSON: %v", key, err)
		}
		if d.ExtendedMetadata == nil {
			d.ExtendedMetadata = map[string]any{}
		}
		d.ExtendedMetadata[key] = value
	}
	others := sizeOf(d)
	if !s.Bootstrap.Empty() {
		d.Metadata[userData] = base64.StdEncoding.EncodeToString(s.Bootstrap.Data())
	}
	if all := sizeOf(d); others > metadataLimit {
		return cloud.Invalidf(fieldMetadata, "metadata and extendedMetadata have %d bytes, and OCI takes %d at most", others, metadataLimit)
	} else if all > metadataLimit {
		return cloud.Invalidf(FieldBootstrap, "the bootstrap data has %d bytes, which are %d in base64, and other metadata %d: OCI takes %d in "+
			"all. Have instances load files instead of writing them from the bootstrap data, or "+
			"shorten %s", len(s.Bootstrap.Data()), all-others, others,
			metadataLimit, fieldMetadata)
	}
	return nil
}

// sizeOf returns the size of all metadata in bytes, as requests have them.
func sizeOf(d *core.InstanceConfigurationLaunchInstanceDetails) (size int) {
	for _, part := range []any{d.Metadata, d.ExtendedMetadata} {
		encoded, _ := json.Marshal(part) // texts, and what was decoded from JSON: both can always be encoded
		size += len(encoded)
	}
	return size
}

package instancepool

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
)

// settings are those of a pool: as they are, or as they are desired.
type settings struct {
	is *core.InstancePool
	// places are the desired placement; nil if it is not known.
	places []place
	// name and tags are the desired ones.
	name        string
	tags        map[string]string
	definedTags map[string]map[string]any
}

// table holds the fields of a pool. A request changes all of them.
type table = fields.Table[settings, *core.UpdateInstancePoolDetails]

// tagsName is the row of the freeform tags, which hold the record of the surge too.
const tagsName = "freeformTags"

// rows are the fields of a pool. Those without a path in the specification are of the cluster, or Muster's own.
var rows = table{
	{Name: "placementConfigurations", Spec: fieldPlacement, Owned: fields.ServiceOwned{None: true},
		Doc: "places new instances in these availability domains, and replaces those in others",
		Differs: func(want, is settings) bool {
			return want.places != nil && !samePlaces(want.places, is.is.PlacementConfigurations)
		},
		Put: func(r *core.UpdateInstancePoolDetails, want, is settings) {
			r.PlacementConfigurations = updated(want.places, is.is.PlacementConfigurations)
		}},
	{Name: "displayName",
		Differs: func(want, is settings) bool { return value(is.is.DisplayName) != want.name },
		Put:     func(r *core.UpdateInstancePoolDetails, want, _ settings) { r.DisplayName = new(want.name) }},
	{Name: tagsName,
		Differs: func(want, is settings) bool {
			put, _ := fields.Changes(want.tags, is.is.FreeformTags, func(string) bool { return false })
			return len(put) > 0
		},
		Put: func(r *core.UpdateInstancePoolDetails, want, _ settings) { maps.Copy(r.FreeformTags, want.tags) }},
	{Name: "definedTags",
		Differs: func(want, is settings) bool {
			for namespace, tags := range want.definedTags {
				for key, tag := range tags {
					if is.is.DefinedTags[namespace][key] != tag {
						return true
					}
				}
			}
			return false
		},
		Put: func(r *core.UpdateInstancePoolDetails, want, _ settings) {
			r.DefinedTags = merged(r.DefinedTags, want.definedTags)
		}},
	{Name: "lifecycleManagement",
		Differs: func(_, is settings) bool { return hooked(is.is) == nil },
		Put:     func(r *core.UpdateInstancePoolDetails, _, _ settings) { r.LifecycleManagement = lifecycle() }},
}

// merged returns defined tags with others set.
func merged(is, set map[string]map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, from := range []map[string]map[string]any{is, set} {
		for namespace, tags := range from {
			if out[namespace] == nil {
				out[namespace] = map[string]any{}
			}
			maps.Copy(out[namespace], tags)
		}
	}
	return out
}

// Rows returns the documented parts of the fields of a pool, those of instances first.
func Rows() []fields.Row { return slices.Concat(launch.Rows.Rows(), rows.Rows()) }

// whole returns a request that leaves the pool as it is: an update may replace everything that it has a member for.
func whole(is *core.InstancePool) *core.UpdateInstancePoolDetails {
	tags := maps.Clone(is.FreeformTags)
	if tags == nil {
		tags = map[string]string{}
	}
	return &core.UpdateInstancePoolDetails{
		DisplayName: is.DisplayName, FreeformTags: tags, DefinedTags: is.DefinedTags, InstanceConfigurationId: is.InstanceConfigurationId,
		InstanceDisplayNameFormatter: is.InstanceDisplayNameFormatter, InstanceHostnameFormatter: is.InstanceHostnameFormatter,
		LifecycleManagement: is.LifecycleManagement, OverridePolicy: is.OverridePolicy,
		PlacementConfigurations: kept(is.PlacementConfigurations), Size: is.Size,
	}
}

// withField names the field of the specification that a refusal is about, where OCI names the parameter.
func withField(_ *writer, err error) error {
	return driverkit.WithField(err, func(_ *cloud.Error, part string) string { return fieldOf(part) })
}

// fieldOf returns the field of the specification that a parameter comes from; empty if it is none's.
func fieldOf(part string) string {
	name := part[strings.LastIndexByte(part, '.')+1:]
	if path, known := parameters[name]; known {
		return path
	}
	for _, r := range Rows() {
		if strings.EqualFold(r.Name, name) || r.Place != "" && strings.EqualFold(r.Place[strings.LastIndexByte(r.Place, '.')+1:], name) {
			return r.Spec
		}
	}
	return ""
}

// parameters are the fields of parameters that have another name than their row.
var parameters = map[string]string{
	"imageId": launch.FieldImage, "bootVolumeSizeInGBs": launch.FieldImage, "ocpus": launch.FieldShapeConfig,
	"memoryInGBs": launch.FieldShapeConfig, "size": fields.Replicas, "subnetId": launch.FieldSubnet, "primarySubnetId": launch.FieldSubnet,
	"availabilityDomain": fieldPlacement, "user_data": launch.FieldBootstrap,
}

package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/core"
)

// details is the document that instances are launched from.
type details = *core.InstanceConfigurationLaunchInstanceDetails

// allMuster marks lists to which OCI adds nothing.
var allMuster = fields.ServiceOwned{None: true}

// Rows are the fields of the specification that instances get from an instance configuration. The names and values of those that have a
// value are in the hashes of contents, so that they stay as they are. The places are members of the launch details in requests.
var Rows = fields.Table[details, struct{}]{
	rolls("shape", "shape", func(d details) any { return optional(d.Shape) }),
	rolls("shapeConfig", "shapeConfig", func(d details) any { return valuesOf(d.ShapeConfig) }),
	{Name: "source", Place: "sourceDetails", Spec: FieldImage, Alias: fieldVolume, Effect: fields.Rolls,
		Value: func(d details) any { return valuesOf(d.SourceDetails) }},
	{Name: "subnet", Place: "createVnicDetails.subnetId", Spec: FieldSubnet, Alias: fieldSubnetName, Effect: fields.Rolls,
		Value: ofVNIC(func(v vnic) any { return optional(v.SubnetId) })},
	{Name: "securityGroups", Place: "createVnicDetails.nsgIds", Spec: fieldGroups, Alias: fieldGroupNames, Effect: fields.Rolls,
		Owned: allMuster, Value: ofVNIC(func(v vnic) any {
			if len(v.NsgIds) == 0 {
				return nil
			}
			return written(slices.Sorted(slices.Values(v.NsgIds)))
		})},
	{Name: "nsgId", Place: "createVnicDetails.nsgIds", Spec: fieldVNIC + "nsgId", Effect: fields.Rolls},
	rolls("assignPublicIp", "instanceVnicConfiguration.assignPublicIp", ofVNIC(func(v vnic) any { return optional(v.AssignPublicIp) })),
	rolls("assignIpv6Ip", "instanceVnicConfiguration.assignIpv6Ip", ofVNIC(func(v vnic) any { return optional(v.AssignIpv6Ip) })),
	rolls("skipSourceDestCheck", "instanceVnicConfiguration.skipSourceDestCheck",
		ofVNIC(func(v vnic) any { return optional(v.SkipSourceDestCheck) })),
	rolls("hostnameLabel", "instanceVnicConfiguration.hostnameLabel", ofVNIC(func(v vnic) any { return optional(v.HostnameLabel) })),
	rolls("vnicDisplayName", "instanceVnicConfiguration.displayName", ofVNIC(func(v vnic) any { return optional(v.DisplayName) })),
	rolls("assignPrivateDnsRecord", "instanceVnicConfiguration.assignPrivateDnsRecord",
		ofVNIC(func(v vnic) any { return optional(v.AssignPrivateDnsRecord) })),
	rolls("platformConfig", "platformConfig", func(d details) any { return valuesOf(d.PlatformConfig) }),
	{Name: "agentConfig", Spec: fieldConfiguration + "agentConfig", Effect: fields.Rolls, Owned: allMuster, Value: agentValues},
	rolls("preemptibleInstanceConfig", "preemptibleInstanceConfig", func(d details) any {
		if d.PreemptibleInstanceConfig == nil {
			return nil
		}
		return valuesOf(d.PreemptibleInstanceConfig.PreemptionAction)
	}),
	rolls("availabilityConfig", "availabilityConfig", func(d details) any { return valuesOf(d.AvailabilityConfig) }),
	rolls("launchOptions", "launchOptions", func(d details) any { return valuesOf(d.LaunchOptions) }),
	rolls("instanceOptions", "instanceOptions", func(d details) any { return valuesOf(d.InstanceOptions) }),
	rolls("isPvEncryptionInTransitEnabled", "isPvEncryptionInTransitEnabled",
		func(d details) any { return optional(d.IsPvEncryptionInTransitEnabled) }),
	rolls("capacityReservationId", "capacityReservationId", func(d details) any { return optional(d.CapacityReservationId) }),
	{Name: "dedicatedVmHostId", Spec: fieldDedicatedHost, Effect: fields.Fixed,
		Doc: "is refused: OCI launches no instance pool on a dedicated host"},
	{Name: "metadata", Spec: fieldMetadata, Effect: fields.Rolls, Owned: allMuster, Value: metadataValues},
	{Name: "extendedMetadata", Spec: fieldConfiguration + "extendedMetadata", Effect: fields.Rolls, Owned: allMuster,
		Value: func(d details) any {
			out := map[string]string{}
			for key, value := range d.ExtendedMetadata {
				out[key] = written(value)
			}
			return entries(out)
		}},
}

// rolls returns the row of a field that has the same name in requests.
func rolls(name, below string, value func(details) any) fields.Field[details, struct{}] {
	return fields.Field[details, struct{}]{Name: name, Spec: fieldConfiguration + below, Effect: fields.Rolls, Value: value}
}

type vnic = *core.InstanceConfigurationCreateVnicDetails

// ofVNIC returns a value of the network interface; nil where there is none.
func ofVNIC(value func(vnic) any) func(details) any {
	return func(d details) any {
		if d.CreateVnicDetails == nil {
			return nil
		}
		return value(d.CreateVnicDetails)
	}
}

// optional returns the value behind a pointer; nil for nil.
func optional[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

// valuesOf returns the values of a part of the document by their names in requests; nil if it has none.
func valuesOf[T any](part *T) any {
	if part == nil {
		return nil
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(written(part)), &members); err != nil {
		return nil // a struct is always an object in JSON
	}
	out := map[string]string{}
	for name, value := range members {
		if value != nil {
			out[name] = fmt.Sprint(value)
		}
	}
	return entries(out)
}

// entries returns a map as the value of a field; nil for an empty one.
func entries(values map[string]string) any {
	if len(values) == 0 {
		return nil
	}
	return values
}

func agentValues(d details) any {
	if d.AgentConfig == nil {
		return nil
	}
	without := *d.AgentConfig
	without.PluginsConfig = nil
	out, _ := valuesOf(&without).(map[string]string)
	if out == nil {
		out = map[string]string{}
	}
	for _, plugin := range d.AgentConfig.PluginsConfig {
		if plugin.Name != nil && plugin.DesiredState != nil {
			out["plugin "+*plugin.Name] = *plugin.DesiredState
		}
	}
	return entries(out)
}

// metadataValues returns the metadata without the bootstrap data, which makes no machine another.
func metadataValues(d details) any {
	out := maps.Clone(d.Metadata)
	delete(out, userData)
	return entries(out)
}

func written(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		return "" // texts, numbers, and structs and maps of them can always be encoded
	}
	return string(encoded)
}

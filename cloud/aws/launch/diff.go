package launch

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// parts are a launch template's content in pieces that a person would change one at a time: each by the service's
// name of the field. A volume is a piece of its own, by its device.
type parts map[string]part

// part is one piece: what tells it apart, and its values as a person reads them.
type part struct {
	digest string
	leaves map[string]string
}

const (
	partType    = "InstanceType"
	partVolumes = "BlockDeviceMappings"
	partMarket  = "InstanceMarketOptions"
	// partVolume comes before the device's name.
	partVolume = "volume "
	// partLength is in hex digits: enough to tell two values of one field apart.
	partLength = 8
)

// fieldsOfParts are the object's fields behind what is sent, whatever of them was changed.
var fieldsOfParts = map[string]string{
	"ImageId":                          Field + ".ami",
	partType:                           fieldType,
	"KeyName":                          fieldKey,
	"IamInstanceProfile":               fieldProfile,
	"SecurityGroupIds":                 fieldGroups,
	"MetadataOptions":                  Field + ".instanceMetadataOptions",
	"PrivateDnsNameOptions":            Field + ".privateDnsName",
	"EnclaveOptions":                   Field + ".enclaveOptions",
	"CapacityReservationSpecification": fieldReservation,
}

// partsOf takes a launch template apart, as it is sent or as it is shown: both have the same names.
func partsOf(data any) parts {
	out := parts{}
	for name, field := range encodeStruct(reflect.ValueOf(data), outside) {
		switch name {
		case partVolumes:
			list, _ := field.([]any)
			for _, item := range list {
				volume, _ := item.(map[string]any)
				device, _ := volume["DeviceName"].(string)
				out.put(partVolume+device, volume)
			}
			continue
		case "MetadataOptions":
			// What is shown says beside what was sent whether it has been applied.
			if options, ok := field.(map[string]any); ok {
				delete(options, "State")
			}
		}
		out.put(name, field)
	}
	return out
}

func (p parts) put(name string, value any) {
	if text, err := json.Marshal(value); err == nil {
		p[name] = part{digest: cloud.Digest(text, partLength), leaves: map[string]string{}}
		leavesOf("", value, p[name].leaves)
	}
}

// Differences says for a template's version in which of the object's fields it differs from what is wanted. It is empty for those
// with the wanted content and where nothing is known. It is for people: what is stale is told by the content's hash alone.
func (p Pass) Differences(want Want) func(ref string) []string {
	if want.Template.UserManaged {
		return func(ref string) []string {
			if of := p.Memory.TemplateOf(ref); of.Content == "" || of.Same(want.Template) {
				return nil
			}
			return []string{fieldExisting}
		}
	}
	known := map[string][]string{}
	if want.data != nil {
		wanted := partsOf(*want.data)
		for _, v := range p.Memory.versions {
			if v.parts != nil && !v.Same(want.Template) {
				known[v.Ref] = changedFields(v.parts, wanted, p.Source.Spec, want.RootDevice)
				if cloud.OtherBootstrap(v.Content, want.Template.Content) {
					known[v.Ref] = append(known[v.Ref], fieldBootstrap)
				}
			}
		}
	}
	return func(ref string) []string { return known[ref] }
}

// SameButType reports for a template's version whether it differs from what is wanted in its instance type alone.
func (m *Memory) SameButType(want Want) func(ref string) bool {
	if m.given != nil {
		return m.sameGivenButType(want.Template.Ref)
	}
	same := map[string]bool{}
	if want.data != nil {
		wanted := partsOf(*want.data)
		for _, v := range m.versions {
			same[v.Ref] = v.parts != nil && !cloud.OtherBootstrap(v.Content, want.Template.Content) && v.parts.sameBut(wanted, partType)
		}
	}
	return func(ref string) bool { return same[ref] }
}

// sameBut reports whether two templates have the same parts, one of them aside.
func (p parts) sameBut(other parts, name string) bool {
	is, want := maps.Clone(p), maps.Clone(other)
	delete(is, name)
	delete(want, name)
	return maps.EqualFunc(is, want, part.same)
}

// changedFields returns the object's fields behind the parts in which a template differs from what is wanted. All parts of a template are
// shown, so that one that only one of both has differs as well.
func changedFields(is, want parts, spec *awsv1.AWSLaunchTemplate, rootDevice string) []string {
	var paths []string
	for name := range union(is, want) {
		if !is[name].same(want[name]) {
			paths = append(paths, fieldOfPart(name, spec, rootDevice))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// same reports whether two values of a part are the same.
func (p part) same(other part) bool { return p.digest == other.digest }

func fieldOfPart(name string, spec *awsv1.AWSLaunchTemplate, rootDevice string) string {
	switch {
	case name == partVolume+rootDevice:
		return fieldRoot
	case len(name) > len(partVolume) && name[:len(partVolume)] == partVolume:
		return Field + ".nonRootVolumes"
	case name == partMarket && spec.MarketType != "":
		return Field + ".marketType"
	case name == partMarket:
		return Field + ".spotMarketOptions"
	}
	if field, ok := fieldsOfParts[name]; ok {
		return field
	}
	return Field
}

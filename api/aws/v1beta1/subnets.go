package v1beta1

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/muster-project/muster/api/aws/v1beta2"
)

// SubnetReference names a subnet. Manifests spell it as an object with id or filters, or as the ID alone.
type SubnetReference v1beta2.AWSResourceReference

// SubnetReferences is a list of subnets in either form; it is always encoded as objects. No structural schema can describe "string or
// object", so the items have none, and errors in them are found by decoding.
// +listType=atomic
// +kubebuilder:validation:MaxItems=100
type SubnetReferences []SubnetReference

// UnmarshalJSON accepts objects and strings. The error names the item, the value found and the allowed forms.
func (s *SubnetReferences) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return fmt.Errorf("spec.subnets: want a list of subnets, found %s", kindOf(data))
	}
	if items == nil {
		*s = nil
		return nil
	}
	references := make(SubnetReferences, len(items))
	for i, item := range items {
		if err := references[i].decode(item); err != nil {
			return fmt.Errorf("spec.subnets[%d]: %w", i, err)
		}
	}
	*s = references
	return nil
}

// allowedSubnets describes the allowed forms of an item in messages.
const allowedSubnets = "want a subnet's ID as a string, or an object with id or filters"

func (r *SubnetReference) decode(item []byte) error {
	switch kindOf(item) {
	case "a string":
		var id string
		if err := json.Unmarshal(item, &id); err != nil {
			return fmt.Errorf("%s, found %s: %w", allowedSubnets, item, err)
		}
		if id == "" {
			return fmt.Errorf("%s, found an empty string", allowedSubnets)
		}
		*r = SubnetReference{ID: &id}
		return nil
	case "an object":
		var object v1beta2.AWSResourceReference
		decoder := json.NewDecoder(bytes.NewReader(item))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&object); err != nil {
			return fmt.Errorf("%s: %w", allowedSubnets, err)
		}
		*r = SubnetReference(object)
		return nil
	default:
		return fmt.Errorf("%s, found %s", allowedSubnets, kindOf(item))
	}
}

// check holds here the two rules that the schema of the stored version has on references: the schema of this version
// can't reach into the items.
func (s SubnetReferences) check() error {
	for i, reference := range s {
		switch {
		case reference.ID != nil && *reference.ID == "":
			return fmt.Errorf("spec.subnets[%d].id: want a subnet's ID, found an empty string", i)
		case reference.ID != nil && len(reference.Filters) > 0:
			return fmt.Errorf("spec.subnets[%d]: id and filters exclude each other: set one of the two", i)
		case reference.ID == nil && len(reference.Filters) == 0:
			return fmt.Errorf("spec.subnets[%d]: one of id and filters must be set", i)
		}
	}
	return nil
}

// kindOf names the kind of JSON value that the data begins with.
func kindOf(data []byte) string {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return "nothing"
	}
	switch data[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	default:
		return "a number"
	}
}

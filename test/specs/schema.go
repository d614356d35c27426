package specs

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// schema describes an object, a member or the elements of one, as a discovery document does.
type schema struct {
	Ref         string             `json:"$ref,omitempty"`
	Type        string             `json:"type"`
	Format      string             `json:"format,omitempty"`
	Description string             `json:"description,omitempty"`
	ReadOnly    bool               `json:"readOnly,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Values      *schema            `json:"additionalProperties,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	// Annotations name the operations that need the member.
	Annotations annotations `json:"annotations,omitzero"`
}

type annotations struct {
	Required []string `json:"required,omitempty"`
}

// checkBody holds a body against the operation's schema.
func (o *Operation) checkBody(body string) error {
	switch {
	case body == "":
		return nil
	case o.body == "":
		return errors.New("it has no body")
	}
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return fmt.Errorf("decode the body: %w", err)
	}
	return o.value(v, &schema{Ref: o.body}, "")
}

// value holds a value against its schema. A null is one that a patch removes.
func (o *Operation) value(v any, s *schema, path string) error {
	if s.Ref != "" {
		s = o.from.Schemas[s.Ref]
	}
	good := true
	switch v := v.(type) {
	case nil:
		good = o.removes(path)
	case map[string]any:
		if s.Type == "object" {
			return o.object(v, s, path)
		}
		good = s.Type == "any"
	case []any:
		if s.Type != "array" {
			return fmt.Errorf("want no list at %s", path)
		}
		for i, e := range v {
			if err := o.value(e, s.Items, path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
	default:
		good = s.scalar(v)
	}
	if !good {
		return fmt.Errorf("%v at %s is not of type %s %s %v", v, path, s.Type, s.Format, s.Enum)
	}
	return nil
}

// removes reports whether a null at a path removes a member or counts as one that is left out.
func (o *Operation) removes(path string) bool {
	return path != "" && (o.from.Nulls || o.Method == http.MethodPatch)
}

// object holds an object against its schema.
func (o *Operation) object(v map[string]any, s *schema, path string) error {
	for name, value := range v {
		below := strings.TrimPrefix(path+"."+name, ".")
		member := s.Properties[name]
		switch {
		case member == nil && s.Values == nil:
			return fmt.Errorf("no member %s is published", below)
		case member == nil:
			member = s.Values
		case member.ReadOnly || strings.HasPrefix(member.Description, "Output only") || strings.HasPrefix(member.Description, "[Output Only]"):
			return fmt.Errorf("the service alone sets %s", below)
		}
		if err := o.value(value, member, below); err != nil {
			return err
		}
	}
	for name, member := range s.Properties {
		if _, has := v[name]; !has && slices.Contains(member.Annotations.Required, o.ID) {
			return fmt.Errorf("the member %s is needed at %q", name, path)
		}
	}
	return nil
}

// scalar reports whether a value is of the schema's type. Numbers of 64 bits are strings.
func (s *schema) scalar(v any) bool {
	switch v := v.(type) {
	case bool:
		return s.Type == "boolean" || s.Type == "any"
	case float64:
		return s.Type == "integer" || s.Type == "number" || s.Type == "any"
	case string:
		if s.Type == "string" && strings.HasSuffix(s.Format, "int64") {
			_, err := strconv.ParseFloat(v, 64)
			return err == nil
		}
		return (s.Type == "string" || s.Type == "any") && (len(s.Enum) == 0 || slices.Contains(s.Enum, v))
	}
	return false
}

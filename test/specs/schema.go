package specs

import (
	"encoding/json"
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
	// Required is true for a member that all operations need.
	Required bool `json:"-"`
}

type annotations struct {
	Required []string `json:"required,omitempty"`
}

// direction says which way a body goes.
type direction struct {
	// answers is true for answers: they have members that the service alone sets, and values of enumerations that are not published yet.
	answers bool
	// operation is the ID of the operation, removes is true if a null removes a member or counts as one that is left out.
	operation string
	removes   bool
	// version is that of the API that a request names, "" for the one that the schemas describe.
	version string
}

func reading(version string) direction { return direction{answers: true, version: version} }

func writing(o *Operation, version string) direction {
	return direction{operation: o.ID, removes: o.from.nulls || o.Method == http.MethodPatch, version: version}
}

// document holds a body against a schema.
func (o *Operation) document(body, name string, d direction) error {
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return fmt.Errorf("decode the body: %w", err)
	}
	return o.from.value(v, &schema{Ref: name}, "", d)
}

// value holds a value against its schema.
func (t *types) value(v any, s *schema, path string, d direction) error {
	name := s.Ref
	if name != "" {
		s = t.schemas[name]
	}
	if s == nil {
		return fmt.Errorf("no schema %s is published at %s", name, path)
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Type == "object" {
			return t.object(v, name, s, path, d)
		}
	case []any:
		if s.Type != "array" {
			return fmt.Errorf("want no list at %s", path)
		}
		return t.list(v, s, path, d)
	case nil:
		if d.removes && path != "" {
			return nil
		}
	}
	if !s.scalar(v, d.answers) {
		return fmt.Errorf("%v at %s is not of type %s %s %v", v, path, s.Type, s.Format, s.Enum)
	}
	return nil
}

// list holds the elements of a list against their schema.
func (t *types) list(v []any, s *schema, path string, d direction) error {
	for i, e := range v {
		if err := t.value(e, s.Items, path+"["+strconv.Itoa(i)+"]", d); err != nil {
			return err
		}
	}
	return nil
}

// object holds an object against its schema.
func (t *types) object(v map[string]any, of string, s *schema, path string, d direction) error {
	for name, value := range v {
		below, member := strings.TrimPrefix(path+"."+name, "."), s.member(name)
		switch {
		case member == nil && t.allows(of, name, d):
			continue
		case member == nil:
			return fmt.Errorf("no member %s is published", below)
		case !d.answers && member.isOutput():
			return fmt.Errorf("the service alone sets %s", below)
		}
		if err := t.value(value, member, below, d); err != nil {
			return err
		}
	}
	if name := s.lacking(v, d.operation); name != "" && !d.answers {
		return fmt.Errorf("the member %s is needed at %q", name, path)
	}
	return nil
}

// lacking returns a member that an operation needs and an object does not have, "" where it has all.
func (s *schema) lacking(v map[string]any, operation string) string {
	for name, member := range s.Properties {
		if _, has := v[name]; !has && (member.Required || slices.Contains(member.Annotations.Required, operation)) {
			return name
		}
	}
	return ""
}

// member returns the schema of a member, nil for one that is not published.
func (s *schema) member(name string) *schema {
	if member := s.Properties[name]; member != nil {
		return member
	}
	return s.Values
}

// allows reports whether a member that the schemas lack is known from elsewhere.
func (t *types) allows(of, name string, d direction) bool {
	if d.answers && t.shown[of+"."+name] {
		return true
	}
	since := t.since(of, name)
	return since != "" && (d.answers || d.version >= since)
}

// isOutput reports whether only the service sets a member.
func (s *schema) isOutput() bool {
	return s.ReadOnly || strings.HasPrefix(s.Description, "Output only") || strings.HasPrefix(s.Description, "[Output Only]")
}

// scalar reports whether a value is of the schema's type. Numbers of 64 bits are strings.
func (s *schema) scalar(v any, answers bool) bool {
	if s.Type == "any" {
		return v != nil
	}
	switch v := v.(type) {
	case bool:
		return s.Type == "boolean"
	case float64:
		return s.Type == "integer" || s.Type == "number"
	case string:
		if s.Type == "string" && strings.HasSuffix(s.Format, "int64") {
			_, err := strconv.ParseFloat(v, 64)
			return err == nil
		}
		return s.Type == "string" && (len(s.Enum) == 0 || answers || slices.Contains(s.Enum, v))
	}
	return false
}

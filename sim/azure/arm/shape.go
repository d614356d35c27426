package arm

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// Shapes are the members of each type of body by name, and what each is, as package shapes describes them.
type Shapes map[string]map[string]string

// ReadShapes decodes shapes from JSON. It returns nil for anything else, with which no body is accepted.
func ReadShapes(b []byte) Shapes {
	out := Shapes{}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil
	}
	return out
}

// Read decodes a body that must be of the shape. What only the service sets is taken off, as the service ignores it.
func (shapes Shapes) Read(x *Call, shape string) (document.Object, error) {
	var d document.Object
	if err := json.Unmarshal(x.Body, &d); err != nil || d == nil {
		return nil, Refuse(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Unexpected character encountered while parsing value. Path '', line "+
				"1, position 1.'.")
	}
	if err := shapes.fit(d, shape, ""); err != nil {
		return nil, err
	}
	return d, nil
}

// fit holds an object against its shape, and takes off what only the service sets.
func (shapes Shapes) fit(d document.Object, shape, path string) error {
	members := shapes[shape]
	for name, v := range d {
		at := strings.TrimPrefix(path+"."+name, ".")
		kind, known := members[name]
		if !known {
			return BadRequest("Could not find member '%s' on object of type '%s'. Path '%s', line 1, position 1.", name, shape, at)
		}
		if strings.HasPrefix(kind, "!") {
			delete(d, name)
			continue
		}
		if err := shapes.fits(v, kind, at); err != nil {
			return err
		}
	}
	return nil
}

// fits holds a value against a kind.
func (shapes Shapes) fits(v any, kind, path string) error {
	switch {
	case v == nil:
		return nil
	case strings.HasPrefix(kind, "[]"):
		l, isList := v.([]any)
		if !isList {
			return wrongType(v, "list", path)
		}
		for i, e := range l {
			if err := shapes.fits(e, kind[2:], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	case strings.HasPrefix(kind, "{}"):
		m, isMap := v.(document.Object)
		if !isMap {
			return wrongType(v, "dictionary", path)
		}
		for k, e := range m {
			if err := shapes.fits(e, kind[2:], path+"."+k); err != nil {
				return err
			}
		}
		return nil
	case shapes[kind] != nil:
		m, isObject := v.(document.Object)
		if !isObject {
			return wrongType(v, kind, path)
		}
		return shapes.fit(m, kind, path)
	}
	return fitsScalar(v, kind, path)
}

func fitsScalar(v any, kind, path string) error {
	good := true
	switch kind {
	case "any":
	case "bool":
		_, good = v.(bool)
	case "int":
		n, isNumber := v.(float64)
		good = isNumber && n == math.Trunc(n) && math.Abs(n) < math.MaxInt32*1024
	case "number":
		_, good = v.(float64)
	default:
		var s string
		s, good = v.(string)
		if values, isEnum := strings.CutPrefix(kind, "="); isEnum && good &&
			!slices.ContainsFunc(strings.Split(values, "|"), func(o string) bool { return strings.EqualFold(o, s) }) {
			return Invalid(path, "The value '%s' of parameter '%s' is not allowed. Allowed values are '%s'.", s, path,
				strings.ReplaceAll(values, "|", "', '"))
		}
	}
	if !good {
		return wrongType(v, kind, path)
	}
	return nil
}

func wrongType(v any, kind, path string) *Error {
	return BadRequest("Error converting value %s to type '%s'. Path '%s', line 1, position 1.", document.Written(v), kind, path)
}

package azure

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/shapes"
)

// shapesByName are the members of each type of body, and what each is.
var shapesByName = readShapes(shapes.Compute)

func readShapes(b []byte) map[string]map[string]string {
	out := map[string]map[string]string{}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil // nothing is taken then, which the tests notice
	}
	return out
}

// read decodes a body that must be of the shape. What only the service sets is taken off, as the service ignores it.
func (x *exchange) read(shape string) (document, error) {
	var d document
	if err := json.Unmarshal(x.body, &d); err != nil || d == nil {
		return nil, refuse(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Unexpected character encountered while parsing value. Path '', line 1, position 1.'.")
	}
	if err := fit(d, shape, ""); err != nil {
		return nil, err
	}
	return d, nil
}

// fit holds an object against its shape, and takes off what only the service sets.
func fit(d document, shape, path string) error {
	members := shapesByName[shape]
	for name, v := range d {
		at := strings.TrimPrefix(path+"."+name, ".")
		kind, known := members[name]
		if !known {
			return badRequest("Could not find member '%s' on object of type '%s'. Path '%s', line 1, position 1.", name, shape, at)
		}
		if strings.HasPrefix(kind, "!") {
			delete(d, name)
			continue
		}
		if err := fits(v, kind, at); err != nil {
			return err
		}
	}
	return nil
}

// fits holds a value against a kind.
func fits(v any, kind, path string) error {
	switch {
	case v == nil:
		return nil
	case strings.HasPrefix(kind, "[]"):
		l, isList := v.([]any)
		if !isList {
			return wrongType(v, "list", path)
		}
		for i, e := range l {
			if err := fits(e, kind[2:], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	case strings.HasPrefix(kind, "{}"):
		m, isMap := v.(document)
		if !isMap {
			return wrongType(v, "dictionary", path)
		}
		for k, e := range m {
			if err := fits(e, kind[2:], path+"."+k); err != nil {
				return err
			}
		}
		return nil
	case shapesByName[kind] != nil:
		m, isObject := v.(document)
		if !isObject {
			return wrongType(v, kind, path)
		}
		return fit(m, kind, path)
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
		if values, isEnum := strings.CutPrefix(kind, "="); isEnum && good && !slices.ContainsFunc(strings.Split(values, "|"), func(o string) bool { return strings.EqualFold(o, s) }) {
			return invalid(path, "The value '%s' of parameter '%s' is not allowed. Allowed values are '%s'.", s, path, strings.ReplaceAll(values, "|", "', '"))
		}
	}
	if !good {
		return wrongType(v, kind, path)
	}
	return nil
}

func wrongType(v any, kind, path string) *apiError {
	return badRequest("Error converting value %s to type '%s'. Path '%s', line 1, position 1.", written(v), kind, path)
}

func badRequest(format string, args ...any) *apiError {
	return refuse(http.StatusBadRequest, "BadRequest", format, args...)
}

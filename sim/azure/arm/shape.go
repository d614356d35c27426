package arm

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// ReadBody decodes a body that must be of the shape. What only the service sets is taken off, as the service ignores it.
func ReadBody(x *Call, shapes core.Shapes, shape string) (document.Object, error) {
	var d document.Object
	if err := json.Unmarshal(x.Body, &d); err != nil || d == nil {
		return nil, Refuse(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Unexpected character encountered while parsing value. Path '', line "+
				"1, position 1.'.")
	}
	if err := shapes.Fit(d, shape, &dialect); err != nil {
		return nil, err
	}
	return d, nil
}

// dialect is that of Resource Manager's providers.
var dialect = core.Dialect{
	Scalar: scalar,
	Unknown: func(name, shape, path string) error {
		return BadRequest("Could not find member '%s' on object of type '%s'. Path '%s', line 1, position 1.", name, shape, below(path, name))
	},
	Wrong: wrong, Member: below, Entry: below,
}

// below returns the path of what lies below a path.
func below(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// scalar reports whether a scalar is of its kind. Values of enumerations are taken in any case.
func scalar(v any, kind string) (any, bool) {
	switch kind {
	case "any":
		return v, true
	case "bool":
		_, good := v.(bool)
		return v, good
	case "int":
		n, isNumber := v.(float64)
		return v, isNumber && n == math.Trunc(n) && math.Abs(n) < math.MaxInt32*1024
	case "number":
		_, good := v.(float64)
		return v, good
	}
	s, isText := v.(string)
	values, isEnum := strings.CutPrefix(kind, "=")
	return v, isText && (!isEnum || slices.ContainsFunc(strings.Split(values, "|"), func(o string) bool { return strings.EqualFold(o, s) }))
}

// wrong is the error for a value that is not of its kind.
func wrong(v any, kind, path string) error {
	s, isText := v.(string)
	switch values, isEnum := strings.CutPrefix(kind, "="); {
	case isEnum && isText:
		return Invalid(path, "The value '%s' of parameter '%s' is not allowed. Allowed values are '%s'.", s, path,
			strings.ReplaceAll(values, "|", "', '"))
	case strings.HasPrefix(kind, "[]"):
		kind = "list"
	case strings.HasPrefix(kind, "{}"):
		kind = "dictionary"
	}
	return BadRequest("Error converting value %s to type '%s'. Path '%s', line 1, position 1.", document.Written(v), kind, path)
}

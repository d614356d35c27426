package arm

import (
	"math"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
	"github.com/muster-project/muster/sim/document"
)

// ReadBody decodes a body that must be of a type. What only the service sets is removed, as the service ignores it.
func ReadBody(x *Call, types shapes.Types, name string) (document.Object, error) {
	return types.Read(x.Body, name, &dialect)
}

// dialect is that of Resource Manager's providers. Values of enumerations are accepted in any case.
var dialect = shapes.Dialect{
	AnyCase: true, MaxInteger: math.MaxInt32 * 1024,
	Malformed: func() error {
		return Refuse(http.StatusBadRequest, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Unexpected character encountered while parsing value. Path '', line "+
				"1, position 1.'.")
	},
	Unknown: func(name, typ, path string) error {
		return BadRequest("Could not find member '%s' on object of type '%s'. Path '%s', line 1, position 1.", name, typ, below(path, name))
	},
	Wrong: wrong, Member: below, Entry: below,
}

// below returns the path of what lies below a path.
func below(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

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

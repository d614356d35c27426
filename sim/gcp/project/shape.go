package project

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/muster-project/muster/sim/core/shapes"
	"github.com/muster-project/muster/sim/document"
)

// Dialect returns that of Google's APIs, with the error that a service makes of a message.
func Dialect(refuse func(message string) error) *shapes.Dialect {
	return &shapes.Dialect{
		Sparse: true, TextNumbers: true,
		Malformed: func() error { return refuse("Invalid JSON payload received. Parsing terminated before end of input.") },
		Unknown:   func(name, _, path string) error { return refuse(unknownName(name, path)) },
		Wrong:     func(v any, kind, path string) error { return refuse(invalidValue(v, kind, path)) },
		Member:    memberPath,
		Entry:     func(path, name string) string { return path + "[" + name + "]" },
	}
}

func unknownName(name, path string) string {
	at := ""
	if path != "" {
		at = " at '" + path + "'"
	}
	return fmt.Sprintf("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, at)
}

// scalars are the types of scalars in messages.
var scalars = map[string]string{"bool": "TYPE_BOOL", "int": "TYPE_INT32", "int64": "TYPE_INT64", "number": "TYPE_DOUBLE",
	"string": "TYPE_STRING"}

func invalidValue(v any, kind, path string) string {
	kind = strings.TrimLeft(kind, "[]{}")
	name, scalar := scalars[kind]
	if !scalar {
		name = "type.googleapis.com/google." + kind
		if strings.HasPrefix(kind, "=") {
			name = "TYPE_ENUM"
		}
	}
	return fmt.Sprintf("Invalid value at '%s' (%s), %s", path, name, document.Written(v))
}

// memberPath returns the path of a member in the names of the protocol: node_pool.initial_node_count.
func memberPath(path, name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return strings.TrimPrefix(path+"."+b.String(), ".")
}

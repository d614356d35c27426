package shapes

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// Mismatch is the error for a request that is not of its shape, in Google's words.
type Mismatch struct{ Message string }

// Error returns the message.
func (m *Mismatch) Error() string { return m.Message }

func mismatch(format string, args ...any) *Mismatch { return &Mismatch{fmt.Sprintf(format, args...)} }

// Shapes are what requests of a service may hold.
type Shapes struct{ core.Shapes }

// Read decodes a request that must be of the shape; an empty one is an empty document. What only the service sets is removed, and so are
// numbers, booleans and strings that are zero: they are not on the wire. The error is a Mismatch.
func (s Shapes) Read(body []byte, shape string) (document.Object, error) {
	d := document.Object{}
	if len(body) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(body, &d); err != nil || d == nil {
		return nil, mismatch("Invalid JSON payload received. Parsing terminated before end of input.")
	}
	return d, s.Fit(d, shape, &dialect)
}

// dialect is that of Google's APIs.
var dialect = core.Dialect{
	Sparse: true, Scalar: scalar, Unknown: unknown, Wrong: invalid,
	Member: below, Entry: func(path, name string) string { return path + "[" + name + "]" },
}

// scalar checks a scalar. Numbers may be written as strings; those of 64 bits are returned as such.
func scalar(v any, kind string) (any, bool) {
	switch kind {
	case "any":
		return v, true
	case "bool":
		_, ok := v.(bool)
		return v, ok
	case "int", "number", "int64":
		return asNumber(v, kind)
	}
	return asText(v, kind)
}

// asText returns a string, or one of the values of an enumeration.
func asText(v any, kind string) (any, bool) {
	s, ok := v.(string)
	values, isEnum := strings.CutPrefix(kind, "=")
	return s, ok && (!isEnum || slices.Contains(strings.Split(values, "|"), s))
}

// asNumber returns a number as it is written for its kind.
func asNumber(v any, kind string) (any, bool) {
	n, ok := v.(float64)
	if s, isText := v.(string); isText {
		parsed, err := strconv.ParseFloat(s, 64)
		n, ok = parsed, err == nil
	}
	if kind == "number" {
		return n, ok
	}
	ok = ok && n == math.Trunc(n)
	if kind == "int64" {
		return strconv.FormatFloat(n, 'f', 0, 64), ok
	}
	return n, ok
}

func unknown(name, _, path string) error {
	at := ""
	if path != "" {
		at = " at '" + path + "'"
	}
	return mismatch("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, at)
}

// scalars are the types of scalars in the words of refusals.
var scalars = map[string]string{"bool": "TYPE_BOOL", "int": "TYPE_INT32", "int64": "TYPE_INT64", "number": "TYPE_DOUBLE",
	"string": "TYPE_STRING"}

func invalid(v any, kind, path string) error {
	kind = strings.TrimLeft(kind, "[]{}")
	name, scalar := scalars[kind]
	if !scalar {
		name = "type.googleapis.com/google." + kind
		if strings.HasPrefix(kind, "=") {
			name = "TYPE_ENUM"
		}
	}
	return mismatch("Invalid value at '%s' (%s), %s", path, name, document.Written(v))
}

// below returns the path of a member in the names of the protocol: node_pool.initial_node_count.
func below(path, name string) string {
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

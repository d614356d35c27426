package shapes

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Mismatch is the error for a request that is not of its shape, in Google's words.
type Mismatch struct{ Message string }

// Error returns the message.
func (m *Mismatch) Error() string { return m.Message }

func mismatch(format string, args ...any) *Mismatch { return &Mismatch{fmt.Sprintf(format, args...)} }

// Shapes are the members of each type of message by name, and what each is, as package shapes describes them.
type Shapes map[string]map[string]string

// ReadShapes decodes shapes from JSON. It returns nil for anything else, with which no request is accepted.
func ReadShapes(b []byte) Shapes {
	out := Shapes{}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil
	}
	return out
}

// Read decodes a request that must be of the shape; an empty one is an empty document. What only the service sets is removed, and so are
// numbers, booleans and strings that are zero: they are not on the wire. The error is a Mismatch.
func (shapes Shapes) Read(body []byte, shape string) (map[string]any, error) {
	d := map[string]any{}
	if len(body) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(body, &d); err != nil || d == nil {
		return nil, mismatch("Invalid JSON payload received. Parsing terminated before end of input.")
	}
	return d, shapes.fit(d, shape, "")
}

// fit checks an object against its shape.
func (shapes Shapes) fit(d map[string]any, shape, path string) error {
	members := shapes[shape]
	for _, name := range sortedNames(d) {
		kind, known := members[name]
		if !known {
			return unknown(name, path)
		}
		if strings.HasPrefix(kind, "!") || d[name] == nil {
			delete(d, name)
			continue
		}
		kind, optional := strings.CutPrefix(kind, "?")
		v, err := shapes.fits(d[name], kind, below(path, name))
		if err != nil {
			return err
		}
		if !optional && zero(v) {
			delete(d, name)
			continue
		}
		d[name] = v
	}
	return nil
}

// fits checks a value against a kind, and returns it as Google writes it.
func (shapes Shapes) fits(v any, kind, path string) (any, error) {
	switch {
	case strings.HasPrefix(kind, "[]"):
		l, isList := v.([]any)
		if !isList {
			return nil, invalid(v, kind, path)
		}
		for i, e := range l {
			next, err := shapes.fits(e, kind[2:], fmt.Sprintf("%s[%d]", path, i))
			if err != nil {
				return nil, err
			}
			l[i] = next
		}
		return l, nil
	case strings.HasPrefix(kind, "{}"):
		m, isMap := v.(map[string]any)
		if !isMap {
			return nil, invalid(v, kind, path)
		}
		for k, e := range m {
			next, err := shapes.fits(e, kind[2:], path+"["+k+"]")
			if err != nil {
				return nil, err
			}
			m[k] = next
		}
		return m, nil
	case shapes[kind] != nil:
		m, isObject := v.(map[string]any)
		if !isObject {
			return nil, invalid(v, kind, path)
		}
		return m, shapes.fit(m, kind, path)
	}
	return fitsScalar(v, kind, path)
}

// fitsScalar checks a scalar. Numbers may be written as strings; those of 64 bits are returned as such.
func fitsScalar(v any, kind, path string) (any, error) {
	switch kind {
	case "any":
		return v, nil
	case "bool":
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case "int", "number", "int64":
		if n, ok := asNumber(v, kind); ok {
			return n, nil
		}
	default:
		if s, ok := asText(v, kind); ok {
			return s, nil
		}
	}
	return nil, invalid(v, kind, path)
}

// asText returns a string, or one of the values of an enumeration.
func asText(v any, kind string) (string, bool) {
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

// zero reports whether a scalar is not written, because it is what its absence means.
func zero(v any) bool { return v == false || v == 0.0 || v == "" || v == "0" }

func unknown(name, path string) error {
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
	return mismatch("Invalid value at '%s' (%s), %s", path, name, written(v))
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

func sortedNames(d map[string]any) []string {
	names := make([]string, 0, len(d))
	for name := range d {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// written returns a value as JSON.
func written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

package shapes

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// Dialect defines how a cloud decodes bodies, and its errors for bodies of another type.
type Dialect struct {
	// Sparse is true if members that are null or zero are not there, and an empty body is an empty object.
	Sparse bool
	// AnyCase is true if the values of enumerations are accepted in any case, TextNumbers if numbers may be written as strings.
	AnyCase, TextNumbers bool
	// MaxInteger is the first whole number that is refused, 0 for no limit.
	MaxInteger float64
	// Malformed is the error for a body that is no JSON object.
	Malformed func() error
	// Unknown is the error for a member that the type of the object at a path does not have, Wrong for a value that is not of its kind.
	Unknown func(name, typ, path string) error
	Wrong   func(v any, kind, path string) error
	// Missing is the error for a required member at a path that is absent or null; nil accepts bodies without it.
	Missing func(path string) error
	// Member returns the path of a member of an object, Entry that of an entry of a map.
	Member, Entry func(path, name string) string
}

// Read decodes a body that must be of a type, and removes what only the service sets.
func (t Types) Read(body []byte, typ string, in *Dialect) (document.Object, error) {
	d := document.Object{}
	if len(body) == 0 && in.Sparse {
		return d, nil
	}
	if err := json.Unmarshal(body, &d); err != nil || d == nil {
		return nil, in.Malformed()
	}
	if err := t.Fit(d, typ, in); err != nil {
		return nil, err
	}
	return d, nil
}

// Fit compares an object with a type, and removes what only the service sets.
func (t Types) Fit(d document.Object, typ string, in *Dialect) error {
	return t.fit(d, typ, "", in)
}

func (t Types) fit(d document.Object, typ, path string, in *Dialect) error {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		marked, known := t[typ][name]
		if !known {
			return in.Unknown(name, typ, path)
		}
		if Has(marked, "!") || in.Sparse && d[name] == nil {
			delete(d, name)
			continue
		}
		v, err := t.kept(d[name], Kind(marked), in.Member(path, name), in)
		if err != nil {
			return err
		}
		if d[name] = v; in.Sparse && !Has(marked, "?") && zero(v) {
			delete(d, name)
		}
	}
	return t.complete(d, typ, path, in)
}

// complete returns the error for the first required member that an object lacks.
func (t Types) complete(d document.Object, typ, path string, in *Dialect) error {
	if in.Missing == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t[typ])) {
		if Has(t[typ][name], "*") && d[name] == nil {
			return in.Missing(in.Member(path, name))
		}
	}
	return nil
}

// zero reports whether a scalar is the zero value of its kind.
func zero(v any) bool { return v == false || v == 0.0 || v == "" || v == "0" }

// kept compares a value with a kind, and returns it as it is kept.
func (t Types) kept(v any, kind, path string, in *Dialect) (any, error) {
	object, good := v.(document.Object)
	kept := v
	var err error
	switch {
	case v == nil && !in.Sparse:
		return nil, nil
	case strings.HasPrefix(kind, "[]"):
		var list []any
		list, good = v.([]any)
		for i := 0; i < len(list) && err == nil; i++ {
			list[i], err = t.kept(list[i], kind[2:], fmt.Sprintf("%s[%d]", path, i), in)
		}
	case strings.HasPrefix(kind, "{}"):
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if object[key], err = t.kept(object[key], kind[2:], in.Entry(path, key), in); err != nil {
				break
			}
		}
	case t[kind] != nil:
		err = t.fit(object, kind, path, in)
	default:
		kept, good = in.scalar(v, kind)
	}
	if !good {
		return nil, in.Wrong(v, kind, path)
	}
	return kept, err
}

// scalar returns a scalar as it is kept, and whether it is of its kind.
func (in *Dialect) scalar(v any, kind string) (any, bool) {
	switch kind {
	case "any":
		return v, true
	case "bool":
		_, good := v.(bool)
		return v, good
	case "int", "int64", "number":
		return in.number(v, kind)
	}
	s, good := v.(string)
	values, isEnum := strings.CutPrefix(kind, "=")
	return v, good && (!isEnum || slices.ContainsFunc(strings.Split(values, "|"), func(value string) bool {
		return value == s || in.AnyCase && strings.EqualFold(value, s)
	}))
}

// number returns a number as it is kept: those of 64 bits are strings.
func (in *Dialect) number(v any, kind string) (any, bool) {
	n, good := v.(float64)
	if s, isText := v.(string); isText && in.TextNumbers {
		parsed, err := strconv.ParseFloat(s, 64)
		n, good = parsed, err == nil
	}
	if kind == "number" {
		return n, good
	}
	good = good && n == math.Trunc(n) && (in.MaxInteger == 0 || math.Abs(n) < in.MaxInteger)
	if kind == "int64" {
		return strconv.FormatFloat(n, 'f', 0, 64), good
	}
	return n, good
}

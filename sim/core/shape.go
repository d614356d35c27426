package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// Shapes are the members of each type of body by name, and what each is. A scalar is a word of the dialect's, an enumeration "=" with its
// values between bars, a list "[]" and a map "{}" before what they are of, anything else the name of a type; "!" is before what only the
// service sets, "?" before a scalar that is kept where it is zero.
type Shapes map[string]map[string]string

// ReadShapes decodes shapes from JSON. It returns nil for anything else, with which no body is accepted.
func ReadShapes(b []byte) Shapes {
	out := Shapes{}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil
	}
	return out
}

// Dialect is how a cloud reads bodies, and what it says of those that are not of their shape.
type Dialect struct {
	// Sparse is true if members that are null or zero are not there.
	Sparse bool
	// Scalar returns a scalar as it is kept, and whether it is of its kind.
	Scalar func(v any, kind string) (kept any, ok bool)
	// Unknown is the error for a member that the shape of the object at a path does not have, Wrong for a value that is not of its kind.
	Unknown func(name, shape, path string) error
	Wrong   func(v any, kind, path string) error
	// Member returns the path of a member of an object, Entry that of an entry of a map.
	Member, Entry func(path, name string) string
}

// Fit holds an object against a shape, and takes off what only the service sets.
func (s Shapes) Fit(d document.Object, shape string, in *Dialect) error {
	return s.fit(d, shape, "", in)
}

func (s Shapes) fit(d document.Object, shape, path string, in *Dialect) error {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		kind, known := s[shape][name]
		if !known {
			return in.Unknown(name, shape, path)
		}
		if strings.HasPrefix(kind, "!") || in.Sparse && d[name] == nil {
			delete(d, name)
			continue
		}
		kind, zeros := strings.CutPrefix(kind, "?")
		v, err := s.kept(d[name], kind, in.Member(path, name), in)
		if err != nil {
			return err
		}
		if d[name] = v; in.Sparse && !zeros && zero(v) {
			delete(d, name)
		}
	}
	return nil
}

// zero reports whether a scalar is what its absence means.
func zero(v any) bool { return v == false || v == 0.0 || v == "" || v == "0" }

// kept holds a value against a kind, and returns it as it is kept.
func (s Shapes) kept(v any, kind, path string, in *Dialect) (any, error) {
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
			list[i], err = s.kept(list[i], kind[2:], fmt.Sprintf("%s[%d]", path, i), in)
		}
	case strings.HasPrefix(kind, "{}"):
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if object[key], err = s.kept(object[key], kind[2:], in.Entry(path, key), in); err != nil {
				break
			}
		}
	case s[kind] != nil:
		err = s.fit(object, kind, path, in)
	default:
		kept, good = in.Scalar(v, kind)
	}
	if !good {
		return nil, in.Wrong(v, kind, path)
	}
	return kept, err
}

package specs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

// direction is the way that a body goes.
type direction struct {
	// answers is true for answers: they have members that the service alone sets, and values of enumerations that are not published yet.
	answers bool
	// needs are members that the operation of a request alone requires, removes is true if a null removes a member or counts as one that is
	// left out.
	needs   []string
	removes bool
	// version is that of the API that a request names, "" for the one that the types describe.
	version string
}

func reading(o *Operation) direction { return direction{answers: true, removes: o.from.nulls} }

func writing(o *Operation, version string) direction {
	return direction{needs: o.needs, removes: o.from.nulls || o.Method == http.MethodPatch, version: version}
}

// document compares a body with a kind.
func (t *types) document(body, kind string, d direction) error {
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return fmt.Errorf("decode the body: %w", err)
	}
	return t.value(v, kind, "", d)
}

// value compares a value with a kind.
func (t *types) value(v any, kind, path string, d direction) error {
	element, isList := strings.CutPrefix(kind, "[]")
	entry, isMap := strings.CutPrefix(kind, "{}")
	switch v := v.(type) {
	case map[string]any:
		switch {
		case isMap:
			return t.entries(v, entry, path, d)
		case t.Types[kind] != nil:
			return t.object(v, kind, path, d)
		}
	case []any:
		if !isList {
			return fmt.Errorf("want no list at %s", path)
		}
		for i, e := range v {
			if err := t.value(e, element, path+"["+strconv.Itoa(i)+"]", d); err != nil {
				return err
			}
		}
		return nil
	case nil:
		if d.removes && path != "" {
			return nil
		}
	}
	if !isScalar(v, kind, d.answers) {
		return fmt.Errorf("%v at %s is not of kind %s", v, path, kind)
	}
	return nil
}

// entries compares the entries of a map with their kind.
func (t *types) entries(v map[string]any, kind, path string, d direction) error {
	for name, value := range v {
		if err := t.value(value, kind, strings.TrimPrefix(path+"."+name, "."), d); err != nil {
			return err
		}
	}
	return nil
}

// object compares an object with a type.
func (t *types) object(v map[string]any, typ, path string, d direction) error {
	for name, value := range v {
		if err := t.member(value, typ+"."+name, strings.TrimPrefix(path+"."+name, "."), d); err != nil && !t.allows(typ+"."+name, d) {
			return err
		}
	}
	if d.answers {
		return nil
	}
	for name, member := range t.Types[typ] {
		if _, has := v[name]; !has && (shapes.Has(member, "*") || slices.Contains(d.needs, typ+"."+name)) {
			return fmt.Errorf("the member %s is needed at %q", name, path)
		}
	}
	return nil
}

// member compares a member, as Type.member, at a path.
func (t *types) member(v any, name, path string, d direction) error {
	at := strings.LastIndexByte(name, '.')
	kind, known := t.Types[name[:at]][name[at+1:]]
	switch {
	case !known:
		return fmt.Errorf("no member %s is published", path)
	case !d.answers && (shapes.Has(kind, "!") || shapes.Has(kind, "~")):
		return fmt.Errorf("the service alone sets %s", path)
	}
	return t.value(v, shapes.Kind(kind), path, d)
}

// allows reports whether what the types lack of a member is known from elsewhere.
func (t *types) allows(member string, d direction) bool {
	if d.answers && t.shown[member] {
		return true
	}
	since := t.since[member]
	return since != "" && (d.answers || d.version >= since)
}

// isScalar reports whether a value is of a scalar kind. Numbers of 64 bits are strings.
func isScalar(v any, kind string, answers bool) bool {
	if kind == "any" {
		return v != nil
	}
	switch v := v.(type) {
	case bool:
		return kind == "bool"
	case float64:
		return kind == "int" || kind == "number"
	case string:
		values, isEnum := strings.CutPrefix(kind, "=")
		if kind == "int64" {
			_, err := strconv.ParseFloat(v, 64)
			return err == nil
		}
		return kind == "string" || isEnum && (answers || slices.Contains(strings.Split(values, "|"), v))
	}
	return false
}

package project

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
)

// Document is a JSON object as it goes over the wire.
type Document = map[string]any

// Dig returns what lies at a path of members, nil for nothing.
func Dig(d Document, path string) any {
	var v any = d
	for part := range strings.SplitSeq(path, ".") {
		m, ok := v.(Document)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

// Text returns the string at a path, "" for none.
func Text(d Document, path string) string {
	s, _ := Dig(d, path).(string)
	return s
}

// Number returns the whole number at a path, and whether there is one. Google writes numbers of 64 bits as strings.
func Number(d Document, path string) (int, bool) {
	switch n := Dig(d, path).(type) {
	case float64:
		return int(n), true
	case int:
		return n, true
	case string:
		v, err := strconv.Atoi(n)
		return v, err == nil
	}
	return 0, false
}

// Truth returns the boolean at a path, false for none.
func Truth(d Document, path string) bool {
	b, _ := Dig(d, path).(bool)
	return b
}

// Under returns the object at a path, nil for none.
func Under(d Document, path string) Document {
	m, _ := Dig(d, path).(Document)
	return m
}

// Items returns the elements of the list at a path.
func Items(d Document, path string) []any {
	l, _ := Dig(d, path).([]any)
	return l
}

// Objects returns the elements of the list at a path that are objects.
func Objects(d Document, path string) []Document {
	var out []Document
	for _, v := range Items(d, path) {
		if m, ok := v.(Document); ok {
			out = append(out, m)
		}
	}
	return out
}

// Texts returns the elements of the list at a path that are strings.
func Texts(d Document, path string) []string {
	var out []string
	for _, v := range Items(d, path) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Pairs returns the object at a path as a map of strings; members of other types are left out.
func Pairs(d Document, path string) map[string]string {
	out := map[string]string{}
	for k, v := range Under(d, path) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// OfStrings returns a map of strings as an object.
func OfStrings(m map[string]string) Document {
	out := Document{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// Place sets what lies at a path of members, and creates the objects that lead there.
func Place(d Document, path string, v any) {
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		next, ok := d[part].(Document)
		if !ok {
			next = Document{}
			d[part] = next
		}
		d = next
	}
	d[parts[len(parts)-1]] = v
}

// Copied returns a deep copy of a document.
func Copied(d Document) Document {
	if d == nil {
		return nil
	}
	out := Document{}
	for k, v := range d {
		out[k] = copied(v)
	}
	return out
}

func copied(v any) any {
	switch v := v.(type) {
	case Document:
		return Copied(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copied(e)
		}
		return out
	default:
		return v
	}
}

// Merge applies a JSON merge patch: null removes a member, objects are merged, everything else replaces what was there.
func Merge(into, patch Document) {
	for k, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(into, k)
		case Document:
			old, ok := into[k].(Document)
			if !ok {
				old = Document{}
			}
			Merge(old, v)
			into[k] = old
		default:
			into[k] = copied(v)
		}
	}
}

// WithDefaults adds the members of other that d does not have.
func WithDefaults(d, other Document) {
	for k, v := range other {
		if _, there := d[k]; !there {
			d[k] = v
		}
	}
}

// Written returns a value as JSON. Documents come from JSON and can always be written.
func Written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// Fingerprint returns a hash of a value in the form of Google's fingerprints: eight bytes in URL-safe base64.
func Fingerprint(v any) string {
	sum := sha256.Sum256([]byte(Written(v)))
	return base64.URLEncoding.EncodeToString(sum[:8])
}

// Overlaid returns a map of strings with the entries of another one over it.
func Overlaid(under, over map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, under)
	maps.Copy(out, over)
	return out
}

// Overlay returns the members of two documents, those of the second over those of the first.
func Overlay(under, over Document) Document {
	out := Document{}
	maps.Copy(out, under)
	maps.Copy(out, over)
	return out
}

package document

import "strings"

// Place sets what lies at a path of members, and creates the objects that lead there. Nil deletes what is there.
func Place(o Object, path string, v any) {
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		next, ok := o[part].(Object)
		if !ok {
			if v == nil {
				return
			}
			next = Object{}
			o[part] = next
		}
		o = next
	}
	last := parts[len(parts)-1]
	if v == nil {
		delete(o, last)
		return
	}
	o[last] = v
}

// Preset sets what lies at a path where there is nothing.
func Preset(o Object, path string, v any) {
	if Dig(o, path) == nil {
		Place(o, path, v)
	}
}

// WithDefaults adds the members of other that o does not have.
func WithDefaults(o, other Object) {
	for k, v := range other {
		if _, there := o[k]; !there {
			o[k] = v
		}
	}
}

// Copied returns a deep copy.
func Copied[T any](v T) T {
	c, _ := duplicate(v).(T)
	return c
}

// duplicate returns a deep copy of any value of a document.
func duplicate(v any) any {
	switch t := v.(type) {
	case Object:
		if t == nil {
			return t
		}
		out := make(Object, len(t))
		for k, e := range t {
			out[k] = duplicate(e)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = duplicate(e)
		}
		return out
	default:
		return v
	}
}

// Merge applies a JSON merge patch: null deletes a member, objects are merged, everything else replaces what was there.
func Merge(into, patch Object) {
	for k, v := range patch {
		have, isObject := into[k].(Object)
		give, both := v.(Object)
		switch {
		case isObject && both:
			Merge(have, give)
		case v == nil:
			delete(into, k)
		default:
			into[k] = WithoutNulls(duplicate(v))
		}
	}
}

// WithoutNulls deletes all members that are null and returns the value: null stands for what was not sent.
func WithoutNulls(v any) any {
	switch t := v.(type) {
	case Object:
		for k, e := range t {
			if e == nil {
				delete(t, k)
				continue
			}
			WithoutNulls(e)
		}
	case []any:
		for _, e := range t {
			WithoutNulls(e)
		}
	}
	return v
}

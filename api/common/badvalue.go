package common

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// BadValue is a value of a document that its field can't hold.
//
// +kubebuilder:object:generate=false
type BadValue struct {
	// Field is the path of the value, Found the value as it was written, Want what the field can hold.
	Field, Found, Want string
}

// Detail returns the error without the path.
func (b BadValue) Detail() string { return fmt.Sprintf("found %s, must be %s", b.Found, b.Want) }

// Error names the field, the value found and the allowed values.
func (b BadValue) Error() string { return strings.TrimSuffix(b.Field, ": ") + ": " + b.Detail() }

// mostBad bounds how many values of a document are reported.
const mostBad = 10

// BadValues returns the values for which decode rejects a JSON document. The decoders of JSON name no field for a number that they can't
// represent, nor for a value of a type with a custom decoder, such as a quantity. So each value is decoded separately, in a document of
// only its path, with the kind and the version of the document. At is the path of the document itself.
func BadValues(at string, document []byte, decode func([]byte) error) []BadValue {
	var content any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(&content); err != nil {
		return []BadValue{malformed(at, document, err)}
	}
	s := &search{decode: decode}
	root := func(v any) any { return v }
	if m, ok := content.(map[string]any); ok && m["apiVersion"] != nil {
		root = func(v any) any {
			if part, ok := v.(map[string]any); ok {
				part["apiVersion"], part["kind"] = m["apiVersion"], m["kind"]
			}
			return v
		}
	}
	s.find(at, content, root)
	return s.found
}

// search finds bad values.
type search struct {
	decode func([]byte) error
	found  []BadValue
}

// find notes the bad values at a path and below. within puts a value into a document that has nothing else.
func (s *search) find(path string, value any, within func(any) any) {
	err := s.try(within(shallow(value, true)))
	if err == nil || len(s.found) >= mostBad {
		return
	}
	if err := s.try(within(shallow(value, false))); err != nil {
		if allowed := want(err); allowed != "" {
			s.found = append(s.found, BadValue{path, found(value), allowed})
		}
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.find(joined(path, key), v[key], func(one any) any { return within(map[string]any{key: one}) })
		}
	case []any:
		for i := range v {
			s.find(fmt.Sprintf("%s[%d]", path, i), v[i], func(one any) any { return within([]any{one}) })
		}
	}
}

// try decodes a document.
func (s *search) try(document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return s.decode(text)
}

// shallow returns a copy of a value with its members, or without any.
func shallow(value any, filled bool) any {
	switch v := value.(type) {
	case map[string]any:
		if filled {
			return maps.Clone(v)
		}
		return map[string]any{}
	case []any:
		if filled {
			return v
		}
		return []any{}
	}
	return value
}

// joined returns the path of a member.
func joined(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	case path == "" || strings.HasSuffix(path, ": "):
		return path + key
	}
	return path + "." + key
}

// found returns a value as it was written, in short.
func found(value any) string {
	const most = 40
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	text, _ := json.Marshal(value) // It was decoded from JSON.
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "..."
	}
	return string(text)
}

// typeOf is the type of the field in the error of a decoder.
var typeOf = regexp.MustCompile(`cannot unmarshal .* of type (\S+)`)

// want returns the values that a field can hold, derived from the error of its decoder; "" for an error that describes them itself.
func want(err error) string {
	text := err.Error()
	if m := typeOf.FindStringSubmatch(text); m != nil {
		return TypeInWords(m[1])
	}
	switch {
	case strings.Contains(text, "quantity") || strings.Contains(text, "quantities"):
		return "a quantity such as 500m or 10Gi"
	case strings.Contains(text, "time: "):
		return "a duration such as 1m30s"
	}
	return ""
}

// wholes are the bounds of the types of whole numbers.
var wholes = map[string]string{
	"int32": "a whole number from -2147483648 to 2147483647",
	"int64": "a whole number from -9223372036854775808 to 9223372036854775807",
}

// TypeInWords returns what a field of a Go type can hold.
func TypeInWords(name string) string {
	switch {
	case wholes[name] != "":
		return wholes[name]
	case strings.HasPrefix(name, "int") || strings.HasPrefix(name, "uint"):
		return "a whole number"
	case strings.HasPrefix(name, "float"):
		return "a number of at most 1.8e308"
	case name == "string":
		return "text"
	case name == "bool":
		return "true or false"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	}
	return "an object"
}

// noNumber matches spellings of special numbers that JSON lacks.
var noNumber = regexp.MustCompile(`^[-+]?\.?(?i:nan|inf|infinity)\b`)

// malformed returns the value at which a document is no JSON any more.
func malformed(at string, document []byte, err error) BadValue {
	decoder := json.NewDecoder(bytes.NewReader(document))
	path, _ := follow(decoder, at)
	rest := bytes.TrimLeft(document[decoder.InputOffset():], " \t\r\n:,")
	if word := noNumber.Find(rest); word != nil {
		return BadValue{path, string(word), "a number in digits: JSON has no " + string(word)}
	}
	return BadValue{path, "no JSON", "JSON: " + err.Error()}
}

// follow reads one value. If it can't be read, follow returns the path at which it breaks off.
func follow(decoder *json.Decoder, path string) (at string, broken bool) {
	token, err := decoder.Token()
	if err != nil {
		return path, true
	}
	delim, _ := token.(json.Delim)
	if delim == 0 {
		return "", false
	}
	for i := 0; decoder.More(); i++ {
		below := fmt.Sprintf("%s[%d]", path, i)
		if delim == '{' {
			key, err := decoder.Token()
			if err != nil {
				return path, true
			}
			below = joined(path, fmt.Sprint(key))
		}
		if at, broken = follow(decoder, below); broken {
			return at, true
		}
	}
	_, err = decoder.Token()
	return path, err != nil
}

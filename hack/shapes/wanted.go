package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

// wanted returns the operations that the source lists, with the types that their bodies are made of.
func (s source) wanted(published *shapes.Service) (*shapes.Service, error) {
	byName := map[string]shapes.Operation{}
	for id, o := range published.Operations {
		byName[strings.ToLower(id)] = o
	}
	names := s.Operations
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(published.Operations))
	}
	out := &shapes.Service{Query: published.Query, Errors: published.Errors, Operations: map[string]shapes.Operation{}, Types: shapes.Types{}}
	for _, name := range names {
		name, id, renamed := strings.Cut(name, "=")
		if !renamed {
			id = name
		}
		o, ok := byName[strings.ToLower(id)]
		if !ok {
			return nil, fmt.Errorf("there is no operation %s", id)
		}
		if s.Bare {
			o.Body, o.Answer, o.Required = "", "", nil
		}
		s.reach(o.Body, published.Types, out.Types)
		s.reach(o.Answer, published.Types, out.Types)
		out.Operations[s.Prefix+name] = o
	}
	return out, nil
}

// reach adds the type that a kind is made of, and all that this is made of.
func (s source) reach(kind string, from, to shapes.Types) {
	name := strings.TrimLeft(shapes.Kind(kind), "[]{}")
	members, known := from[name]
	if !known || to[name] != nil {
		return
	}
	to[name] = map[string]string{}
	for member, kind := range members {
		if !shapes.Has(kind, "!") && (slices.Contains(s.Zeros, "*") || slices.Contains(s.Zeros, name+"."+member)) {
			kind = "?" + kind
		}
		to[name][member] = kind
		s.reach(kind, from, to)
	}
}

// encode writes a service, a line for each operation and each type.
func encode(s *shapes.Service) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{")
	for _, of := range []struct {
		name string
		list []string
	}{{"Query", s.Query}, {"Errors", s.Errors}} {
		if len(of.list) == 0 {
			continue
		}
		text, err := json.Marshal(of.list)
		if err != nil {
			return nil, fmt.Errorf("encode the %s: %w", of.name, err)
		}
		fmt.Fprintf(&b, "\n %q: %s,", of.name, text)
	}
	b.WriteString("\n \"Operations\": {")
	if err := lines(&b, s.Operations); err != nil {
		return nil, err
	}
	if len(s.Types) > 0 {
		b.WriteString("\n },\n \"Types\": {")
		if err := lines(&b, s.Types); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n }\n}\n")
	return b.Bytes(), nil
}

// lines writes the entries of a map in the order of their keys.
func lines[V any](b *bytes.Buffer, entries map[string]V) error {
	for i, key := range slices.Sorted(maps.Keys(entries)) {
		text := &bytes.Buffer{}
		e := json.NewEncoder(text)
		e.SetEscapeHTML(false)
		if err := e.Encode(entries[key]); err != nil {
			return fmt.Errorf("encode %s: %w", key, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "\n  %q: %s", key, bytes.TrimSpace(text.Bytes()))
	}
	return nil
}

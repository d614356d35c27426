package main

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// checker is a function of the SDK that checks what a request has; its groups are its name and the type that it checks.
	checker = regexp.MustCompile(`(?ms)^func validate(\w+)\(v (?:\*|\[\])(?:types\.)?(\w+)\) error \{.*?^\}`)
	// below is the check of a field, or of an element of a list; its groups are the function and the field.
	below = regexp.MustCompile(`:= validate(\w+)\(&?v(?:\.(\w+)|\[i\])\)`)
)

// nested returns what the members of requests must have, by operation: paths of names as they are in a request, with # for the number of an
// element.
func (m *model) nested(operations []string, validators string) map[string][]string {
	texts, shapes := map[string]string{}, map[string]string{}
	for _, f := range checker.FindAllStringSubmatch(validators, -1) {
		texts[f[1]], shapes[f[1]] = f[0], f[2]
	}
	var walk func(function, path string, within []string) []string
	walk = func(function, path string, within []string) (out []string) {
		if slices.Contains(within, function) { // a type that has itself as a member
			return nil
		}
		text, shape := texts[function], shapes[function]
		if path != "" {
			for _, field := range firstGroups(missing, text) {
				if name, _ := m.wirePath(shape, field); name != "" {
					out = append(out, path+"."+name)
				}
			}
		}
		for _, call := range below.FindAllStringSubmatch(text, -1) {
			next := path + ".#"
			if call[2] != "" {
				name, list := m.wirePath(shape, call[2])
				if name == "" {
					continue
				}
				next = strings.TrimPrefix(path+"."+name+list, ".")
			}
			out = append(out, walk(call[1], next, append(slices.Clone(within), function))...)
		}
		return out
	}
	all := map[string][]string{}
	for _, name := range operations {
		paths := walk("Op"+name+"Input", "", nil)
		slices.Sort(paths)
		all[name] = slices.Compact(paths)
	}
	return all
}

// wirePath returns how a field is called in a request, and what comes between that and the number of an element where it is a list.
func (m *model) wirePath(shape, field string) (name, list string) {
	if name = m.wireName(shape, field); name == "" || m.schematic() {
		return name, ""
	}
	if _, item, listed := strings.Cut(m.request[shape][field], ","); listed {
		list = "." + item
	}
	return name, list
}

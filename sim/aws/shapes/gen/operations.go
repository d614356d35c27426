package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// specs is where the table of operations is written, for the tests that hold requests and answers against it.
const specs = "../../../test/specs/aws.json"

// operation is one as the SDK requests it.
type operation struct {
	// Method and Path are of an operation that is told by them, Version is that of the API of the others.
	Method  string `json:",omitempty"`
	Path    string `json:",omitempty"`
	Version string `json:",omitempty"`
	Success []int  `json:",omitempty"`
	// Query are the parameters behind the path.
	Query []string `json:",omitempty"`
	// Headers are the headers of a request whose parameters are there; those behind an asterisk are required.
	Headers []string `json:",omitempty"`
	// Members are the parameters, or the members of the body, at the top; those behind an asterisk are required.
	Members []string `json:",omitempty"`
	// Nested are paths of names that a request must have where it has the member that they are in; # is for the number of an element.
	Nested []string `json:",omitempty"`
	// Errors are the codes of the errors that the operation declares. Where operations declare none, an entry with the name of the service has
	// those of all.
	Errors []string `json:",omitempty"`
}

var (
	validator   = regexp.MustCompile(`(?ms)^func validateOp(\w+)Input\(.*?^}`)
	missing     = regexp.MustCompile(`NewErrParamRequired\("(\w+)"\)`)
	apiVersion  = regexp.MustCompile(`body\.Key\("Version"\)\.String\("([\d-]+)"\)`)
	refusals    = regexp.MustCompile(`(?ms)^func aws\w+_deserializeOpError(\w+)\(.*?^}`)
	errorCode   = regexp.MustCompile(`EqualFold\("([\w.]+)", errorCode\)`)
	exception   = regexp.MustCompile(`"com\.amazonaws\.\w+#(\w+)": \{`)
	schemaRoute = regexp.MustCompile(`(?s)var (\w+) = smithy\.NewSchema\(smithy\.ShapeID\{[^}]*\}, smithy\.ShapeTypeOperation, 0,` +
		` &smithytraits\.HTTP\{[^}]*Code: (\d+)`)
	placed = regexp.MustCompile(`= (\w+)Request\.AddMember\("(\w+)", [^\n]*&smithytraits\.(HTTPLabel|HTTPQuery)\{(?:Name: "([^"]+)")?`)
)

// sources are the texts of an SDK module's files, empty for those that it does not have.
type sources struct{ validators, serializers, deserializers, schemas, registry string }

func readSources(dir string) (s sources, err error) {
	for name, to := range map[string]*string{
		"validators.go": &s.validators, "serializers.go": &s.serializers, "deserializers.go": &s.deserializers,
		"schemas/schemas.go": &s.schemas, "type_registry.go": &s.registry,
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			return s, fmt.Errorf("read %s: %w", name, err)
		}
		*to = string(b)
	}
	return s, nil
}

// published adds the operations of a service to those of all.
func (m *model) published(s service, dir string, all map[string]operation) error {
	src, err := readSources(dir)
	if err != nil {
		return err
	}
	required, errors := map[string][]string{}, refusalsOf(src)
	for _, f := range validator.FindAllStringSubmatch(src.validators, -1) {
		required[f[1]] = firstGroups(missing, f[0])
	}
	if declared := firstGroups(exception, src.registry); len(declared) > 0 {
		all[s.name] = operation{Errors: declared}
	}
	version := ""
	if v := apiVersion.FindStringSubmatch(src.serializers); v != nil {
		version = v[1]
	}
	nested, rest := m.nested(s.operations, src.validators), xmlOperations(src, required)
	for _, name := range s.operations {
		if o, is := rest[name]; is {
			all[s.name+"."+name] = o
			continue
		}
		o := operation{Version: version, Success: []int{200}, Errors: errors[name], Nested: nested[name]}
		elsewhere := map[string]bool{}
		if m.rest() {
			m.restOperation(&o, name, src, elsewhere)
		}
		for _, f := range m.structs[name+"Input"] {
			member := m.wireName(name+"Input", f.name)
			if elsewhere[member] || member == "" {
				continue
			}
			if slices.Contains(required[name], f.name) {
				member = "*" + member
			}
			o.Members = append(o.Members, member)
		}
		slices.Sort(o.Members)
		all[s.name+"."+name] = o
	}
	return nil
}

// refusalsOf returns the codes of the errors that operations declare.
func refusalsOf(src sources) map[string][]string {
	errors := map[string][]string{}
	for _, f := range refusals.FindAllStringSubmatch(src.deserializers, -1) {
		errors[f[1]] = firstGroups(errorCode, f[0])
	}
	return errors
}

// restOperation sets what operations have that are told by method and path. elsewhere are the fields that are not in the body.
func (m *model) restOperation(o *operation, name string, src sources, elsewhere map[string]bool) {
	o.Method, o.Path, _ = strings.Cut(m.routes[name], " ")
	o.Version = ""
	for _, r := range schemaRoute.FindAllStringSubmatch(src.schemas, -1) {
		if code, err := strconv.Atoi(r[2]); r[1] == name && err == nil {
			o.Success = []int{code}
		}
	}
	for _, p := range placed.FindAllStringSubmatch(src.schemas, -1) {
		if p[1] != name {
			continue
		}
		elsewhere[p[2]] = true
		if p[3] == "HTTPQuery" {
			o.Query = append(o.Query, p[4])
		}
	}
}

// wireName is how a field of an operation's input is called in a request, without what lists add to it.
func (m *model) wireName(shape, field string) string {
	switch {
	case m.rest():
		name, _ := m.jsonName(field)
		return name
	case m.schematic():
		return field
	}
	name, _, _ := strings.Cut(m.request[shape][field], ",")
	return name
}

func firstGroups(re *regexp.Regexp, text string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// writeOperations writes the table, a line for each operation.
func writeOperations(all map[string]operation) error {
	var b bytes.Buffer
	b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(all)) {
		text, err := json.Marshal(all[name])
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n %q: %s", name, text)
	}
	b.WriteString("\n}\n")
	return os.WriteFile(specs, b.Bytes(), 0o644)
}

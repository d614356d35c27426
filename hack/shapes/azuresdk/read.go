// Package azuresdk reads what Azure's services publish from the clients and the models of its SDK.
package azuresdk

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

var scalars = map[string]string{
	"string": "string", "bool": "bool", "int32": "int", "int64": "int", "float32": "number", "float64": "number", "any": "any",
	"time.Time": "string",
}

// Read reads the folder of a module.
func Read(folder string) (*shapes.Service, error) {
	m := &models{fields: map[string]map[string]field{}, enums: map[string][]string{}}
	if err := m.readFields(filepath.Join(folder, "models.go")); err != nil {
		return nil, err
	}
	if err := m.readEnums(filepath.Join(folder, "constants.go")); err != nil {
		return nil, err
	}
	types, err := m.readTypes(filepath.Join(folder, "models_serde.go"))
	if err != nil {
		return nil, err
	}
	operations, err := readClients(folder)
	if err != nil {
		return nil, err
	}
	return &shapes.Service{Operations: operations, Types: types}, nil
}

// models are the fields of types and the values of enumerations.
type models struct {
	fields map[string]map[string]field
	enums  map[string][]string
}

// field is the Go type of a field without pointers, and the mark of its comment.
type field struct{ typ, mark string }

func (m *models) readFields(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("read the models: %w", err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		fields := map[string]field{}
		for _, f := range s.Fields.List {
			mark := ""
			switch comment := f.Doc.Text(); {
			case strings.HasPrefix(comment, "READ-ONLY"):
				mark = "!"
			case strings.HasPrefix(comment, "REQUIRED"):
				mark = "*"
			}
			for _, name := range f.Names {
				fields[name.Name] = field{typeOf(f.Type), mark}
			}
		}
		m.fields[spec.Name.Name] = fields
		return true
	})
	return nil
}

// typeOf writes a type without its pointers.
func typeOf(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return typeOf(t.X)
	case *ast.ArrayType:
		if id, ok := t.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "string"
		}
		return "[]" + typeOf(t.Elt)
	case *ast.MapType:
		return "{}" + typeOf(t.Value)
	case *ast.SelectorExpr:
		return typeOf(t.X) + "." + t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return "any"
}

var enumValue = regexp.MustCompile(`(?m)^\s+\w+\s+(\w+)\s+= "([^"]*)"`)

func (m *models) readEnums(path string) error {
	b, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return fmt.Errorf("read the constants: %w", err)
	}
	for _, value := range enumValue.FindAllStringSubmatch(string(b), -1) {
		m.enums[value[1]] = append(m.enums[value[1]], value[2])
	}
	return nil
}

var (
	decoder = regexp.MustCompile(`(?s)func \(\w+ \*(\w+)\) UnmarshalJSON\(.*?\n}`)
	member  = regexp.MustCompile(`case "([^"]+)":\s*\n\s*err = \w+(?:\[[^\]]*\])?\([^&]*&\w+\.(\w+)`)
)

// readTypes reads the names of members from the functions that decode models.
func (m *models) readTypes(path string) (shapes.Types, error) {
	b, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read how models are written: %w", err)
	}
	types := shapes.Types{}
	for name := range m.fields {
		types[name] = map[string]string{}
	}
	for _, f := range decoder.FindAllStringSubmatch(string(b), -1) {
		name := f[1]
		for _, read := range member.FindAllStringSubmatch(f[0], -1) {
			types[name][read[1]] = m.kindOf(m.fields[name][read[2]])
		}
	}
	return types, nil
}

// kindOf returns the kind of a field with its mark.
func (m *models) kindOf(f field) string {
	element := strings.TrimLeft(f.typ, "[]{}")
	kind := element
	switch {
	case scalars[element] != "":
		kind = scalars[element]
	case m.enums[element] != nil:
		values := slices.Sorted(slices.Values(m.enums[element]))
		kind = "=" + strings.Join(slices.Compact(values), "|")
	}
	return f.mark + strings.TrimSuffix(f.typ, element) + kind
}

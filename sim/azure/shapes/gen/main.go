// Command gen reads the models of Azure's SDK and writes what bodies of requests may hold: for each type its members,
// and what each of them is. Requests are held against it as the service does, which refuses members that it does not know.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is a module of the SDK in the version that is required, and the bodies that are read from it.
type source struct {
	module, out string
	roots       []string
}

var sources = []source{
	{"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8", "compute.json", []string{
		"VirtualMachineScaleSet", "VirtualMachineScaleSetUpdate", "VirtualMachineScaleSetVM", "VirtualMachineUpdate",
		"VirtualMachineScaleSetVMInstanceRequiredIDs",
	}},
	{"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6", "containerservice.json", []string{
		"ManagedCluster", "AgentPool", "TagsObject", "AgentPoolDeleteMachinesParameter",
	}},
}

var scalars = map[string]string{
	"string": "string", "bool": "bool", "int32": "int", "int64": "int", "float32": "number", "float64": "number", "any": "any",
	"time.Time": "string",
}

func main() {
	for _, s := range sources {
		if err := s.run(); err != nil {
			log.Fatal(err)
		}
	}
}

func (s source) run() error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", s.module).Output()
	if err != nil {
		return fmt.Errorf("find the SDK: %w", err)
	}
	sdk := strings.TrimSpace(string(dir))
	g := &generator{fields: map[string]map[string]string{}, readOnly: map[string]bool{}, enums: map[string][]string{},
		names: map[string]map[string]string{}}
	if err := g.models(filepath.Join(sdk, "models.go")); err != nil {
		return err
	}
	if err := g.constants(filepath.Join(sdk, "constants.go")); err != nil {
		return err
	}
	if err := g.members(filepath.Join(sdk, "models_serde.go")); err != nil {
		return err
	}
	shapes := map[string]map[string]string{}
	for _, root := range s.roots {
		g.add(root, shapes)
	}
	b, err := json.MarshalIndent(shapes, "", " ")
	if err != nil {
		return fmt.Errorf("encode the shapes: %w", err)
	}
	return os.WriteFile(s.out, append(b, '\n'), 0o644)
}

// generator holds what the sources say: the fields of types, those that are read only, values of enumerations, and the names
// that members have in JSON.
type generator struct {
	fields   map[string]map[string]string
	readOnly map[string]bool
	enums    map[string][]string
	names    map[string]map[string]string
}

func (g *generator) models(path string) error {
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
		fields := map[string]string{}
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				fields[name.Name] = typeOf(f.Type)
				g.readOnly[spec.Name.Name+"."+name.Name] = strings.HasPrefix(f.Doc.Text(), "READ-ONLY")
			}
		}
		g.fields[spec.Name.Name] = fields
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

func (g *generator) constants(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the constants: %w", err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+\w+\s+(\w+)\s+= "([^"]*)"`).FindAllStringSubmatch(string(b), -1) {
		g.enums[m[1]] = append(g.enums[m[1]], m[2])
	}
	return nil
}

func (g *generator) members(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read how models are written: %w", err)
	}
	function := regexp.MustCompile(`(?s)func \(\w+ \*(\w+)\) UnmarshalJSON\(.*?\n}`)
	member := regexp.MustCompile(`case "([^"]+)":\s*\n\s*err = \w+(?:\[[^\]]*\])?\([^&]*&\w+\.(\w+)`)
	for _, f := range function.FindAllStringSubmatch(string(b), -1) {
		names := map[string]string{}
		for _, m := range member.FindAllStringSubmatch(f[0], -1) {
			names[m[1]] = m[2]
		}
		g.names[f[1]] = names
	}
	return nil
}

// add writes a type and all that it is made of. A member that only the service sets is marked with an exclamation mark.
func (g *generator) add(name string, shapes map[string]map[string]string) {
	if shapes[name] != nil {
		return
	}
	shape := map[string]string{}
	shapes[name] = shape
	for member, field := range g.names[name] {
		kind := g.fields[name][field]
		prefix := kind[:len(kind)-len(strings.TrimLeft(kind, "[]{}"))]
		element := strings.TrimPrefix(kind, prefix)
		text := element
		switch {
		case scalars[element] != "":
			text = scalars[element]
		case g.enums[element] != nil:
			slices.Sort(g.enums[element])
			text = "=" + strings.Join(slices.Compact(g.enums[element]), "|")
		default:
			g.add(element, shapes)
		}
		shape[member] = prefix + text
		if g.readOnly[name+"."+field] {
			shape[member] = "!" + shape[member]
		}
	}
}

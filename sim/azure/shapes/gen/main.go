// Command gen reads the models of Azure's SDK and writes what bodies of requests may hold: for each type its members,
// and what each of them is. Requests are held against it as the service does, which refuses members that it does not know. It also writes
// the operations that the simulator serves as the SDK requests them, for test/specs.
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

// source is a module of the SDK, at a version where none is required, and the bodies and operations that are read from it.
type source struct {
	module, version string
	// out is the file of the shapes of the bodies, "" for none.
	out   string
	roots []string
	// service is the simulator's name of the service; types is true if test/specs holds the types of its bodies too.
	service    string
	types      bool
	operations []string
}

// sdk is where the modules are.
const sdk = "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/"

// specs is where the table of operations is written.
const specs = "../../../test/specs/azure.json"

var scalars = map[string]string{
	"string": "string", "bool": "bool", "int32": "int", "int64": "int", "float32": "number", "float64": "number", "any": "any",
	"time.Time": "string",
}

func main() {
	to := table{Operations: map[string]operation{}, Types: map[string]map[string]string{}}
	for _, s := range sources {
		if err := s.run(&to); err != nil {
			log.Fatal(err)
		}
	}
	if err := to.write(specs); err != nil {
		log.Fatal(err)
	}
}

// dir is where the module's sources are.
func (s source) dir() (string, error) {
	if s.version == "" {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", sdk+s.module).Output()
		return strings.TrimSpace(string(out)), err
	}
	download := exec.Command("go", "mod", "download", "-json", sdk+s.module+"@"+s.version)
	download.Dir = os.TempDir() // what is not required stays out of go.sum
	out, err := download.Output()
	if err != nil {
		return "", err
	}
	var at struct{ Dir string }
	return at.Dir, json.Unmarshal(out, &at)
}

func (s source) run(to *table) error {
	dir, err := s.dir()
	if err != nil {
		return fmt.Errorf("find %s: %w", s.module, err)
	}
	g := &generator{fields: map[string]map[string]string{}, readOnly: map[string]bool{}, required: map[string]bool{},
		enums: map[string][]string{}, names: map[string]map[string]string{}}
	if err := g.models(filepath.Join(dir, "models.go")); err != nil {
		return err
	}
	if err := g.constants(filepath.Join(dir, "constants.go")); err != nil {
		return err
	}
	if err := g.members(filepath.Join(dir, "models_serde.go")); err != nil {
		return err
	}
	if err := g.operations(s, dir, to); err != nil || s.out == "" {
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

// generator holds what the sources say: the fields of types, those that are read only or required, values of enumerations, and the
// names that members have in JSON.
type generator struct {
	fields   map[string]map[string]string
	readOnly map[string]bool
	required map[string]bool
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
				g.required[spec.Name.Name+"."+name.Name] = strings.HasPrefix(f.Doc.Text(), "REQUIRED")
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

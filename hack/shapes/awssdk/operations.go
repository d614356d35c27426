package awssdk

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

var (
	// validator is a function of the SDK that checks what a request has; its groups are its name and the type that it checks.
	validator   = regexp.MustCompile(`(?ms)^func validate\w+\(v \*(?:types\.)?(\w+)\) error \{.*?^\}`)
	missing     = regexp.MustCompile(`NewErrParamRequired\("(\w+)"\)`)
	apiVersion  = regexp.MustCompile(`body\.Key\("Version"\)\.String\("([\d-]+)"\)`)
	refusals    = regexp.MustCompile(`(?ms)^func aws\w+_deserializeOpError(\w+)\(.*?^}`)
	errorCode   = regexp.MustCompile(`EqualFold\("([\w.]+)", errorCode\)`)
	exception   = regexp.MustCompile(`"com\.amazonaws\.\w+#(\w+)": \{`)
	schemaRoute = regexp.MustCompile(`(?s)var (\w+) = smithy\.NewSchema\(smithy\.ShapeID\{[^}]*\}, smithy\.ShapeTypeOperation, 0,` +
		` &smithytraits\.HTTP\{[^}]*Code: (\d+)`)
	placed = regexp.MustCompile(`= (\w+)Request\.AddMember\("(\w+)", [^\n]*&smithytraits\.(HTTPLabel|HTTPQuery)\{(?:Name: "([^"]+)")?`)
)

// texts are those of an SDK module's files, empty for those that it does not have.
type texts struct{ validators, serializers, deserializers, schemas, registry string }

func readTexts(dir string) (t texts, err error) {
	for name, to := range map[string]*string{
		"validators.go": &t.validators, "serializers.go": &t.serializers, "deserializers.go": &t.deserializers,
		"schemas/schemas.go": &t.schemas, "type_registry.go": &t.registry,
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			return t, fmt.Errorf("read %s: %w", name, err)
		}
		*to = string(b)
	}
	return t, nil
}

// Read reads the folder of a module. The members of types have their names in requests.
func Read(folder string) (*shapes.Service, error) {
	m, err := readModel(folder)
	if err != nil {
		return nil, err
	}
	from, err := readTexts(folder)
	if err != nil {
		return nil, err
	}
	required := requiredIn(from.validators)
	if rest := xmlOperations(from, required); len(rest) > 0 {
		return &shapes.Service{Operations: rest}, nil
	}
	to := &shapes.Service{Operations: map[string]shapes.Operation{}, Types: shapes.Types{}, Errors: firstGroups(exception, from.registry)}
	elsewhere := map[string]bool{}
	m.addOperations(from, to, elsewhere)
	for name, fields := range m.structs {
		to.Types[name] = map[string]string{}
		for _, f := range fields {
			member := m.wireName(name, f.name)
			if member == "" || elsewhere[name+"."+member] {
				continue
			}
			mark := ""
			if slices.Contains(required[name], f.name) {
				mark = "*"
			}
			to.Types[name][member] = mark + m.kindOf(f.typ)
		}
	}
	return to, nil
}

// requiredIn returns the required fields of types.
func requiredIn(validators string) map[string][]string {
	out := map[string][]string{}
	for _, f := range validator.FindAllStringSubmatch(validators, -1) {
		out[f[1]] = firstGroups(missing, f[0])
	}
	return out
}

// addOperations adds the operations of a service whose bodies have members. elsewhere is set for those that are not in the body.
func (m *model) addOperations(from texts, to *shapes.Service, elsewhere map[string]bool) {
	version, errors := "", refusalsOf(from)
	if v := apiVersion.FindStringSubmatch(from.serializers); v != nil {
		version = v[1]
	}
	for input := range m.structs {
		name, is := strings.CutSuffix(input, "Input")
		if _, answered := m.structs[name+"Output"]; !is || !answered {
			continue
		}
		o := shapes.Operation{Version: version, Success: []int{200}, Errors: errors[name], Body: input}
		if m.rest() {
			o.Version, o.Answer = "", name+"Output"
			m.route(&o, name, from, elsewhere)
		}
		to.Operations[name] = o
	}
}

// refusalsOf returns the codes of the errors that operations declare.
func refusalsOf(from texts) map[string][]string {
	errors := map[string][]string{}
	for _, f := range refusals.FindAllStringSubmatch(from.deserializers, -1) {
		errors[f[1]] = firstGroups(errorCode, f[0])
	}
	return errors
}

// route sets what operations have that are told by method and path.
func (m *model) route(o *shapes.Operation, name string, from texts, elsewhere map[string]bool) {
	o.Method, o.Path, _ = strings.Cut(m.routes[name], " ")
	for _, r := range schemaRoute.FindAllStringSubmatch(from.schemas, -1) {
		if code, err := strconv.Atoi(r[2]); r[1] == name && err == nil {
			o.Success = []int{code}
		}
	}
	for _, p := range placed.FindAllStringSubmatch(from.schemas, -1) {
		if p[1] != name {
			continue
		}
		elsewhere[name+"Input."+p[2]] = true
		if p[3] == "HTTPQuery" {
			o.Query = append(o.Query, p[4])
		}
	}
}

// wireName returns the name of a field in requests, without what lists add to it, "" for a field that no request has.
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

// kinds are those of Go's scalars.
var kinds = map[string]string{"string": "string", "bool": "bool", "int32": "int", "int64": "int", "float32": "number", "float64": "number"}

// kindOf returns the kind of a field.
func (m *model) kindOf(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return m.kindOf(t.X)
	case *ast.ArrayType:
		if id, is := t.Elt.(*ast.Ident); is && id.Name == "byte" {
			return "string"
		}
		return "[]" + m.kindOf(t.Elt)
	case *ast.MapType:
		return "{}" + m.kindOf(t.Value)
	case *ast.SelectorExpr:
		if x, is := t.X.(*ast.Ident); is && x.Name == "time" {
			return m.kindNamed("time")
		}
		return m.kindNamed(t.Sel.Name)
	case *ast.Ident:
		return m.kindNamed(t.Name)
	}
	return "any"
}

// kindNamed returns the kind of a type that has a name.
func (m *model) kindNamed(name string) string {
	switch {
	case name == "time" && m.rest(): // seconds since 1970
		return "number"
	case name == "time", m.enums[name]:
		return "string"
	case kinds[name] != "":
		return kinds[name]
	case m.structs[name] != nil:
		return name
	}
	return "any"
}

func firstGroups(re *regexp.Regexp, text string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

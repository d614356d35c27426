package comments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sdk matches the packages with the types of requests and answers; its group names their service.
var sdk = regexp.MustCompile(`^(?:github\.com/aws/aws-sdk-go-v2/service|github\.com/Azure/azure-sdk-for-go/sdk/resourcemanager/\w+|` +
	`google\.golang\.org/api|github\.com/scaleway/scaleway-sdk-go/api)/(\w+)`)

// aks has the types of AKS, whose documents the driver writes and reads without them: it uses the fields whose names are texts in the
// code of the folder byName.
const (
	aks    = "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	byName = "cloud/azure/agentpool"
)

var aksTypes = []string{"ManagedClusterAgentPoolProfileProperties", "AgentPoolUpgradeSettings", "ManagedClusterProperties"}

// kapsule is the service whose driver writes custom documents and reads them into the SDK's types: all fields count as set.
const kapsule = "k8s"

// field is one of an SDK's types that drivers use.
type field struct {
	// comment is that of the field. set is true if a driver sets the field, not only reads it.
	comment string
	set     bool
}

// module holds a package as reported by go list.
type module struct {
	ImportPath, Export, Dir string
	GoFiles                 []string
}

// reader finds the fields that drivers use.
type reader struct {
	fset     *token.FileSet
	packages map[string]module
	imports  types.Importer
	// set has the fields in use, and whether they are set; owners the struct of a field, comments those of a file by "Type.Field".
	set      map[*types.Var]bool
	owners   map[*types.Var]string
	comments map[string]map[string]string
	// literals are the texts in the code of a package.
	literals map[string]map[string]bool
}

// read lists the packages of the drivers with what they import, and checks the types of their code.
func read(root, drivers string) (*reader, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./"+drivers+"/...", aks)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	r := &reader{fset: token.NewFileSet(), packages: map[string]module{}, set: map[*types.Var]bool{}, owners: map[*types.Var]string{},
		comments: map[string]map[string]string{}, literals: map[string]map[string]bool{}}
	r.imports = importer.ForCompiler(r.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(r.packages[path].Export) })
	var own []module
	for stream := json.NewDecoder(bytes.NewReader(out)); stream.More(); {
		var m module
		if err := stream.Decode(&m); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if r.packages[m.ImportPath] = m; strings.Contains(m.ImportPath+"/", "/"+drivers+"/") {
			own = append(own, m)
		}
	}
	for _, m := range own {
		if err := r.check(m); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// check adds the fields that a package uses, and its texts.
func (r *reader) check(m module) error {
	var files []*ast.File
	for _, name := range m.GoFiles {
		file, err := parser.ParseFile(r.fset, filepath.Join(m.Dir, name), nil, 0)
		if err != nil {
			return fmt.Errorf("parse the driver: %w", err)
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: r.imports}
	if _, err := config.Check(m.ImportPath, r.fset, files, info); err != nil {
		return fmt.Errorf("check the driver: %w", err)
	}
	written, texts := map[*ast.Ident]bool{}, map[string]bool{}
	for _, file := range files {
		inspect(file, written, texts)
	}
	r.literals[m.ImportPath] = texts
	for id, object := range info.Uses {
		if v := ofSDK(object); v != nil && !r.set[v] {
			r.set[v] = written[id]
		}
	}
	return nil
}

// ofSDK returns the field of an SDK's type, nil for any other object.
func ofSDK(object types.Object) *types.Var {
	v, is := object.(*types.Var)
	if !is || !v.IsField() || v.Pkg() == nil || !sdk.MatchString(v.Pkg().Path()) {
		return nil
	}
	return v.Origin()
}

// inspect adds the names that a file writes, and its texts.
func inspect(file *ast.File, written map[*ast.Ident]bool, texts map[string]bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING {
			texts[strings.Trim(text.Value, "\"`")] = true
		}
		for _, e := range targets(n) {
			if id := nameOf(e); id != nil {
				written[id] = true
			}
		}
		return true
	})
}

// targets returns the expressions that a node changes or lets be changed.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		return []ast.Expr{n.Key}
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

// nameOf returns the name of the variable or field at the end of an expression.
func nameOf(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return nameOf(e.X)
	}
	return nil
}

// fields returns the fields in use with their comments, by "service.Type.Field".
func (r *reader) fields() (map[string]field, error) {
	out := map[string]field{}
	for v, set := range r.set {
		if r.owners[v] == "" {
			r.own(v.Pkg())
		}
		service := sdk.FindStringSubmatch(v.Pkg().Path())[1]
		comments, err := r.commentsOf(v.Pkg().Path(), filepath.Base(r.fset.Position(v.Pos()).Filename))
		if err != nil {
			return nil, err
		}
		name := r.owners[v] + "." + v.Name()
		known := out[service+"."+name]
		out[service+"."+name] = field{comments[name], set || known.set || service == kapsule}
	}
	return out, nil
}

// named returns the fields of types of AKS that the driver names, with their comments, by "service.Type.Field".
func (r *reader) named() (map[string]field, error) {
	comments, err := r.commentsOf(aks, "models.go")
	if err != nil {
		return nil, err
	}
	texts := map[string]bool{}
	for path, in := range r.literals {
		if strings.Contains(path, byName) {
			for text := range in {
				texts[strings.ToLower(text)] = true
			}
		}
	}
	out := map[string]field{}
	for name, comment := range comments {
		owner, own, _ := strings.Cut(name, ".")
		if slices.Contains(aksTypes, owner) && texts[strings.ToLower(own)] {
			out["containerservice."+name] = field{comment, true}
		}
	}
	return out, nil
}

// own adds the structs of a package.
func (r *reader) own(p *types.Package) {
	for _, name := range p.Scope().Names() {
		if s, is := p.Scope().Lookup(name).Type().Underlying().(*types.Struct); is {
			for v := range s.Fields() {
				if r.owners[v] == "" {
					r.owners[v] = name
				}
			}
		}
	}
}

// commentsOf returns the comments of the fields in a file of a package.
func (r *reader) commentsOf(path, name string) (map[string]string, error) {
	path = filepath.Join(r.packages[path].Dir, name)
	if r.comments[path] != nil {
		return r.comments[path], nil
	}
	file, err := parser.ParseFile(r.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse the SDK: %w", err)
	}
	out := map[string]string{}
	r.comments[path] = out
	ast.Inspect(file, func(n ast.Node) bool {
		if named, is := n.(*ast.TypeSpec); is {
			addComments(named, out)
		}
		return true
	})
	return out, nil
}

// addComments adds the comments of a struct's fields.
func addComments(named *ast.TypeSpec, to map[string]string) {
	s, is := named.Type.(*ast.StructType)
	if !is {
		return
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			to[named.Name.Name+"."+name.Name] = f.Doc.Text() + f.Comment.Text()
		}
	}
}

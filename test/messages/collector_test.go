package messages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/muster-project/muster/"

// collector gathers the messages of all packages. Functions and constants have their folder in front of their name.
type collector struct {
	consts  map[string]string
	params  map[string][]string
	calls   map[string][]call
	entries map[entry]bool
}

// call is one call of a function, with the forms of its arguments, and the types of those that are conditions.
type call struct {
	folder, caller string
	args, types    []string
}

// sourceFile is one file of a package, with the folders or paths of its imports by the names that it gives them.
type sourceFile struct {
	folder  string
	syntax  *ast.File
	imports map[string]string
}

func newCollector() *collector {
	return &collector{consts: map[string]string{}, params: map[string][]string{}, calls: map[string][]call{}, entries: map[entry]bool{}}
}

// read gathers the messages of folders. Of the others it reads the constants.
func (c *collector) read(t *testing.T, folders, others []string) {
	t.Helper()
	var files []sourceFile
	for _, folder := range slices.Concat(folders, others) {
		files = append(files, parse(t, folder)...)
	}
	// A constant may be another one by a new name.
	for range 2 {
		for _, file := range files {
			c.fileScope(file).packageConstants()
		}
	}
	for _, file := range files {
		if slices.Contains(folders, file.folder) {
			ast.Inspect(file.syntax, c.fileScope(file).visit)
		}
	}
}

// parse returns the files of a folder, without its tests.
func parse(t *testing.T, folder string) []sourceFile {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []sourceFile
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		file := sourceFile{folder: folder, syntax: syntax, imports: map[string]string{}}
		for _, spec := range syntax.Imports {
			from, _ := strconv.Unquote(spec.Path.Value)
			as := path.Base(from)
			if spec.Name != nil {
				as = spec.Name.Name
			}
			file.imports[as] = strings.TrimPrefix(from, module)
		}
		files = append(files, file)
	}
	return files
}

// scope is a function of a file, or the file itself. Functions that a function assigns to a variable have a scope of their own.
type scope struct {
	*collector
	file  sourceFile
	outer *scope
	name  string
	vars  map[string]variable
}

// variable is a cause, a condition or an event in a variable, and its type if it is a condition.
type variable struct{ kind, typed string }

func (c *collector) fileScope(file sourceFile) *scope {
	return &scope{collector: c, file: file, name: file.folder, vars: map[string]variable{}}
}

func (s *scope) packageConstants() {
	for _, d := range s.file.syntax.Decls {
		if decl, ok := d.(*ast.GenDecl); ok {
			s.constants(decl)
		}
	}
}

// constants records the string constants of a declaration.
func (s *scope) constants(decl *ast.GenDecl) {
	if decl.Tok != token.CONST {
		return
	}
	for _, d := range decl.Specs {
		spec, ok := d.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for k, value := range spec.Values {
			if text := s.form(value); k < len(spec.Names) && isText(value) && text != unreadable {
				s.consts[s.name+"."+spec.Names[k].Name] = text
			}
		}
	}
}

// isText reports whether the value of a constant can be a text: a string, or a constant of another package.
func isText(value ast.Expr) bool {
	switch x := value.(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.SelectorExpr:
		return true
	}
	return false
}

// visit records the causes, conditions and events that the source makes, and the calls of functions.
func (s *scope) visit(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.FuncDecl:
		s.function(s.file.folder+"."+x.Name.Name, x.Type, x.Body)
		return false
	case *ast.GenDecl:
		s.constants(x)
	case *ast.AssignStmt:
		if closure, ok := x.Rhs[0].(*ast.FuncLit); ok && len(x.Rhs) == 1 {
			s.function(s.name+"."+nameOf(x.Lhs[0]), closure.Type, closure.Body)
			return false
		}
	case *ast.BlockStmt:
		s.assignments(x.List)
	case *ast.CaseClause:
		s.assignments(x.Body)
	case *ast.IfStmt:
		s.assignments([]ast.Stmt{x.Init})
	case *ast.CompositeLit:
		s.literal(x)
	case *ast.CallExpr:
		s.event(x)
		s.call(x)
	}
	return true
}

// function reads a function in a new scope.
func (s *scope) function(name string, typed *ast.FuncType, body *ast.BlockStmt) {
	if body == nil {
		return
	}
	inner := &scope{collector: s.collector, file: s.file, outer: s, name: name, vars: map[string]variable{}}
	params := []string{}
	for _, field := range typed.Params.List {
		for _, param := range field.Names {
			params = append(params, param.Name)
			inner.vars[param.Name] = variable{nameOf(field.Type), "<$" + param.Name + ".Type>"}
		}
	}
	s.params[name] = params
	ast.Inspect(body, inner.visit)
}

// call records a call of a function of the module.
func (s *scope) call(x *ast.CallExpr) {
	callee := s.callee(x.Fun)
	if callee == "" {
		return
	}
	made := call{folder: s.file.folder, caller: s.name}
	for _, arg := range x.Args {
		made.args = append(made.args, s.form(arg))
		made.types = append(made.types, s.vars[nameOf(arg)].typed)
	}
	s.calls[callee] = append(s.calls[callee], made)
}

// callee returns the name of a function with its folder. A method is taken for one of the caller's package.
func (s *scope) callee(fun ast.Expr) string {
	switch x := fun.(type) {
	case *ast.Ident:
		for at := s; at.outer != nil; at = at.outer {
			if _, closure := s.params[at.name+"."+x.Name]; closure {
				return at.name + "." + x.Name
			}
		}
		return s.file.folder + "." + x.Name
	case *ast.SelectorExpr:
		if from := s.imported(x); from != "" {
			return from + "." + x.Sel.Name
		}
		return s.file.folder + "." + x.Sel.Name
	}
	return ""
}

// imported returns the folder or path of the package that a selector names, or "".
func (s *scope) imported(x *ast.SelectorExpr) string {
	name, ok := x.X.(*ast.Ident)
	if !ok || s.isParam(name.Name) {
		return ""
	}
	return s.file.imports[name.Name]
}

// isParam reports whether a name is a parameter of the function, or of one around it.
func (s *scope) isParam(name string) bool {
	for at := s; at != nil; at = at.outer {
		if slices.Contains(s.params[at.name], name) {
			return true
		}
	}
	return false
}

// nameOf returns the name of a type, a field or a function without its package, or "".
func nameOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.StarExpr:
		return nameOf(x.X)
	}
	return ""
}

// unreadable is the form of an expression that is no text, name or call.
const unreadable = "<...>"

// form returns the text of an expression as far as the source has it, with <name> for the rest. The name of a parameter has a $ in front,
// that of a constant of another module a #.
func (s *scope) form(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil {
			return text
		}
	case *ast.Ident:
		return s.formOfName(x.Name)
	case *ast.SelectorExpr:
		from := s.imported(x)
		if text, ok := s.consts[from+"."+x.Sel.Name]; ok {
			return text
		}
		if from != "" {
			return "<#" + x.Sel.Name + ">"
		}
		return "<" + x.Sel.Name + ">"
	case *ast.BinaryExpr:
		return s.form(x.X) + s.form(x.Y)
	case *ast.CallExpr:
		return s.formOfCall(x)
	}
	return unreadable
}

func (s *scope) formOfName(name string) string {
	if s.isParam(name) {
		return "<$" + name + ">"
	}
	for at := s; at != nil; at = at.outer {
		if text, ok := s.consts[at.name+"."+name]; ok {
			return text
		}
	}
	return "<" + name + ">"
}

// formOfCall returns the form of a text that a function puts together.
func (s *scope) formOfCall(x *ast.CallExpr) string {
	switch name := nameOf(x.Fun); {
	case name == "Sprintf":
		return s.form(x.Args[0])
	case name == "Or" && len(x.Args) == 2:
		return s.form(x.Args[0]) + "/" + s.form(x.Args[1])
	case name == "and" && len(x.Args) == 2:
		return s.form(x.Args[0]) + "; " + s.form(x.Args[1])
	case name == "":
		return unreadable
	default:
		return "<" + name + ">"
	}
}
